"""What of a session can be found again: words, and commands with what they printed."""

from __future__ import annotations

from holdfast.events import AgentSaid, CommandRan, Event, FileTouched, Origin, ToolRan, UserSaid
from holdfast.session.messages import collect_messages, digest_output

AT = Origin("row", 0, 10, "2026-01-02T03:04:05Z")


def collect(event: Event) -> list[tuple[str, str]]:
    return [(message.speaker, message.text) for message in collect_messages([event])]


def test_words_are_kept_with_their_speaker() -> None:
    assert collect(UserSaid(AT, "Use port 5433.")) == [("user", "Use port 5433.")]
    assert collect(UserSaid(AT, "yes", "answer", "Which port?")) == [
        ("user", "(on: Which port?) yes")
    ]
    assert collect(AgentSaid(AT, "Done.")) == [("agent", "Done.")]


def test_a_command_is_kept_with_its_outcome_and_the_lines_that_say_something() -> None:
    output = "\n".join(
        ["start", *(f"line {n}" for n in range(100)), "error: no disk", "a", "b", "c"]
    )

    (speaker, text), *_ = collect(CommandRan(AT, "make all", output, ok=False, code=2))

    assert speaker == "failed"
    assert text.startswith("$ make all\nstart\n")
    assert "error: no disk" in text
    assert "line 30" not in text


def test_a_change_of_a_file_is_kept_and_reading_one_is_not() -> None:
    changed = FileTouched(AT, "/p/a.py", "changed", ok=True, text="x = 1")
    assert collect(changed) == [("edited", "/p/a.py: x = 1")]
    assert collect(FileTouched(AT, "/p/a.py", "read", ok=True, text="x = 1")) == []


def test_a_tool_that_failed_is_kept_as_such_and_a_subagents_words_are_not_kept() -> None:
    assert collect(ToolRan(AT, "mcp__db", "{}", "timed out", ok=False))[0][0] == "failed"
    assert collect(AgentSaid(AT._replace(agent="a1"), "inner words")) == []


def test_a_short_output_is_kept_whole() -> None:
    assert digest_output("one\n\n  two  \n") == "one\ntwo"
    untracked = [f"?? file{number}" for number in range(9)]
    assert digest_output("\n".join(untracked)).split("\n") == untracked
