"""The need of a boundary: what was known before the cut and is used after it.

Owns which entities are needed, which of those the summary shows, and how often look-ups are
repeated. It knows nothing about briefs.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.measure.entities import COMMAND, PATH, TASK, Entity
from benchmarks.measure.knowledge import (
    Extract,
    Knowledge,
    SessionText,
    created_task_id,
    extract,
    normalize_text,
    read_file_field,
    task_subjects,
)
from benchmarks.measure.session_files import ASSISTANT, INPUT, USER, Boundary, Call, Piece
from benchmarks.measure.shell_commands import list_lookups

MIN_NEED = 5
LOOKUP_WINDOW = 25


@dataclass(frozen=True, slots=True)
class Need:
    """Needed entities in order of first use, and the part of them the summary shows."""

    entities: tuple[Entity, ...]
    in_summary: frozenset[Entity]


def compute_need(text: SessionText, boundary: Boundary, knowledge: Knowledge) -> Need:
    """What the agent uses after the cut that was known before and not given to it again."""
    visible = _kept_entities(text, boundary, knowledge)
    tasks_by_id = _task_ids(text)
    needed: dict[Entity, None] = {}
    for piece, x in zip(text.reading.pieces, text.extracts, strict=True):
        if not boundary.after_start <= piece.row < boundary.after_end:
            continue
        if piece.source == USER:
            visible |= knowledge.text_entities(piece.text, x)
        elif piece.source in (ASSISTANT, INPUT):
            for entity in sorted(_used(piece, x, text, knowledge, tasks_by_id)):
                if entity not in visible:
                    needed.setdefault(entity)
    shown = find_visible(boundary.summary, knowledge)
    return Need(tuple(needed), frozenset(e for e in needed if e in shown))


def find_visible(summary: str, knowledge: Knowledge) -> set[Entity]:
    """Entities a summary mentions. A bare mention is enough here."""
    return knowledge.text_entities(summary)


def _kept_entities(text: SessionText, boundary: Boundary, knowledge: Knowledge) -> set[Entity]:
    """What stands in messages the client kept word for word."""
    held: set[Entity] = set()
    if not boundary.kept:
        return held
    rows = text.session.rows
    ids = _task_ids(text)
    for piece, x in zip(text.reading.pieces, text.extracts, strict=True):
        if piece.row < boundary.index and rows[piece.row].get("uuid") in boundary.kept:
            held |= _used(piece, x, text, knowledge, ids)
    return held


def _used(
    piece: Piece, x: Extract, text: SessionText, knowledge: Knowledge, tasks: dict[str, str]
) -> set[Entity]:
    """The known entities one piece uses."""
    call = piece.call
    if call is None or piece.source != INPUT:
        return knowledge.text_entities(piece.text, x)
    used = {e for e in x.entities if e in knowledge.entities}
    used.update(Entity(PATH, p) for t in x.tokens if (p := knowledge.paths.resolve(t)))
    if (name := read_file_field(call)) and (path := knowledge.paths.resolve(name)):
        used.add(Entity(PATH, path))
    used.update(Entity(COMMAND, c) for c in text.commands_of(call) if c in knowledge.commands)
    subjects = [normalize_text(s) for s in task_subjects(call)]
    if call.tool in ("TaskUpdate", "TaskGet"):
        subjects.append(tasks.get(str(call.input.get("taskId", "")), ""))
    used.update(Entity(TASK, s) for s in subjects if s in knowledge.tasks)
    return used


def _task_ids(text: SessionText) -> dict[str, str]:
    """Task ids of the session and the folded subject each was created with."""
    return {
        number: normalize_text(subjects[0])
        for call in text.reading.calls
        if call.tool == "TaskCreate"
        and (number := created_task_id(call))
        and (subjects := task_subjects(call))
    }


def lookup_key(call: Call, text: SessionText) -> tuple[str, ...] | None:
    """What a look-up asks for, so that the same question twice is seen as one."""
    given = call.input
    if call.tool == "Read":
        return ("Read", str(given.get("file_path", "")))
    if call.tool == "Grep":
        return ("Grep", str(given.get("pattern", "")), str(given.get("path", "")))
    if call.tool == "Glob":
        return ("Glob", str(given.get("pattern", "")), str(given.get("path", "")))
    if call.tool in ("WebFetch", "WebSearch"):
        return (call.tool, str(given.get("url", given.get("query", ""))))
    if call.tool == "Bash" and isinstance(given.get("command"), str):
        looks = list_lookups(given["command"], text.roots)
        if looks and not text.commands_of(call):
            return ("Bash", *looks)
    return None


def compute_rediscovery(text: SessionText, boundary: Boundary) -> tuple[float, float]:
    """Share of repeated look-ups: first calls after the cut, last calls before it."""
    before = [c for c in text.reading.calls if c.row < boundary.index]
    after = [c for c in text.reading.calls if boundary.after_start <= c.row < boundary.after_end][
        :LOOKUP_WINDOW
    ]
    seen: set[tuple[str, ...]] = set()
    repeats: list[bool] = []
    for call in before:
        key = lookup_key(call, text)
        repeats.append(key is not None and key in seen)
        if key is not None:
            seen.add(key)
    known = set(seen)
    again = [(key := lookup_key(c, text)) is not None and key in known for c in after]
    last = repeats[-LOOKUP_WINDOW:]
    return _share(again), _share(last)


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


__all__ = ["MIN_NEED", "Need", "compute_need", "compute_rediscovery", "extract", "find_visible"]
