"""How likely each candidate is to be needed: plain numbers as weights, no library.

Files, commands and identifiers go through a logistic model. Symbols are ranked by their heat
alone: on real compactions neither a logistic model nor boosted trees over thirty features
ranked them better (docs/survival.md has the figures).
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def probability(features: Sequence[float], weights: Sequence[float]) -> float:
    total = 0.0
    for feature, weight in zip(features, weights, strict=True):
        total += feature * weight
    # Beyond these bounds exp() is 0 or overflows, and the answer is certain either way.
    if total < -30:
        return 0.0
    if total > 30:
        return 1.0
    return 1.0 / (1.0 + math.exp(-total))


def warmth(heats: Sequence[float], weights: Sequence[float]) -> float:
    return sum(heat * weight for heat, weight in zip(heats, weights, strict=True))
