"""The field: every contestant that comes with the benchmark, by name.

Owns the list and its order in tables. The product's brief is added by the caller.
"""

from __future__ import annotations

from holdfast.survival.contest import Contestant
from holdfast.survival.maps import foresight_map, prototype_map

PROTOTYPE = Contestant("prototype map", prototype_map)
FORESIGHT = Contestant("map with perfect foresight", foresight_map, wants_future=True)

FIELD: tuple[Contestant, ...] = (PROTOTYPE, FORESIGHT)


def by_name(name: str) -> Contestant:
    """A contestant of the field; a KeyError names those there are."""
    for contestant in FIELD:
        if contestant.name == name:
            return contestant
    raise KeyError(f"{name!r} is not one of: {', '.join(c.name for c in FIELD)}")
