"""The survival benchmark: contestants, runs, tables and charts around `holdfast.survival`.

    python -m benchmarks.survival DIR

It asks the product as a command and must not import what it measures (tests/survival holds that).
"""

from benchmarks.survival.contest import Briefer, Case, Contestant
from benchmarks.survival.field import FIELD
from benchmarks.survival.run import BUDGETS, Run, run

__all__ = ["BUDGETS", "FIELD", "Briefer", "Case", "Contestant", "Run", "run"]
