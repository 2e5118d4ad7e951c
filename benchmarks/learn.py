"""Learns the ranker's weights from real compactions, and says what they give held out.

    python -m benchmarks.learn FOLDER [--write]

For every boundary in FOLDER, what the state offers is compared with what the agent used after
the compaction (holdfast.survival's need). A logistic model per kind of candidate is fitted by
Newton's method. A candidate that was needed and that the client's summary lost counts fully;
one that the summary kept counts a third, because telling it again is worth less. Held out:
each session is scored with weights fitted on all the others. `--write` puts the weights of all
sessions into src/holdfast/brief/weights.py, with the figures of the run that made them.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import orjson

from holdfast.brief import candidates, weights
from holdfast.brief.compose import compose
from holdfast.lifecycle.boundaries import boundaries
from holdfast.lifecycle.track import catch_up
from holdfast.state.model import State
from holdfast.survival.entities import (
    COMMAND,
    HASH,
    IDENTIFIER,
    PATH,
    PORT,
    TICKET,
    URL,
    Entity,
    idf_table,
    weight,
)
from holdfast.survival.knowledge import mentions
from holdfast.survival.prepared import Prepared, prepare_session
from holdfast.survival.scores import score_brief
from holdfast.survival.sessions import group_files, transcript_files

KEPT_BY_SUMMARY = 0.35
RIDGE = 1.0
KINDS = ("FILE", "COMMAND", "IDENTIFIER")
FEATURES = {
    "FILE": candidates.FILE_FEATURES,
    "COMMAND": candidates.COMMAND_FEATURES,
    "IDENTIFIER": candidates.IDENTIFIER_FEATURES,
}
SIZES = (2000, 4000)
TARGET = Path(__file__).parents[1] / "src" / "holdfast" / "brief" / "weights.py"


@dataclass
class Boundary:
    """One compaction: what was known, what was needed, and the examples it gives."""

    session: str
    prepared: Prepared
    state: State
    rows: dict[str, list[tuple[tuple[float, ...], float]]] = field(default_factory=dict)
    weights: dict[Entity, float] = field(default_factory=dict)


def read(folder: Path) -> list[Boundary]:
    found: list[Boundary] = []
    rare = []
    for _, paths in group_files(transcript_files(folder)):
        session = prepare_session([str(path) for path in paths], None)
        rare.append(session.rare)
        for prepared in session.boundaries:
            start = {b.row: b.start for b in boundaries(prepared.path, loads=orjson.loads)}
            state = catch_up(
                prepared.path, until=start[prepared.uuid], loads=orjson.loads, final=True
            ).state
            found.append(Boundary(session.session_id, prepared, state))
    idfs = idf_table(rare, len(rare))
    for boundary in found:
        needed = boundary.prepared.need.entities
        boundary.weights = {entity: weight(entity, idfs) for entity in needed}
        boundary.rows = {kind: list(_examples(boundary, kind)) for kind in KINDS}
    return found


def _examples(boundary: Boundary, kind: str) -> Iterator[tuple[tuple[float, ...], float]]:
    need = set(boundary.prepared.need.entities)
    kept = set(boundary.prepared.need.in_summary)

    def label(entities: Iterable[Entity]) -> float:
        wanted = [entity for entity in entities if entity in need]
        if any(entity not in kept for entity in wanted):
            return 1.0
        return KEPT_BY_SUMMARY if wanted else 0.0

    state, known = boundary.state, boundary.prepared.knowledge
    if kind == "FILE":
        for file in candidates.file_candidates(state):
            path = known.paths.resolve(file.path) or file.path
            yield file.features, label([Entity(PATH, path)])
    elif kind == "COMMAND":
        commands = [entity for entity in need if entity.kind == COMMAND]
        for candidate in candidates.command_candidates(state):
            text = " ".join(candidate.key.split())
            for folder in state.place.folders:
                text = text.replace(folder.rstrip("/") + "/", "")
            told = [e for e in commands if e.value in text and mentions(text, e.value)]
            yield candidate.features, label(told)
    else:
        for candidate in candidates.identifier_candidates(state):
            value = state.identifiers[candidate.key].value
            forms = [Entity(sort, value) for sort in (URL, TICKET, PORT, IDENTIFIER)]
            yield candidate.features, label([*forms, Entity(HASH, value[:7])])


def fit(boundaries_used: list[Boundary], kind: str) -> tuple[float, ...]:
    examples = [row for boundary in boundaries_used for row in boundary.rows[kind]]
    x = numpy.array([features for features, _ in examples])
    y = numpy.array([wanted for _, wanted in examples])
    w = numpy.zeros(x.shape[1])
    held = numpy.eye(len(w)) * RIDGE
    held[0, 0] = 1e-6  # the bias is not pulled towards zero
    for _ in range(40):
        p = 1 / (1 + numpy.exp(-numpy.clip(x @ w, -30, 30)))
        step = numpy.linalg.solve((x.T * (p * (1 - p))) @ x + held, x.T @ (p - y) + held @ w)
        w = w - step
    return tuple(round(float(value), 3) for value in w)


def use(fitted: dict[str, tuple[float, ...]]) -> None:
    for kind, values in fitted.items():
        setattr(weights, kind, values)


def survival(boundary: Boundary, size: int) -> tuple[float, float, float]:
    """(survival, grounded need, precision) of the brief at one boundary."""
    text = compose(boundary.state, size).text
    outcome = score_brief(text, boundary.prepared, size)
    total = sum(boundary.weights.values()) or 1.0

    def share(entities: Iterable[Entity]) -> float:
        return sum(boundary.weights[entity] for entity in entities) / total

    told = set(outcome.grounded)
    seen = set(boundary.prepared.need.in_summary) | told
    return share(seen), share(told), len(outcome.mentioned) / max(1, outcome.entities)


def mean(values: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    survived, grounded, precise = (
        sum(column) / len(values) for column in zip(*values, strict=True)
    )
    return survived, grounded, precise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    options = parser.parse_args()
    all_of_them = read(options.folder)
    sessions = sorted({boundary.session for boundary in all_of_them})
    lines = [f"{len(all_of_them)} boundaries of {len(sessions)} sessions"]
    held_out: dict[int, list[tuple[float, float, float]]] = {size: [] for size in SIZES}
    for session in sessions:
        others = [boundary for boundary in all_of_them if boundary.session != session]
        use({kind: fit(others, kind) for kind in KINDS})
        for boundary in all_of_them:
            if boundary.session == session:
                for size in SIZES:
                    held_out[size].append(survival(boundary, size))
    fitted = {kind: fit(all_of_them, kind) for kind in KINDS}
    use(fitted)
    for size in SIZES:
        fit_to = mean([survival(boundary, size) for boundary in all_of_them])
        for name, (survived, grounded, precise) in (
            ("held out", mean(held_out[size])),
            ("in sample", fit_to),
        ):
            lines.append(
                f"{size} characters, {name}: survival {survived:.3f}, "
                f"grounded need {grounded:.3f}, precision {precise:.3f}"
            )
    print("\n".join(lines))
    if options.write:
        TARGET.write_text(_module(fitted, lines))


def _module(fitted: dict[str, tuple[float, ...]], lines: list[str]) -> str:
    run = "\n".join(f"    {line}" for line in lines)
    text = f'''"""The ranker's weights: plain numbers, and the run that made them.

Fitted by `python -m benchmarks.learn FOLDER --write` on real compactions:

{run}

SYMBOL weighs the four heats of a symbol (typed and seen, each fading fast and slow); VALUE says
what a needed thing of each section is worth beside the others. Both were set by a search in
steps of 1.6 over the whole set; halving or doubling any of them moves survival by less than
0.01.
"""

from __future__ import annotations

'''
    for kind, values in fitted.items():
        text += f"{_named(FEATURES[kind])}\n{kind} = {values}\n"
    text += f"{_named(candidates.SYMBOL_FEATURES)}\nSYMBOL = {weights.SYMBOL}\n"
    return text + f"VALUE = {weights.VALUE}\n"


def _named(features: tuple[str, ...]) -> str:
    return textwrap.fill(", ".join(features), 98, initial_indent="# ", subsequent_indent="# ")


if __name__ == "__main__":
    main()
