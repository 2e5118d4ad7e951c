"""Before a tool runs: the user's own sentence where a rule speaks against the call, once."""

import json
from pathlib import Path

import pytest

from holdfast.fastpath.guards import Guard
from holdfast.fastpath.session_dir import GUARDS_FILE
from support.hook_process import Caller

SENTENCE = "Never edit files below db/legacy."
LEGACY = Guard("leave", "db/legacy", "r1", SENTENCE)
PUSH = Guard("run", "git+push", "r2", "Never push.")
EDIT = {"tool_name": "Edit", "tool_input": {"file_path": "/shop/db/legacy/a.sql"}}


def guard(caller: Caller, mode: str = "remind", *guards: Guard) -> None:
    lines = [f"{mode} 0 0123", *(one.encode() for one in guards or (LEGACY, PUSH))]
    caller.session_dir.write(GUARDS_FILE, "\n".join(lines).encode())


def run(command: str) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


def test_a_call_against_a_rule_is_answered_with_the_users_sentence_once(caller: Caller) -> None:
    guard(caller)
    said = caller.call("PreToolUse", **EDIT).context
    assert said == (
        f'Holdfast: the user said [r1]: "{SENTENCE}" This call edits /shop/db/legacy/a.sql.'
    )
    assert caller.call("PreToolUse", **EDIT).out == ""
    assert '[r2]: "Never push."' in caller.call("PreToolUse", **run("cd x && git push")).context
    spool = Path(caller.session_dir.path, "spool").read_text().splitlines()
    assert [(one["what"], one["facts"]) for one in map(json.loads, spool)] == [
        ("guard:r1", "r1"),
        ("guard:r2", "r2"),
    ]


@pytest.mark.parametrize(
    "call", [run("git status"), {"tool_name": "Read", "tool_input": {"file_path": "db/legacy/a"}}]
)
def test_a_call_that_breaks_nothing_is_let_pass_in_silence(
    caller: Caller, call: dict[str, object]
) -> None:
    guard(caller)
    assert caller.call("PreToolUse", **call).out == ""


def test_a_subagent_is_reminded_for_itself(caller: Caller) -> None:
    guard(caller)
    assert SENTENCE in caller.call("PreToolUse", agent_id="a1", **EDIT).context
    assert caller.call("PreToolUse", agent_id="a1", **EDIT).out == ""
    assert SENTENCE in caller.call("PreToolUse", **EDIT).context


def test_where_the_user_chose_it_the_client_asks_every_time(caller: Caller) -> None:
    guard(caller, "ask")
    for _ in range(2):
        asked = caller.call("PreToolUse", **EDIT).specific
        assert asked["permissionDecision"] == "ask"
        assert SENTENCE in asked["permissionDecisionReason"]
    assert caller.call("PreToolUse", **run("ls")).out == ""


def test_a_rule_that_the_last_prompt_may_have_lifted_is_read_again_first(caller: Caller) -> None:
    caller.begin()
    guard(caller)
    caller.call("UserPromptSubmit", prompt="You may edit db/legacy now.")
    # The recorded session knows no such rule.
    assert caller.call("PreToolUse", **EDIT).out == ""
    assert not any("legacy" in line for line in caller.log().splitlines())


def test_a_damaged_list_of_rules_costs_nothing(caller: Caller) -> None:
    caller.session_dir.write(GUARDS_FILE, b"\xff\x00\t\t\n" * 40)
    ran = caller.call("PreToolUse", **EDIT)
    assert (ran.code, ran.out) == (0, "")
