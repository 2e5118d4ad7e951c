"""One boundary made ready for scoring, so that a new brief costs seconds and not a re-read.

Owns what is kept between runs. A Prepared holds no raw rows; a contestant gets those from its
Case, read again from the transcript.
"""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure.brief_lines import plain_words
from benchmarks.measure.entities import COMMAND, PATH, TASK, Entity
from benchmarks.measure.ground_truth import Truth, build_truth, list_error_lines
from benchmarks.measure.knowledge import (
    Knowledge,
    SessionText,
    build_knowledge,
    contains_phrase,
    extract,
    normalize_text,
)
from benchmarks.measure.need import MIN_NEED, Need, compute_need, compute_rediscovery
from benchmarks.measure.session_files import Boundary, find_boundaries, load_session
from benchmarks.measure.shell_commands import word_set
from holdfast.files import make_parents, write_atomic

CACHE_FORMAT = 1
MAX_LINE_CHARS = 400
WINDOW_CHARS = 200


@dataclass(slots=True)
class PreparedBoundary:
    """Everything a score needs to know about one boundary."""

    session_id: str
    repository: str
    path: str
    copies: tuple[str, ...]
    index: int
    uuid: str
    summary: str
    need: Need
    knowledge: Knowledge
    contexts: dict[Entity, tuple[frozenset[str], ...]]
    in_errors: frozenset[Entity]
    truth: Truth
    rediscovery_after: float
    rediscovery_before: float


@dataclass(slots=True)
class PreparedSession:
    """The boundaries of one session, and its rare entities for idf over sessions."""

    session_id: str
    repository: str
    rare: frozenset[Entity]
    boundaries: list[PreparedBoundary]


def prepare_session(paths: list[str], cache: str | None) -> PreparedSession:
    """Read one session and prepare its boundaries, or take them from the cache."""
    place = Path(cache) / f"{_fingerprint(paths)}.pickle" if cache else None
    if place is not None and place.exists():
        with place.open("rb") as handle:
            kept: PreparedSession = pickle.load(handle)
        return kept
    session = load_session([Path(p) for p in paths])
    text = SessionText(session)
    done = [
        one
        for boundary in find_boundaries(session.rows)
        if (one := prepare_boundary(text, boundary, tuple(paths))) is not None
    ]
    prepared = PreparedSession(
        session.session_id, session.repository, frozenset(text.rare_kinds()), done
    )
    if place is not None:
        make_parents(str(place))
        write_atomic(str(place), pickle.dumps(prepared, protocol=5))
    return prepared


def _fingerprint(paths: list[str]) -> str:
    """Changes with the files and with the code that prepared them."""
    digest = hashlib.sha256(f"{CACHE_FORMAT}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        if source.name in _SHAPES_PREPARED:
            digest.update(source.read_bytes())
    for path in paths:
        stat = Path(path).stat()
        digest.update(f"{path}|{stat.st_size}|{stat.st_mtime_ns}".encode())
    return digest.hexdigest()[:24]


_SHAPES_PREPARED = frozenset(
    f"{name}.py"
    for name in word_set(
        "session_files text_pieces shell_commands entities knowledge need ground_truth brief_lines"
        " prepared_boundary"
    )
)


def prepare_boundary(
    text: SessionText, boundary: Boundary, copies: tuple[str, ...]
) -> PreparedBoundary | None:
    """One boundary ready for scoring; None where too little is needed after it."""
    knowledge = build_knowledge(text, boundary.index)
    need = compute_need(text, boundary, knowledge)
    if len(need.entities) < MIN_NEED:
        return None
    after, before = compute_rediscovery(text, boundary)
    calls = [c for c in text.reading.calls if c.row < boundary.index]
    failed: set[Entity] = set()
    needed = set(need.entities)
    for line in list_error_lines(calls):
        failed |= _held(line, knowledge, needed)
    return PreparedBoundary(
        session_id=text.session.session_id,
        repository=text.session.repository,
        path=text.session.path,
        copies=copies,
        index=boundary.index,
        uuid=boundary.uuid,
        summary=boundary.summary,
        need=need,
        knowledge=knowledge,
        contexts=_contexts(text, boundary.index, knowledge, needed),
        in_errors=frozenset(failed),
        truth=build_truth(text, boundary.index, knowledge),
        rediscovery_after=after,
        rediscovery_before=before,
    )


def _held(line: str, knowledge: Knowledge, needed: set[Entity]) -> set[Entity]:
    x = extract(line)
    held = {e for e in x.entities if e in needed}
    for token in x.tokens:
        if (path := knowledge.paths.resolve(token)) and (e := Entity(PATH, path)) in needed:
            held.add(e)
    return held


def _contexts(
    text: SessionText, index: int, knowledge: Knowledge, needed: set[Entity]
) -> dict[Entity, tuple[frozenset[str], ...]]:
    """For each needed entity the plain words of the lines before the cut that hold it."""
    words: dict[Entity, dict[frozenset[str], None]] = {e: {} for e in needed}
    phrases = [e for e in needed if e.kind in (COMMAND, TASK)]
    seen: set[str] = set()
    for piece, x in zip(text.reading.pieces, text.extracts, strict=True):
        if piece.row >= index:
            continue
        plain = any(e in needed for e in x.entities) or any(
            Entity(PATH, p) in needed for t in x.tokens if (p := knowledge.paths.resolve(t))
        )
        low = piece.text.lower()
        spoken = [e for e in phrases if _says(piece.text, low, e)]
        if not plain and not spoken:
            continue
        for line in piece.text.splitlines():
            if line in seen:
                continue
            seen.add(line)
            held = _held(line, knowledge, needed) if plain else set()
            held.update(e for e in spoken if _says(line, line.lower(), e))
            for entity in held:
                if found := line_words(line, entity):
                    words[entity].setdefault(found)
    return {e: tuple(sets) for e, sets in words.items()}


def _says(line: str, low: str, entity: Entity) -> bool:
    if entity.kind == TASK:
        return entity.value in low
    return entity.value in line and contains_phrase(line, entity.value)


def line_words(line: str, entity: Entity) -> frozenset[str]:
    """The plain words around an entity; its own words are no context of its own."""
    if len(line) > MAX_LINE_CHARS:
        at = max(line.find(entity.value.rsplit("/", 1)[-1]), 0)
        line = line[max(0, at - WINDOW_CHARS) : at + len(entity.value) + WINDOW_CHARS]
    if entity.kind == COMMAND:
        line = line.replace(entity.value, " ")
    elif entity.kind == TASK:
        line = normalize_text(line).replace(entity.value, " ")
    return plain_words(line)
