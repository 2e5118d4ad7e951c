"""What was written down on purpose: notes of the user and the agent, summaries of finished work."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.section_lines import Line, SizeLimits, truncate_line
from holdfast.state.model import State
from holdfast.state.notes import Note, list_open_notes
from holdfast.state.task_summary import format_summary

KIND_LABELS = {"dead_end": "dead end", "next_step": "next"}


def notes(state: State, size: SizeLimits) -> Iterator[Line]:
    """Latest first, the user's before the agent's."""
    found = list_open_notes(state)
    found.sort(key=lambda item: (item[1].by == "user", item[1].number))
    for key, note in reversed(found):
        yield Line(f"- {format_note(note, 60 if size.tight else 260)}", key)


def format_note(note: Note, limit: int) -> str:
    who = {"user": "the user", "agent": "the agent"}.get(note.by, "the notes file")
    when = f" {note.at.time[11:16]}" if len(note.at.time) >= 16 else ""
    label = KIND_LABELS.get(note.kind, note.kind)
    return f'{label}, by {who}{when}: "{truncate_line(note.text, limit)}"'


def summaries(state: State, size: SizeLimits) -> Iterator[Line]:
    """One line for each finished task that went cold, in the words in which it was kept."""
    for one in reversed(state.task_summaries.values()):
        yield Line(
            f"- {format_summary(one, 140) if size.tight else format_summary(one)}", f"t{one.task}"
        )
