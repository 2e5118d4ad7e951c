"""Figures of a run: shares, intervals, repositories. It prints nothing.

A share is weight told over weight, summed over units (compactions, planted sessions). Intervals
are 95 %, by resampling sessions, since the compactions of one session are not independent.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

ROUNDS = 2000
SEED = 14


@dataclass(frozen=True, slots=True)
class Unit:
    """One compaction or planted session: what was to be told, and what was."""

    key: str
    session: str
    repo: str
    of: float
    got: float


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval."""

    value: float
    low: float
    high: float
    n: int
    got: float
    of: float


def compute_share(units: Iterable[Unit]) -> Share | None:
    every = list(units)
    of, got = sum(u.of for u in every), sum(u.got for u in every)
    if not of:
        return None
    low, high = _interval(_by_session([(u.session, u.got, u.of, 0.0) for u in every]))
    return Share(got / of, low, high, len(every), got, of)


def compute_difference(ours: Iterable[Unit], theirs: Iterable[Unit]) -> Share | None:
    """How much more of the same units is told, with a paired interval."""
    other = {u.key: u for u in theirs}
    pairs = [(u, other[u.key]) for u in ours if u.key in other]
    of = sum(a.of for a, _ in pairs)
    if not of:
        return None
    groups = _by_session([(a.session, a.got, a.of, b.got) for a, b in pairs])
    low, high = _interval(groups)
    got = sum(a.got - b.got for a, b in pairs)
    return Share(got / of, low, high, len(pairs), got, of)


def _by_session(rows: list[tuple[str, float, float, float]]) -> list[tuple[float, float]]:
    sums: dict[str, tuple[float, float]] = {}
    for session, got, of, less in rows:
        a, b = sums.get(session, (0.0, 0.0))
        sums[session] = (a + got - less, b + of)
    return [sums[s] for s in sorted(sums)]


def _interval(groups: list[tuple[float, float]]) -> tuple[float, float]:
    rng = random.Random(SEED)
    found = []
    for _ in range(ROUNDS):
        drawn = rng.choices(groups, k=len(groups))
        of = sum(d[1] for d in drawn)
        found.append(sum(d[0] for d in drawn) / of if of else 0.0)
    found.sort()
    last = len(found) - 1
    return found[round(0.025 * last)], found[round(0.975 * last)]


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """One repository, and what the figure is without it."""

    repo: str
    n: int
    alone: float
    others: float


def leave_one_out(units: Iterable[Unit]) -> list[LeaveOneOut]:
    """For each repository its own share, and the share over all others."""
    every = list(units)
    found = []
    for repo in sorted({u.repo for u in every}):
        inside = [u for u in every if u.repo == repo]
        outside = [u for u in every if u.repo != repo]
        found.append(LeaveOneOut(repo, len(inside), _plain(inside), _plain(outside)))
    return found


def _plain(units: list[Unit]) -> float:
    of = sum(u.of for u in units)
    return sum(u.got for u in units) / of if of else 0.0
