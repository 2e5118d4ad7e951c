"""What comes with a prompt by itself: what it speaks of and the agent no longer has, once."""

import json
from pathlib import Path

import pytest

from holdfast.fastpath.session_dir import INDEX_FILE
from holdfast.session.cues import Passage, encode_index
from support.hook_process import Caller

STORY = [
    Passage("user", "The staging database listens on port 5433, not the usual one.", "11-16 08:00"),
    Passage("agent", "I will read the migration files first.", "11-16 08:01"),
    Passage("failed", "$ alembic upgrade head\nno such host db1", "11-16 08:02"),
]
ASKED = "Which port does the staging database listen on?"


@pytest.fixture
def indexed(caller: Caller) -> Caller:
    index = encode_index(STORY, built="1:all")
    caller.session_dir.write(INDEX_FILE, index)
    return caller


def test_a_prompt_brings_what_it_speaks_of_once(indexed: Caller) -> None:
    first = indexed.call("UserPromptSubmit", prompt=ASKED).context
    assert first.startswith("Holdfast: from earlier in this session, quoted; what is newer counts.")
    assert "- user, 11-16 08:00: The staging database listens on port 5433" in first
    assert len(first) <= 1_000
    assert indexed.call("UserPromptSubmit", prompt=ASKED).out == ""
    spool = Path(indexed.session_dir.path, "spool").read_text().splitlines()
    (noted,) = [json.loads(line) for line in spool if '"recall:' in line]
    assert (noted["epoch"], noted["text"]) == (1, first)


def test_nothing_comes_where_nothing_fits(indexed: Caller) -> None:
    assert indexed.call("UserPromptSubmit", prompt="Paint the bicycle green, please.").out == ""


@pytest.mark.parametrize(
    "fields",
    [{"prompt": f"/compact {ASKED}"}, {"prompt": ASKED, "agent_id": "a1"},
     {"prompt": ASKED, "source": "loop_wakeup"}],
)  # fmt: skip
def test_commands_subagents_and_the_clients_own_prompts_bring_nothing(
    indexed: Caller, fields: dict[str, str]
) -> None:
    assert indexed.call("UserPromptSubmit", **fields).out == ""


def test_what_a_killed_hook_was_about_to_say_comes_with_the_next_prompt(indexed: Caller) -> None:
    indexed.kill_while_printing("UserPromptSubmit", prompt=ASKED)
    assert "port 5433" in indexed.call("UserPromptSubmit", prompt=ASKED).context


WORK = [
    Passage("user", "Keep src/export/legacy.py as it is, the bank reads it.", "11-16 08:00"),
    Passage("failed", "$ make db\npsycopg2.OperationalError: no such host db1", "11-16 08:01",
            "the same command worked at 11-16 08:09 after edits of db.env"),
    Passage("failed", "$ alembic upgrade head\nKeyError: 'env'", "11-16 08:02"),
    Passage("ran", "$ alembic -x env=staging upgrade head\nRunning upgrade 41", "11-16 08:03"),
    Passage("ran", "$ ls src\nexport", "11-16 08:04"),
]  # fmt: skip


@pytest.fixture
def worked(caller: Caller) -> Caller:
    caller.session_dir.write(INDEX_FILE, encode_index(WORK, built="1:all"))
    return caller


def call(tool: str, **given: str) -> dict[str, object]:
    return {"tool_name": tool, "tool_input": given}


def test_before_a_command_comes_how_it_failed_and_the_form_that_worked(worked: Caller) -> None:
    again = call("Bash", command="alembic upgrade head")
    said = worked.call("PreToolUse", **again).context
    assert "KeyError: 'env'" in said
    assert "alembic -x env=staging upgrade head" in said
    assert len(said) <= 500
    assert worked.call("PreToolUse", **again).out == ""


def test_before_a_search_comes_what_is_known_of_the_name(caller: Caller) -> None:
    known = [Passage("agent", f"Job{n} sends mail to team {n}.", "11-16 08:00") for n in range(40)]
    found = Passage("agent", "The parser drops TaxTable when ParseRates runs twice.", "11-16 08:01")
    caller.session_dir.write(INDEX_FILE, encode_index([*known, found], built="1:all"))
    search = call("Grep", pattern="TaxTable|ParseRates", path="src")
    said = caller.call("PreToolUse", **search).context
    assert "drops TaxTable when ParseRates runs twice" in said
    assert caller.call("PreToolUse", **call("Grep", pattern="mail", path="src")).out == ""


@pytest.mark.parametrize("command", ["ls src", "make db", "git status"])
def test_a_command_that_worked_last_or_never_ran_brings_nothing(
    worked: Caller, command: str
) -> None:
    assert worked.call("PreToolUse", **call("Bash", command=command)).out == ""


def test_before_an_edit_comes_what_the_user_said_of_the_file(worked: Caller) -> None:
    edit = call("Edit", file_path=str(worked.root / "src/export/legacy.py"))
    assert "the bank reads it" in worked.call("PreToolUse", **edit).context
    other = call("Edit", file_path=str(worked.root / "src/export/modern.py"))
    assert worked.call("PreToolUse", **other).out == ""


def test_after_a_failure_comes_what_ended_the_same_error(worked: Caller) -> None:
    failed = {**call("Bash", command="make db2"), "error": "Exit code 1\n"
              "psycopg2.OperationalError: no such host db2"}  # fmt: skip
    said = worked.call("PostToolUseFailure", **failed).context
    assert "the same command worked at 11-16 08:09 after edits of db.env" in said
    other = failed | {"error": "Exit code 1\nSyntaxError: invalid syntax"}
    assert worked.call("PostToolUseFailure", **other).out == ""


def test_where_only_prompts_were_chosen_a_call_brings_nothing(caller: Caller) -> None:
    caller.session_dir.write(INDEX_FILE, encode_index(WORK, built="1:prompts"))
    assert caller.call("PreToolUse", **call("Bash", command="alembic upgrade head")).out == ""


def test_calls_bring_something_a_few_times_between_two_compactions(caller: Caller) -> None:
    many = [Passage("failed", f"$ run job{n}\nno such job{n}") for n in range(12)]
    caller.session_dir.write(INDEX_FILE, encode_index(many, built="1:all"))
    said = [caller.call("PreToolUse", **call("Bash", command=f"run job{n}")) for n in range(10)]
    assert [bool(one.out) for one in said] == [True] * 8 + [False] * 2


def test_a_damaged_index_costs_nothing(indexed: Caller) -> None:
    indexed.session_dir.write(INDEX_FILE, b"\xff" * 400)
    ran = indexed.call("UserPromptSubmit", prompt=ASKED)
    assert (ran.code, ran.out) == (0, "")
