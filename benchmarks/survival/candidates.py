"""The field: every contestant that comes with the benchmark, by name.

Owns the list and its order in tables. The product's brief is added by the caller.
"""

from __future__ import annotations

from benchmarks.survival.baselines import (
    dialogue_cover,
    keyword_soup,
    last_messages,
    random_lines,
    summary_best_part,
    summary_cut,
    tfidf_lines,
)
from benchmarks.survival.candidate import Candidate
from benchmarks.survival.prior_art import orchestration_brief, preservation_block
from benchmarks.survival.reference_maps import foresight_map, prototype_map

KEYWORD_SOUP = Candidate("keyword soup", keyword_soup)
SUMMARY_CUT = Candidate("summary, cut to size", summary_cut, wants_summary=True)
SUMMARY_BEST = Candidate(
    "summary, its best part", summary_best_part, wants_summary=True, wants_future=True
)
PROTOTYPE = Candidate("prototype map", prototype_map)
FORESIGHT = Candidate("map with perfect foresight", foresight_map, wants_future=True)

CANDIDATES: tuple[Candidate, ...] = (
    Candidate("Claude-DCM, read generously", orchestration_brief),
    Candidate("last messages", last_messages),
    Candidate("random lines", random_lines),
    Candidate("preservation block", preservation_block),
    Candidate("TF-IDF lines", tfidf_lines),
    Candidate("best cover of dialogue", dialogue_cover),
    KEYWORD_SOUP,
    SUMMARY_CUT,
    SUMMARY_BEST,
    PROTOTYPE,
    FORESIGHT,
)


def find_candidate(name: str) -> Candidate:
    """A contestant of the field; a KeyError names those there are."""
    for candidate in CANDIDATES:
        if candidate.name == name:
            return candidate
    raise KeyError(f"{name!r} is not one of: {', '.join(c.name for c in CANDIDATES)}")
