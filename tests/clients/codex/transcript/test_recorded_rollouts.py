"""Rollouts that Codex 0.166 wrote, with a scripted model; its long instructions are cut."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import RunningModel
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    SubagentEnded,
    SubagentStarted,
    SummaryGiven,
    TodosSet,
    UsageMeasured,
    UserSaid,
)

RECORDED = Path(__file__).parent / "recorded"
SUMMARY = (
    "SUMMARY-BY-MODEL: working on rate limiting; the bucket is written, the middleware is next."
)
PROMPT = "Port 8137 must stay the dev port. Never edit db/legacy."
CODEX = clients.get("codex")
E = TypeVar("E")


def read(name: str) -> list[Event]:
    adapter = CODEX.adapter()
    with CODEX.open_transcript(str(RECORDED / name)) as source:
        events = [event for row in source.rows() for event in adapter.events(row)]
    assert adapter.unknown_rows == 0
    return events


def only(kind: type[E], events: list[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_rollout_is_known_by_its_content(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "anything.jsonl"
    copy.write_bytes(path.read_bytes())
    assert clients.of_file(str(copy)) is CODEX


def test_words_are_told_once_and_the_summariser_is_not_the_agent() -> None:
    events = read("automatic.jsonl")
    assert [said.text for said in only(UserSaid, events)] == [PROMPT, "go on"]
    assert [said.text for said in only(AgentSaid, events)] == [
        "Step one.",
        "Step two.",
        "Step three after compaction.",
        "Finished.",
        "Understood.",
    ]


def test_commands_have_their_exit_codes() -> None:
    ran = only(CommandRan, read("automatic.jsonl"))
    assert [(one.ok, one.code) for one in ran] == [(True, 0), (False, 1), (True, 0)]
    assert ran[2].command == "echo three"
    assert ran[2].output == "three\n"


def test_a_readable_summary_is_told_without_its_frame() -> None:
    events = read("automatic.jsonl")
    assert len(only(Compacted, events)) == 1
    assert [given.text for given in only(SummaryGiven, events)] == [SUMMARY]


def test_an_encrypted_summary_is_a_compaction_without_one() -> None:
    events = read("encrypted.jsonl")
    assert len(only(Compacted, events)) == 1
    assert only(SummaryGiven, events) == []


@pytest.mark.parametrize(("name", "summary"), [("automatic", SUMMARY), ("encrypted", "")])
def test_what_a_compaction_left_is_read_from_its_row(name: str, summary: str) -> None:
    left = CODEX.row_probe.last_compaction(str(RECORDED / f"{name}.jsonl"))
    assert left is not None
    assert left.summary == summary
    assert left.kept == (PROMPT,)


def test_usage_comes_with_the_window_of_the_client() -> None:
    measured = only(UsageMeasured, read("encrypted.jsonl"))
    assert {one.window for one in measured} == {258_400}
    assert [one.context for one in measured[:3]] == [9722, 11452, 6696]
    point = CODEX.context_window.compaction_point(
        CODEX.context_window.read_window_config({}, ""), RunningModel("gpt-5.5", 258_400)
    )
    assert (point.tokens, point.is_certain) == (244_800, True)


def test_patches_are_changes_of_files_and_one_that_did_not_fit_is_none() -> None:
    touched = only(FileTouched, read("patches.jsonl"))
    assert [(one.action, one.ok) for one in touched] == [
        ("created", True),
        ("changed", True),
        ("changed", False),
    ]
    assert (touched[1].before, touched[1].text) == ("x = 1", "x = 2")
    assert "Failed to find expected lines" in touched[2].error


def test_a_plan_is_a_list_of_todos() -> None:
    (plan,) = only(TodosSet, read("patches.jsonl"))
    assert [(todo.content, todo.status) for todo in plan.todos] == [
        ("Write the bucket", "completed"),
        ("Wire the middleware", "in_progress"),
    ]


def test_a_subagent_begins_and_ends_and_its_own_rollout_tells_no_words() -> None:
    events = read("parent.jsonl")
    (started,), (ended,) = only(SubagentStarted, events), only(SubagentEnded, events)
    assert started.role == "explorer"
    assert started.prompt == "Look at the limiter and report."
    assert started.agent == ended.agent
    assert [said.text for said in only(UserSaid, events)] == [PROMPT, "go on"]
    assert read("subagent.jsonl") == []
