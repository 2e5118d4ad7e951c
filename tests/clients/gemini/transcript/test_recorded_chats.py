"""Chats that Gemini CLI 0.61 wrote, with a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import pytest

from holdfast import clients
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    Rewound,
    Searched,
    SessionSeen,
    SubagentEnded,
    SubagentStarted,
    SummaryGiven,
    Todo,
    TodosSet,
    UsageMeasured,
    UserSaid,
)
from holdfast.session.follow import follow_transcript
from holdfast.session.replay import scan_boundaries

RECORDED = Path(__file__).parent / "recorded"
PROMPT = "Build a shop on port 8123. Never use float for money, always use Decimal with two places."
GEMINI = clients.get("gemini")
E = TypeVar("E")


def read(name: str) -> list[Event]:
    adapter = GEMINI.adapter()
    with GEMINI.open_transcript(str(RECORDED / name)) as source:
        events = [event for row in source.rows() for event in adapter.events(row)]
    assert adapter.unknown_rows == 0
    return events


def only(kind: type[E], events: list[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_chat_is_known_by_its_content(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "anything.jsonl"
    copy.write_bytes(path.read_bytes())
    assert clients.of_file(str(copy)) is GEMINI


def test_words_are_told_once_though_a_resume_and_a_compression_state_them_again() -> None:
    events = read("compressed.jsonl")
    said = [one.text for one in only(UserSaid, events)]
    assert said == [PROMPT, "Now the receipt.", "And on."]
    assert [one.text for one in only(AgentSaid, events)] == [
        "I decided: the orders go into SQLite because the shop runs on a single machine.",
        "The open order for the receipt is ORD-7F3K2Q.",
        "First the receipt.",
        "Understood.",
        "Understood.",
    ]


def test_commands_have_their_exit_codes_and_nothing_of_hooks() -> None:
    ran = only(CommandRan, read("compressed.jsonl"))
    assert [(one.command, one.ok, one.code) for one in ran] == [
        ("./release.sh --blue-green", False, 4),
        ("./pytest -q", False, 1),
        ("echo receipt", True, 0),
    ]
    assert ran[0].output == "error: blue-green needs the paid plan"
    assert ran[2].output == "receipt"


def test_files_searches_and_todos() -> None:
    events = read("compressed.jsonl")
    touched = only(FileTouched, events)
    assert [(one.path, one.action) for one in touched] == [
        ("/shop/cart_totals.py", "created"),
        ("/shop/cart_totals.py", "changed"),
        ("cart_totals.py", "read"),
    ]
    assert (touched[1].before, touched[1].text) == ("8123", "8124")
    assert touched[1].hunks[0].lines == ("-PORT = 8123", "+PORT = 8124")
    assert [one.pattern for one in only(Searched, events)] == ["PORT"]
    (todos,) = only(TodosSet, events)
    assert todos.todos == (Todo("Wire the cart to checkout", "in_progress"),)


def test_a_compression_is_told_once_with_its_summary() -> None:
    events = read("compressed.jsonl")
    (compacted,) = only(Compacted, events)
    assert compacted.tokens_before == 70_000
    (summary,) = only(SummaryGiven, events)
    assert summary.text == "Working on the shop; the rest is next."
    # The resume after it states the same list again: one compression, by its id.
    (boundary,) = scan_boundaries(str(RECORDED / "compressed.jsonl"))
    assert (boundary.start, boundary.row) == (compacted.at.start, compacted.at.row)
    (seen,) = only(SessionSeen, events)
    assert (seen.cwd, seen.client) == ("/shop", "gemini")


def test_usage_is_told_once_per_answer() -> None:
    contexts = [one.context for one in only(UsageMeasured, read("compressed.jsonl"))]
    assert contexts == [9_000] * 8 + [70_000] * 2 + [9_000]


def test_a_subagent_is_told_by_its_parent_and_its_own_words_are_not_the_users() -> None:
    parent = read("parent.jsonl")
    (began,) = only(SubagentStarted, parent)
    (ended,) = only(SubagentEnded, parent)
    assert (began.role, began.prompt) == ("generalist", "Look at the limiter.")
    assert began.agent == ended.agent
    assert "The limiter is fine." in ended.result
    own = read("subagent.jsonl")
    assert [event for event in own if isinstance(event, UserSaid | AgentSaid)] == []
    assert [(one.command, one.at.agent) for one in only(CommandRan, own)] == [
        ("echo within", began.agent)
    ]


def test_a_rewind_takes_back_the_prompt_and_what_followed() -> None:
    events = read("rewound.jsonl")
    (rewound,) = only(Rewound, events)
    first, second, third = only(UserSaid, events)
    assert rewound.start == second.at.start
    assert (first.text, third.text) == ("Build the parser.", "Keep everything.")
    followed = follow_transcript(str(RECORDED / "rewound.jsonl"), client=GEMINI)
    asked = [request.text for request in followed.state.requests.values()]
    assert asked == ["Build the parser.", "Keep everything."]


def test_a_rewind_to_the_start_takes_back_everything(tmp_path: Path) -> None:
    rows = (RECORDED / "rewound.jsonl").read_text().splitlines(keepends=True)
    context = json.loads(rows[1])["$set"]["messages"][0]["id"]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join([*rows, json.dumps({"$rewindTo": context}) + "\n"]))
    followed = follow_transcript(str(path), client=GEMINI)
    assert list(followed.state.requests.values()) == []
    assert followed.state.session.cwd == "/shop"
