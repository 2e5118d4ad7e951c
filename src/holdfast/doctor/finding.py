"""What a check found: how bad, in plain words, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

OK = "ok"
WARN = "warn"
FAIL = "fail"
LEVELS = (OK, WARN, FAIL)


class Finding(NamedTuple):
    check: str
    level: str
    message: str
    next_step: str = ""
    details: tuple[str, ...] = ()
    # The repair that `holdfast doctor --fix` has for it: see `repair.REPAIRS`.
    repair: str = ""


def worst_level(findings: Iterable[Finding]) -> str:
    return max((finding.level for finding in findings), key=LEVELS.index, default=OK)
