"""The survival benchmark: what a compaction loses, and what a brief brings back.

Everything here reads raw transcript rows by itself. It must not import the product's own
extraction (state, clients, brief): the judge has to be able to disagree with the judged.
"""

from holdfast.survival.contest import Briefer, Case, Contestant
from holdfast.survival.field import FIELD
from holdfast.survival.run import BUDGETS, Run, run

__all__ = ["BUDGETS", "FIELD", "Briefer", "Case", "Contestant", "Run", "run"]
