"""The whole run: a folder of transcripts and some contestants in, a Report out.

Owns the order of work and its spread over processes. Weights are applied here, once every
session has said which entities it holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import Any

from benchmarks.measure.entities import Entity, idf_table, weight
from benchmarks.measure.prepared_boundary import PreparedBoundary, PreparedSession, prepare_session
from benchmarks.measure.scoring import CHARS_PER_TOKEN, BriefScore, score_brief
from benchmarks.measure.session_files import Row, find_transcripts, group_by_session, load_session
from benchmarks.survival.candidate import Candidate, Case
from holdfast.workers import worker_pool

BUDGETS = (500, 1000)


@dataclass(slots=True)
class BoundaryResult:
    """One boundary with the outcome of every contestant at every budget."""

    session_id: str
    repository: str
    path: str
    uuid: str
    need: tuple[Entity, ...]
    in_summary: frozenset[Entity]
    summary: BriefScore
    rediscovery_after: float
    rediscovery_before: float
    outcomes: dict[tuple[str, int], BriefScore] = field(default_factory=dict)
    weights: dict[Entity, float] = field(default_factory=dict)

    def share(self, held: Iterable[Entity]) -> float:
        """Weight of some needed entities, as a share of the whole need."""
        # fsum: a set has no order, and the last digit must not depend on it
        total = fsum(self.weights.values())
        return fsum(self.weights[e] for e in held) / total if total else 0.0


@dataclass(slots=True)
class Run:
    """Every boundary of a folder, scored."""

    boundaries: list[BoundaryResult]
    candidates: list[str]
    budgets: tuple[int, ...]
    sessions_read: int


@dataclass(slots=True)
class _Job:
    paths: list[str]
    candidates: tuple[Candidate, ...]
    budgets: tuple[int, ...]
    cache: str | None
    strict: bool


def run(
    folder: str | Path,
    candidates: Sequence[Candidate],
    *,
    budgets: tuple[int, ...] = BUDGETS,
    jobs: int | None = None,
    cache: str | Path | None = None,
    strict: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Score contestants on every usable boundary below a folder.

    With `cache`, what is known about each boundary is kept there, and a second run only pays for
    the briefs. `strict` lets only the labels count that the definition spells out.
    """
    groups = group_by_session(find_transcripts(Path(folder)))
    work = [
        _Job(
            [str(p) for p in paths],
            tuple(candidates),
            budgets,
            str(cache) if cache else None,
            strict,
        )
        for _, paths in groups
    ]
    processes = min(jobs or os.cpu_count() or 1, max(len(work), 1))
    done: list[tuple[frozenset[Entity], list[BoundaryResult]]] = []
    if processes <= 1:
        for number, job in enumerate(work, 1):
            done.append(_score_session(job))
            if progress:
                progress(number, len(work))
    else:
        with worker_pool(processes) as pool:
            futures = [pool.submit(_score_session, job) for job in work]
            for number, future in enumerate(futures, 1):
                done.append(future.result())
                if progress:
                    progress(number, len(work))
    idfs = idf_table((rare for rare, _ in done), len(done))
    boundaries = _once(b for _, results in done for b in results)
    for boundary in boundaries:
        boundary.weights = {e: weight(e, idfs) for e in boundary.need}
    return Run(boundaries, [c.name for c in candidates], budgets, len(done))


def _once(boundaries: Iterable[BoundaryResult]) -> list[BoundaryResult]:
    """Each compaction once: a forked session carries those of the session it came from."""
    found: dict[str, BoundaryResult] = {}
    for boundary in boundaries:
        found.setdefault(boundary.uuid or f"{boundary.path}#{len(found)}", boundary)
    return list(found.values())


def _score_session(job: _Job) -> tuple[frozenset[Entity], list[BoundaryResult]]:
    session = prepare_session(job.paths, job.cache)
    rows: list[Row] = []
    if session.boundaries and job.candidates:
        rows = load_session([Path(p) for p in job.paths]).rows
    return session.rare, [_score_boundary(p, session, rows, job) for p in session.boundaries]


def _score_boundary(
    prepared: PreparedBoundary, session: PreparedSession, rows: list[Row], job: _Job
) -> BoundaryResult:
    result = BoundaryResult(
        session_id=session.session_id,
        repository=session.repository,
        path=prepared.path,
        uuid=prepared.uuid,
        need=prepared.need.entities,
        in_summary=prepared.need.in_summary,
        summary=score_brief(prepared.summary, prepared, None),
        rediscovery_after=prepared.rediscovery_after,
        rediscovery_before=prepared.rediscovery_before,
    )
    before = rows[: prepared.index]
    shared: dict[str, Any] = {}
    for candidate in job.candidates:
        case = Case(
            session_id=session.session_id,
            path=prepared.path,
            boundary_uuid=prepared.uuid,
            rows_before=before,
            summary=prepared.summary if candidate.wants_summary else None,
            future=prepared if candidate.wants_future else None,
            scratch=shared,
        )
        for budget in job.budgets:
            bound = budget * CHARS_PER_TOKEN
            brief = candidate.brief(case, bound)
            result.outcomes[candidate.name, budget] = score_brief(
                brief, prepared, bound, strict=job.strict
            )
    return result
