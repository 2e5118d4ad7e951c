"""Figures of a run: means with intervals for each contestant, and what each one missed.

Owns the arithmetic between outcomes and a table. It renders nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks.measure.entities import Entity
from benchmarks.measure.scoring import CHARS_PER_TOKEN, BriefScore, Estimate, estimate_mean
from benchmarks.survival.runner import BoundaryResult, Run

NONE = "none"


@dataclass(frozen=True, slots=True)
class CandidateScores:
    """One contestant at one budget."""

    name: str
    budget: int
    survival: Estimate
    grounded_need: Estimate
    recall: Estimate
    recovered: Estimate
    state: Estimate
    state_parts: dict[str, float]
    precision: Estimate
    stale: int
    stale_briefs: int
    violations: int
    tokens: float


@dataclass(frozen=True, slots=True)
class MissingKind:
    """One kind of need that neither the summary nor the brief told."""

    kind: str
    needed: int
    lost: int
    missing: int
    weight: float
    examples: list[str]


def compute_scores(run: Run, name: str, budget: int) -> CandidateScores:
    """Every score of one contestant at one budget."""
    pairs = [(b, b.outcomes[name, budget]) for b in run.boundaries]
    return _figures(name, budget, pairs, lambda b, o: b.share(b.in_summary | o.grounded))


def score_summary(run: Run) -> CandidateScores:
    """The client's own summary, whole, as if nothing had been added: S0."""
    pairs = [(b, b.summary) for b in run.boundaries]
    return _figures(NONE, 0, pairs, lambda b, _: b.share(b.in_summary))


def _figures(
    name: str,
    budget: int,
    pairs: list[tuple[BoundaryResult, BriefScore]],
    survival: Callable[[BoundaryResult, BriefScore], float],
) -> CandidateScores:
    def mean(value: Callable[[BoundaryResult, BriefScore], float | None]) -> Estimate:
        measured = [(b.session_id, v) for b, o in pairs if (v := value(b, o)) is not None]
        return estimate_mean(measured)

    parts: dict[str, list[float]] = {}
    for _, outcome in pairs:
        for part, value in outcome.state_parts.items():
            parts.setdefault(part, []).append(value)
    return CandidateScores(
        name=name,
        budget=budget,
        survival=mean(survival),
        grounded_need=mean(lambda b, o: b.share(o.grounded)),
        recall=mean(lambda b, o: b.share(o.mentioned)),
        recovered=mean(_recovered),
        state=mean(lambda _, o: o.state),
        state_parts={k: sum(v) / len(v) for k, v in sorted(parts.items())},
        precision=mean(lambda _, o: len(o.mentioned) / o.entities if o.entities else None),
        stale=sum(o.stale for _, o in pairs),
        stale_briefs=sum(o.stale > 0 for _, o in pairs),
        violations=sum(o.violation for _, o in pairs),
        tokens=sum(o.chars for _, o in pairs) / CHARS_PER_TOKEN / max(len(pairs), 1),
    )


def _recovered(boundary: BoundaryResult, outcome: BriefScore) -> float | None:
    lost = boundary.share(set(boundary.need) - boundary.in_summary)
    return boundary.share(outcome.grounded - boundary.in_summary) / lost if lost > 0 else None


@dataclass(frozen=True, slots=True)
class StandAlone:
    """A brief against the client's summary at the same number of tokens, need recall only."""

    name: str
    budget: int
    brief: Estimate
    brief_grounded: Estimate
    others: dict[str, Estimate]
    whole_summary: Estimate
    whole_summary_tokens: float


def score_stand_alone(run: Run, name: str, budget: int, against: Iterable[str]) -> StandAlone:
    """Need recall (a mention is enough) of a brief and of summaries of the same size."""
    own, alone = compute_scores(run, name, budget), score_summary(run)
    return StandAlone(
        name=name,
        budget=budget,
        brief=own.recall,
        brief_grounded=own.grounded_need,
        others={o: compute_scores(run, o, budget).recall for o in against},
        whole_summary=alone.survival,
        whole_summary_tokens=alone.tokens,
    )


def list_missing(run: Run, name: str, budget: int, examples: int = 8) -> list[MissingKind]:
    """What was needed, lost by the summary and not grounded by a contestant, by kind."""
    needed: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    gone: Counter[str] = Counter()
    weights: dict[str, float] = {}
    seen: dict[str, dict[Entity, float]] = {}
    for boundary in run.boundaries:
        held = boundary.outcomes[name, budget].grounded
        for entity in boundary.need:
            needed[entity.kind] += 1
            if entity in boundary.in_summary:
                continue
            lost[entity.kind] += 1
            if entity in held:
                continue
            gone[entity.kind] += 1
            share = boundary.share([entity])
            weights[entity.kind] = weights.get(entity.kind, 0.0) + share
            shares = seen.setdefault(entity.kind, {})
            shares[entity] = shares.get(entity, 0.0) + share
    count = max(len(run.boundaries), 1)
    return [
        MissingKind(
            kind=kind,
            needed=needed[kind],
            lost=lost[kind],
            missing=gone[kind],
            weight=weights.get(kind, 0.0) / count,
            examples=_heaviest(seen.get(kind, {}), examples),
        )
        for kind in sorted(needed, key=lambda k: (-weights.get(k, 0.0), k))
    ]


def _heaviest(shares: dict[Entity, float], count: int) -> list[str]:
    ranked = sorted(shares.items(), key=lambda s: (-s[1], s[0]))
    return [e.value for e, _ in ranked[:count]]


def estimate_rediscovery(run: Run) -> tuple[Estimate, Estimate]:
    """Repeated look-ups: first calls after the cut, last calls before it."""
    after = estimate_mean([(b.session_id, b.rediscovery_after) for b in run.boundaries])
    before = estimate_mean([(b.session_id, b.rediscovery_before) for b in run.boundaries])
    return after, before
