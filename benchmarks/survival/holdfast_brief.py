"""The product's brief as a contestant: the text of `holdfast brief FILE --compactions`.

Asked in a process of its own, once for each file and size. Worker processes import it by name.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from benchmarks.quality.product_command import Product, find_product, run_briefs
from benchmarks.survival.candidate import Candidate, Case


@lru_cache(maxsize=1)
def _product() -> Product:
    return find_product()


@lru_cache(maxsize=64)
def _texts(path: str, max_chars: int) -> dict[str, str]:
    rows = run_briefs(_product(), Path(path), (max_chars,), trace=False)
    return {str(row["boundary_uuid"]): str(row["text"]) for row in rows}


def holdfast_brief(case: Case, max_chars: int) -> str:
    """Empty where only another copy of the transcript holds the boundary."""
    return _texts(case.path, max_chars).get(case.boundary_uuid, "")


HOLDFAST = Candidate("Holdfast", holdfast_brief)
