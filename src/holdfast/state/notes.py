"""Notes: what the user or the agent wrote down on purpose, beside the transcript.

Not folded: a note lives in a file of the session (`session.notes_file`) and is laid over the
state for display, so that neither a rewind nor a new fold can lose what somebody wrote.
What the transcript told of the same note is left out then: it would stand there twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast.events import Origin
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import OPEN, SUPERSEDED, Fact

if TYPE_CHECKING:
    from holdfast.state.model import State

NOTE_KINDS = ("note", "decision", "rule", "dead_end", "next_step")
MAX_NOTES = 60
MAX_NOTE_CHARS = 400


class Note(NamedTuple):
    number: int
    kind: str  # one of KINDS
    text: str
    by: str  # "user" | "agent" | "file": a line somebody written in the notes file
    status: str
    at: Origin


class NoteLine(NamedTuple):
    """A note as it was written down."""

    kind: str
    text: str
    by: str
    time: str


Table = dict[str, Note]


def build_note_table(written: Iterable[NoteLine]) -> Table:
    """The notes that stand or stood, in the order of writing; each text once.

    The number is the place in its file, so that an id does not come to name another note. A later
    next step takes the place of an earlier one.
    """
    found: Table = {}
    known: set[tuple[str, str]] = set()
    counts = {"m": 0, "mf": 0}
    for one in written:
        prefix = "mf" if one.by == "file" else "m"
        number = counts[prefix] = counts[prefix] + 1
        text = truncate_safely(" ".join(one.text.split()), MAX_NOTE_CHARS)
        if not text or one.kind not in NOTE_KINDS or (one.kind, text) in known:
            continue
        known.add((one.kind, text))
        if one.kind == "next_step":
            found = {
                key: note._replace(status=SUPERSEDED) if note.kind == "next_step" else note
                for key, note in found.items()
            }
        at = Origin("", 0, 0, one.time)
        found[f"{prefix}{number}"] = Note(number, one.kind, text, one.by, OPEN, at)
    return dict(list(found.items())[-MAX_NOTES:])


def overlay_notes(state: State, table: Table) -> State:
    """The state with these notes; what it had from the transcript in the same words goes."""
    if not table:
        return state
    said = {note.text for note in table.values()}
    decisions = {
        key: decision
        for key, decision in state.decisions.items()
        if not (decision.by == "note" and _without_label(decision.text) in said)
    }
    dead_ends = {
        key: end
        for key, end in state.dead_ends.items()
        if not (end.source == "note" and end.attempt in said)
    }
    return state._replace(notes=table, decisions=decisions, dead_ends=dead_ends)


def _without_label(text: str) -> str:
    """`decisions` puts a few words before a rule or a next step that the agent noted."""
    for label in ("A rule, in the agent's words: ", "Next step: "):
        if text.startswith(label):
            return text[len(label) :]
    return text


def list_open_notes(state: State, kind: str = "") -> list[tuple[str, Note]]:
    """Those that stand, in the order of writing."""
    return [
        (key, note)
        for key, note in state.notes.items()
        if note.status == OPEN and (not kind or note.kind == kind)
    ]


def list_facts(table: Table) -> Iterator[Fact]:
    for key, note in table.items():
        who = "written in the notes file" if note.by == "file" else f"noted by the {note.by}"
        yield Fact(key, note.kind, note.text, note.status, note.at, who)
