"""How rows hang together: repeats, rewinds, epochs, titles, places (rows by hand)."""

from typing import Any

import pytest

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    LinkSeen,
    Rewound,
    SessionSeen,
    TitleSet,
    UsageMeasured,
    UserSaid,
)

from .handwritten_rows import Transcript, bare, events_in_pieces, only


def test_the_adapter_is_what_the_protocol_says() -> None:
    adapter = ClaudeCodeAdapter()
    assert adapter.parser_state()["format"] == ClaudeCodeAdapter.STATE.FORMAT_VERSION


def test_a_row_written_twice_counts_once() -> None:
    transcript = Transcript()
    transcript.prompt("go", uuid="00000000-0000-4000-8000-000000000001")
    transcript.prompt("go", uuid="00000000-0000-4000-8000-000000000001")
    assert len(only(UserSaid, transcript.events())) == 1


def test_a_prompt_beside_an_earlier_one_abandons_it_and_what_followed() -> None:
    transcript = Transcript()
    transcript.prompt("first")
    answer = transcript.says("One.")
    transcript.prompt("second")
    abandoned = transcript.rows[-1].start
    transcript.calls("Bash", call="lost", command="rm -r build")
    transcript.prompt("second, said better", parentUuid=answer)
    transcript.result("late", call="lost")
    events = transcript.events()
    (rewound,) = only(Rewound, events)
    assert rewound.start == abandoned
    assert rewound.at.start == transcript.rows[4].start
    assert only(CommandRan, events) == []  # the abandoned call is forgotten
    assert events_in_pieces(transcript.rows, 1) == events


def test_a_rewind_may_go_back_several_turns_and_happen_twice() -> None:
    transcript = Transcript()
    transcript.prompt("first")
    answer = transcript.says("One.")
    transcript.prompt("second")
    second = transcript.rows[-1].start
    middle = transcript.says("Two.")
    transcript.prompt("third")
    third = transcript.rows[-1].start
    transcript.says("Three.")
    transcript.prompt("third again", parentUuid=middle)
    transcript.says("Three again.")
    transcript.prompt("second again", parentUuid=answer)
    assert [r.start for r in only(Rewound, transcript.events())] == [third, second]


def test_a_rewind_to_type_a_command_is_one_rewind() -> None:
    transcript = Transcript()
    transcript.prompt("first")
    answer = transcript.says("One.")
    transcript.prompt("second")
    second = transcript.rows[-1].start
    transcript.says("Two.")
    transcript.prompt(
        "<local-command-caveat>x</local-command-caveat>", isMeta=True, parentUuid=answer
    )
    transcript.prompt("<command-name>/model</command-name>")
    transcript.prompt("go on")
    assert [r.start for r in only(Rewound, transcript.events())] == [second]


def test_parallel_calls_and_prompts_in_a_row_are_no_rewinds() -> None:
    transcript = Transcript()
    transcript.prompt("go")
    one = transcript.calls("Bash", call="a", command="ls")
    two = transcript.calls("Bash", call="b", command="pwd")
    transcript.result("x", call="b", parentUuid=two)
    transcript.result("y", call="a", parentUuid=one)
    transcript.prompt([{"type": "text", "text": "[Request interrupted by user]"}])
    transcript.prompt("stop")
    transcript.prompt("I said stop")
    assert only(Rewound, transcript.events()) == []
    assert len(only(CommandRan, transcript.events())) == 2


def boundary(transcript: Transcript, **details: Any) -> None:
    metadata = {"trigger": "auto", "preTokens": 167000, **details}
    transcript.add(
        type="system", subtype="compact_boundary", parentUuid=None, compactMetadata=metadata
    )


def test_rows_before_the_boundary_are_no_way_back_unless_kept() -> None:
    transcript = Transcript()
    transcript.prompt("first")
    old = transcript.says("One.")
    kept = transcript.says("Two.")
    boundary(transcript, preservedMessages={"uuids": [kept]})
    transcript.prompt("This session is being continued", isCompactSummary=True)
    transcript.prompt("second", parentUuid=kept)
    second = transcript.rows[-1].start
    transcript.says("Three.")
    transcript.prompt("second again", parentUuid=kept)
    transcript.prompt("odd", parentUuid=old)
    assert [r.start for r in only(Rewound, transcript.events())] == [second]


@pytest.mark.parametrize(
    ("details", "kept"),
    [
        ({"preservedMessages": {"uuids": ["a", "b"], "allUuids": ["a", "b", "c"]}}, ("a", "b")),
        ({"preservedSegment": {"headUuid": "a", "anchorUuid": "x", "tailUuid": "b"}}, ("a", "b")),
        ({"preservedSegment": {"headUuid": "a", "tailUuid": "a"}}, ("a",)),
        ({}, ()),
    ],
)
def test_a_boundary_names_the_rows_that_stayed(details: Any, kept: tuple[str, ...]) -> None:
    transcript = Transcript()
    boundary(transcript, **details)
    assert bare(transcript.events()) == [("auto", 167000, None, kept)]
    assert only(Compacted, transcript.events())


def test_clearing_old_tool_results_is_no_compaction() -> None:
    transcript = Transcript()
    transcript.add(type="system", subtype="microcompact_boundary", microcompactMetadata={})
    assert transcript.events() == []


def usage(**tokens: int) -> dict[str, Any]:
    return {"input_tokens": 3, "cache_creation_input_tokens": 100, **tokens}


def answer(transcript: Transcript, message_id: str, model: str = "m", **more: Any) -> None:
    tokens = more.pop("usage", usage(cache_read_input_tokens=5000, output_tokens=7))
    message = {"id": message_id, "model": model, "content": [], "usage": tokens}
    transcript.add(type="assistant", message=message, **more)


def test_usage_counts_cached_tokens_and_is_told_when_it_changes() -> None:
    transcript = Transcript()
    answer(transcript, "m1")
    answer(transcript, "m1")
    answer(transcript, "m1", usage=usage(cache_read_input_tokens=5000, output_tokens=90))
    answer(transcript, "m2", "<synthetic>")
    answer(transcript, "m3", isApiErrorMessage=True)
    answer(transcript, "m4", usage={"input_tokens": 0, "output_tokens": 0})
    answer(transcript, "m5", isSidechain=True)
    answer(transcript, "m6", requestedModel="m[1m]")
    assert bare(only(UsageMeasured, transcript.events())) == [
        ("m", 5103, 7, "", 0),
        ("m", 5103, 90, "", 0),
        ("m", 5103, 7, "m[1m]", 0),
    ]


def test_errors_of_the_service_are_not_said_by_the_agent() -> None:
    transcript = Transcript()
    transcript.says("API Error: 529", isApiErrorMessage=True)
    transcript.says("(no content)")
    transcript.says("Hello.")
    assert bare(only(AgentSaid, transcript.events())) == [("Hello.",)]


def test_the_place_is_told_when_it_changes() -> None:
    transcript = Transcript()
    place = {"sessionId": "s", "cwd": "/a", "gitBranch": "main", "version": "2.1.0"}
    transcript.prompt("one", **place)
    transcript.prompt("two", **place)
    transcript.prompt("three", **{**place, "gitBranch": "fix"})
    transcript.prompt("four", sessionId="s")
    assert bare(only(SessionSeen, transcript.events())) == [
        ("s", "/a", "main", "claude-code 2.1.0"),
        ("s", "/a", "fix", "claude-code 2.1.0"),
    ]


def test_only_this_sessions_titles_count_and_the_users_own_wins() -> None:
    transcript = Transcript()
    transcript.add(type="summary", summary="Another session", leafUuid="elsewhere-000001")
    leaf = transcript.prompt("go")
    transcript.add(type="summary", summary="Fix the build", leafUuid=leaf)
    transcript.add(type="ai-title", aiTitle="Build fixes")
    transcript.add(type="custom-title", customTitle="my build")
    transcript.add(type="ai-title", aiTitle="Build fixes, continued")
    assert bare(only(TitleSet, transcript.events())) == [
        ("Fix the build",),
        ("Build fixes",),
        ("my build",),
    ]


def test_a_pull_request_is_a_link() -> None:
    transcript = Transcript()
    transcript.add(
        type="pr-link", prNumber=7, prUrl="https://example.org/pull/7", prRepository="me/it"
    )
    assert bare(only(LinkSeen, transcript.events())) == [
        ("pull request me/it#7", "https://example.org/pull/7")
    ]


def test_unknown_rows_are_counted_and_the_clients_books_are_not() -> None:
    transcript = Transcript()
    transcript.add(type="progress", data={"type": "bash_progress"})
    transcript.add(type="file-history-snapshot")
    transcript.add(type="a-type-of-tomorrow")
    transcript.add(type=None)
    adapter = ClaudeCodeAdapter()
    assert [adapter.events(row) for row in transcript.rows] == [[], [], [], []]
    assert adapter.unknown_rows == 2
    assert ClaudeCodeAdapter(adapter.parser_state()).unknown_rows == 2


@pytest.mark.parametrize(
    "parser_state",
    [None, 7, [], {}, {"format": 1}, {"format": 99}, {"format": 1, "seen": [[], "x"]}],
)
def test_a_damaged_memory_starts_empty(parser_state: object) -> None:
    assert ClaudeCodeAdapter(parser_state).parser_state() == ClaudeCodeAdapter().parser_state()
