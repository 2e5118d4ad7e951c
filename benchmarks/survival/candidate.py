"""Contestants: what a briefer is given, and how it is named.

Owns the contract between the benchmark and anything that writes briefs. A contestant sees the
rows before the cut and nothing else, unless it is registered as seeing more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure.prepared_boundary import PreparedBoundary
from benchmarks.measure.session_files import Row


@dataclass(slots=True)
class Case:
    """One boundary, as a contestant may see it.

    `rows_before` are the raw rows of the main chain before the boundary, in file order; they are
    shared, so they are read and never changed. `scratch` lives as long as the boundary:
    budgets and contestants may share work in it, each under a key of its own.
    """

    session_id: str
    path: str
    boundary_uuid: str
    rows_before: list[Row]
    summary: str | None = None
    future: PreparedBoundary | None = None
    scratch: dict[str, Any] = field(default_factory=dict)


Briefer = Callable[[Case, int], str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A named briefer. It is sent to worker processes, so it is a function of a module."""

    name: str
    brief: Briefer
    wants_summary: bool = False
    wants_future: bool = False
