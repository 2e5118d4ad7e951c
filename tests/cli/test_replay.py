"""`holdfast session replay`: the brief at a moment of the past, and the moments to pick from."""

import json
from pathlib import Path

import pytest

from holdfast.samples import SESSION_FILE

from .conftest import Call


def test_the_brief_is_made_from_what_was_known_then(holdfast: Call) -> None:
    early = holdfast("session", "replay", SESSION_FILE, "--at", "70").out
    assert "#2 Expose the discount in GET /cart" in early
    assert "8123" not in early
    assert "Round half up" in early
    late = holdfast("session", "replay", SESSION_FILE, "--at", "110").out
    assert "8123" in late


@pytest.mark.parametrize("at", ["131", "edb5caff", "edb5caff-7499-4b84-936b-4d3f648a90a2"])
def test_at_a_compaction_it_is_what_was_known_right_before(holdfast: Call, at: str) -> None:
    size = ("--max-chars", "1000")
    (line,) = holdfast("brief", SESSION_FILE, "--compactions", *size, "--json").out.splitlines()
    made = json.loads(holdfast("session", "replay", SESSION_FILE, "--at", at, *size, "--json").out)
    assert made["text"] == json.loads(line)["text"]
    assert (made["line"], made["row"][:8]) == (131, "edb5caff")


def test_without_a_moment_it_is_the_present(holdfast: Call) -> None:
    for role in ("main", "validator"):
        now = holdfast("brief", SESSION_FILE, "--role", role).out
        assert holdfast("session", "replay", SESSION_FILE, "--role", role).out == now


def test_the_list_has_prompts_tasks_checks_and_compactions(holdfast: Call) -> None:
    moments = json.loads(holdfast("session", "replay", SESSION_FILE, "--list", "--json").out)
    assert {moment["kind"] for moment in moments} == {"prompt", "task", "check", "compaction"}
    assert [moment["line"] for moment in moments] == sorted(moment["line"] for moment in moments)
    told = [(moment["line"], moment["kind"], moment["text"]) for moment in moments]
    assert (91, "task", "#1 completed") in told
    assert (131, "compaction", "auto, 172,309 tokens") in told
    assert sum(text == "#1 completed" for _, _, text in told) == 1
    verdicts = [text for _, kind, text in told if kind == "check"]
    assert verdicts[0].endswith("failed (1 failed, 1 passed in 0.25s)")


def test_every_moment_on_the_list_can_be_picked_by_line_and_by_row(holdfast: Call) -> None:
    moments = json.loads(holdfast("session", "replay", SESSION_FILE, "--list", "--json").out)
    for moment in moments[::4]:
        by_line = holdfast("session", "replay", SESSION_FILE, "--at", str(moment["line"]))
        by_row = holdfast("session", "replay", SESSION_FILE, "--at", moment["row"])
        assert by_line.code == by_row.code == 0
        assert by_line.out == by_row.out


def test_the_list_for_people_says_how_to_go_on(holdfast: Call) -> None:
    ended = holdfast("session", "replay", SESSION_FILE, "--list")
    assert ended.code == 0
    assert "compaction" in ended.out
    assert "--at LINE" in ended.out


def test_secrets_in_a_prompt_do_not_reach_the_list(holdfast: Call, tmp_path: Path) -> None:
    key = "sk-ant-" + "api03-" + "Ab3dEf6hIj9kLm2n" * 5
    rows = Path(SESSION_FILE).read_text()
    file = tmp_path / "s.jsonl"
    file.write_text(rows.replace("Go on, make the server", f"Use {key} and make the server"))
    listed = holdfast("session", "replay", str(file), "--list", "--json").out
    assert "make the server" in listed
    assert key not in listed


@pytest.mark.parametrize("at", ["9999", "ffffffff-0000", "c", "14x"])
def test_a_row_that_is_not_there_or_not_one_is_trouble(holdfast: Call, at: str) -> None:
    ended = holdfast("session", "replay", SESSION_FILE, "--at", at)
    assert ended.code == 1
    assert "--list" in ended.err


def test_bad_lines_count_as_lines(holdfast: Call, tmp_path: Path) -> None:
    lines = Path(SESSION_FILE).read_text().splitlines(keepends=True)
    file = tmp_path / "s.jsonl"
    file.write_text("".join([*lines[:10], "no json\n", "\n", *lines[10:]]))
    made = json.loads(holdfast("session", "replay", str(file), "--at", "133", "--json").out)
    assert made["row"].startswith("edb5caff")


def test_a_list_of_nothing_says_so(holdfast: Call, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(b"")
    ended = holdfast("session", "replay", str(tmp_path / "s.jsonl"), "--list")
    assert (ended.code, ended.out) == (0, "")
    assert "no points of interest" in ended.err
