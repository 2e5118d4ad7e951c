"""The survival benchmark: contestants, runs, tables and charts around `benchmarks.measure`.

    python -m benchmarks.survival DIR

It asks the product as a command and must not import what it measures
(tests/survival_benchmark holds that).
"""

from benchmarks.survival.candidate import Briefer, Candidate, Case
from benchmarks.survival.candidates import CANDIDATES
from benchmarks.survival.runner import BUDGETS, Run, run

__all__ = ["BUDGETS", "CANDIDATES", "Briefer", "Candidate", "Case", "Run", "run"]
