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
from benchmarks.survival.contest import Contestant
from benchmarks.survival.maps import foresight_map, prototype_map
from benchmarks.survival.rivals import orchestration_brief, preservation_block

SOUP = Contestant("keyword soup", keyword_soup)
SUMMARY_CUT = Contestant("summary, cut to size", summary_cut, wants_summary=True)
SUMMARY_BEST = Contestant(
    "summary, its best part", summary_best_part, wants_summary=True, wants_future=True
)
PROTOTYPE = Contestant("prototype map", prototype_map)
FORESIGHT = Contestant("map with perfect foresight", foresight_map, wants_future=True)

FIELD: tuple[Contestant, ...] = (
    Contestant("Claude-DCM, read generously", orchestration_brief),
    Contestant("last messages", last_messages),
    Contestant("random lines", random_lines),
    Contestant("preservation block", preservation_block),
    Contestant("TF-IDF lines", tfidf_lines),
    Contestant("best cover of dialogue", dialogue_cover),
    SOUP,
    SUMMARY_CUT,
    SUMMARY_BEST,
    PROTOTYPE,
    FORESIGHT,
)


def by_name(name: str) -> Contestant:
    """A contestant of the field; a KeyError names those there are."""
    for contestant in FIELD:
        if contestant.name == name:
            return contestant
    raise KeyError(f"{name!r} is not one of: {', '.join(c.name for c in FIELD)}")
