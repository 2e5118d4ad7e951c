"""Messages that a plugin's compaction kept stand in the file twice, and are told once."""

from typing import Any

from holdfast.events import AgentSaid, CommandRan, UserSaid

from .handwritten_rows import Transcript, events_in_pieces


def at(second: int) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T00:00:{second:02d}.000Z"}


def compacted() -> Transcript:
    """As 2.1.325 wrote it: the kept rows again, at their old times or built anew."""
    transcript = Transcript()
    transcript.prompt("Build the shop", **at(1))
    call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}
    ask = {"role": "assistant", "content": [call]}
    transcript.add(type="assistant", message=ask, **at(2))
    transcript.result("x", call="a", **at(3))
    transcript.says("Begun.", **at(4))
    metadata = {"trigger": "manual", "preTokens": 1000}
    transcript.add(
        type="system",
        subtype="compact_boundary",
        parentUuid=None,
        compactMetadata=metadata,
        **at(9),
    )
    transcript.prompt("Holdfast: the state of this session, kept from its transcript, ...", **at(8))
    transcript.prompt("Build the shop", **at(1))
    transcript.add(type="assistant", message=ask, **at(2))
    transcript.result("x", call="a", **at(8))
    transcript.says("Begun.", **at(8))
    transcript.prompt("Build the shop", **at(20))
    transcript.says("Begun.", **at(21))
    return transcript


def test_kept_messages_and_our_own_text_are_not_told_again() -> None:
    events = compacted().events()
    said = [event.text for event in events if isinstance(event, UserSaid)]
    assert said == ["Build the shop", "Build the shop"]  # before, and said anew after
    assert len([e for e in events if isinstance(e, CommandRan)]) == 1
    assert [e.text for e in events if isinstance(e, AgentSaid)] == ["Begun.", "Begun."]


def test_it_holds_when_rows_come_one_by_one() -> None:
    transcript = compacted()
    assert events_in_pieces(transcript.rows, 1) == transcript.events()


def test_where_the_boundary_names_what_it_kept_nothing_is_a_copy() -> None:
    transcript = Transcript()
    transcript.prompt("first", **at(1))
    kept = transcript.says("One.", **at(2))
    metadata = {"trigger": "auto", "preservedMessages": {"uuids": [kept]}}
    transcript.add(
        type="system",
        subtype="compact_boundary",
        parentUuid=None,
        compactMetadata=metadata,
        **at(3),
    )
    transcript.prompt("second", **at(2))
    said = [event.text for event in transcript.events() if isinstance(event, UserSaid)]
    assert said == ["first", "second"]
