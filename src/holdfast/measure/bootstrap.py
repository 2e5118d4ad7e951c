"""Intervals by resampling sessions, since boundaries of one session are not independent.

Owns the one statistic of the benchmark. Seeded, so that the same run gives the same interval.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

ROUNDS = 2000
SEED = 20260


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over boundaries and its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int


def estimate_mean(values: list[tuple[str, float]], rounds: int = ROUNDS) -> Estimate:
    """Macro mean of (session, value) pairs, with an interval over sessions."""
    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    sums: dict[str, tuple[float, int]] = {}
    for session, value in values:
        total, count = sums.get(session, (0.0, 0))
        sums[session] = (total + value, count + 1)
    groups = [sums[s] for s in sorted(sums)]
    mean = sum(v for _, v in values) / len(values)
    chooser = random.Random(SEED)
    means = []
    for _ in range(rounds):
        total, count = 0.0, 0
        for group_total, group_count in chooser.choices(groups, k=len(groups)):
            total += group_total
            count += group_count
        means.append(total / count)
    means.sort()
    last = len(means) - 1
    return Estimate(mean, means[round(0.025 * last)], means[round(0.975 * last)], len(values))
