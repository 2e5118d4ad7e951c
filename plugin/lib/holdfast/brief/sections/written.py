"""What was written down on purpose: notes of the user and the agent, summaries of finished work."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, Sizes, one_line
from holdfast.state.finished import line
from holdfast.state.model import State
from holdfast.state.notes import Note, standing

KIND = {"dead_end": "dead end", "next_step": "next"}


def notes(state: State, size: Sizes) -> Iterator[Line]:
    """Latest first, the user's before the agent's."""
    found = standing(state)
    found.sort(key=lambda item: (item[1].by == "user", item[1].number))
    for key, note in reversed(found):
        yield Line(f"- {labelled(note, 60 if size.tight else 260)}", key)


def labelled(note: Note, limit: int) -> str:
    who = {"user": "the user", "agent": "the agent"}.get(note.by, "the notes file")
    when = f" {note.at.time[11:16]}" if len(note.at.time) >= 16 else ""
    return f'{KIND.get(note.kind, note.kind)}, by {who}{when}: "{one_line(note.text, limit)}"'


def summaries(state: State, size: Sizes) -> Iterator[Line]:
    """One line for each finished task that went cold, in the words in which it was kept."""
    for one in reversed(state.finished.values()):
        yield Line(f"- {line(one, 140) if size.tight else line(one)}", f"t{one.task}")
