"""Notes: what the user or the agent wrote down on purpose, beside the transcript.

Not folded: a note lives in a file of the session (`session.notes_file`) and is laid over the
state for display, so that neither a rewind nor a new fold can lose what somebody wrote.
What the transcript told of the same note is left out then: it would stand there twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.events import Origin
from holdfast.records import TYPE_CHECKING, NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.decisions import NOTED
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, FactKind

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
        for key, note in found.items() if one.kind == "next_step" else ():
            if note.kind == "next_step":
                found[key] = note._replace(status=SUPERSEDED)
        at = Origin("", 0, 0, one.time)
        found[f"{prefix}{number}"] = Note(number, one.kind, text, one.by, OPEN, at)
    return dict(list(found.items())[-MAX_NOTES:])


def overlay_notes(state: State, table: Table) -> State:
    """The state with these notes; what it had from the transcript in the same words goes."""
    if not table:
        return state
    said = {note.text for note in table.values()}
    # `decisions` puts a few words before a rule or a next step that the agent noted.
    said |= {label + text for label in NOTED.values() for text in said}
    decisions = {
        key: one
        for key, one in state.decisions.items()
        if not (one.by == "note" and one.text in said)
    }
    dead_ends = {
        key: end
        for key, end in state.dead_ends.items()
        if not (end.source == "note" and end.attempt in said)
    }
    return state._replace(notes=table, decisions=decisions, dead_ends=dead_ends)


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


KIND = FactKind(
    "note",
    "m",
    None,
    list_facts,
    gap=facts.AskedInGap("Noted by the agent", most=12, rank=4),
    counted_in="notes",
    also="`mf` from the notes file",
)
