"""Grounding: which needed entities a brief really tells, and which it only drops as words.

Owns the three rules. It is given what is true (Prepared) and a text; it chooses nothing.
"""

from __future__ import annotations

import re

from holdfast.survival import lines as L
from holdfast.survival.commands import is_test
from holdfast.survival.entities import (
    COMMAND,
    HASH,
    IDENTIFIER,
    PATH,
    PORT,
    TASK,
    TICKET,
    URL,
    Entity,
    chunks,
    classify,
    without_urls,
)
from holdfast.survival.knowledge import extract, mentions
from holdfast.survival.prepared import Prepared, line_words

MIN_SHARED = 2
SHARED_PART = 0.3

_SPACES = re.compile(r"\s+")
_KIND_LABEL = {HASH: L.COMMIT, TICKET: L.TICKET, URL: L.URL, PORT: L.PORT}


class Mention:
    """What one line of a brief mentions: entities, and for symbols the file they follow."""

    __slots__ = ("entities", "file_before", "line", "paths")

    def __init__(self, line: L.Line) -> None:
        self.line = line
        self.entities: set[Entity] = set()
        self.paths: list[str] = []
        self.file_before: dict[str, set[str]] = {}


def mentions_of(brief: str, prepared: Prepared) -> list[Mention]:
    """The lines of a brief with the entities each mentions, paths resolved."""
    return [_mention(line, prepared) for line in L.read_brief(brief)]


def _mention(line: L.Line, prepared: Prepared) -> Mention:
    knowledge = prepared.knowledge
    found = Mention(line)
    x = extract(line.text)
    found.entities.update(e for e in x.entities)
    folder, path = line.folder, ""
    for chunk in chunks(without_urls(line.text)):
        here = chunk.rstrip(":")
        if here.endswith("/") and len(here) > 1:
            folder = knowledge.paths.relative(here)
            continue
        held = classify(chunk)
        if held.pathlike and (where := knowledge.paths.resolve(held.pathlike, folder)):
            path = where
            found.paths.append(path)
            found.entities.add(Entity(PATH, path))
        for entity in held.entities:
            if entity.kind == IDENTIFIER and path:
                found.file_before.setdefault(entity.value, set()).add(path)
    flat = _SPACES.sub(" ", line.text)
    for command in knowledge.commands:
        if command in flat and mentions(flat, command):
            found.entities.add(Entity(COMMAND, command))
    low = flat.lower()
    tasks = [t for t in knowledge.tasks if t and t in low]
    # "run tests" inside "run tests and lint" is not another task
    found.entities.update(
        Entity(TASK, t) for t in tasks if not any(t != o and t in o for o in tasks)
    )
    return found


def grounded(brief: str, prepared: Prepared) -> set[Entity]:
    """The needed entities that a brief grounds."""
    return grounded_in(mentions_of(brief, prepared), prepared)


def grounded_in(found: list[Mention], prepared: Prepared) -> set[Entity]:
    needed = set(prepared.need.entities)
    held: set[Entity] = set()
    for mention in found:
        for entity in mention.entities & needed - held:
            if (
                label_is_true(entity, mention.line.labels, prepared)
                or _symbol_of_file(entity, mention, prepared)
                or _told_as_before(entity, mention.line, prepared)
            ):
                held.add(entity)
    return held


def _told_as_before(entity: Entity, line: L.Line, prepared: Prepared) -> bool:
    """Rule i: the line shares its plain words with one line before the cut that holds it."""
    words = line_words(_SPACES.sub(" ", line.text), entity)
    least = max(MIN_SHARED, SHARED_PART * len(words))
    if len(words) < MIN_SHARED:
        return False
    return any(len(words & context) >= least for context in prepared.contexts.get(entity, ()))


def label_is_true(entity: Entity, labels: frozenset[str], prepared: Prepared) -> bool:
    """Rule ii: a label over the entity says something that is true of it."""
    if not labels:
        return False
    knowledge, truth = prepared.knowledge, prepared.truth
    if L.ERROR in labels and (
        entity in prepared.in_errors or entity.value in truth.failed_commands
    ):
        return True
    if entity.kind == PATH:
        edited, read = entity.value in knowledge.edited, entity.value in knowledge.read
        return (
            (L.EDITED in labels and edited)
            or (L.READ in labels and read)
            or (L.TOUCHED in labels and (edited or read))
            or L.SEEN in labels
            or (L.DELETED in labels and entity.value in truth.deleted)
        )
    if entity.kind == COMMAND:
        return L.COMMAND in labels or (L.TEST in labels and is_test(entity.value))
    if entity.kind == TASK:
        return _task_label(entity.value, labels, prepared)
    return entity.kind in _KIND_LABEL and _KIND_LABEL[entity.kind] in labels


def _task_label(subject: str, labels: frozenset[str], prepared: Prepared) -> bool:
    is_open = subject in prepared.truth.open_tasks
    if L.OPEN in labels:
        return is_open
    if labels & {L.DONE, L.CANCELLED}:
        return not is_open
    return L.TASK in labels


def _symbol_of_file(entity: Entity, mention: Mention, prepared: Prepared) -> bool:
    """Rule iii: a symbol behind the name of a file in which it occurred."""
    if entity.kind != IDENTIFIER:
        return False
    return any(
        entity.value in prepared.knowledge.symbols.get(path, ())
        for path in mention.file_before.get(entity.value, ())
    )
