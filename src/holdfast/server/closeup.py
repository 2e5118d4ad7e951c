"""What a compaction did: kept, lost, given back, looked up again. Reads what it is given.

Hooks that saw the summary recorded what it carried. Of a compaction before there were hooks the
checkpoint and the summary tell the same, compared here by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from holdfast.brief.gap import Said, carried, carries
from holdfast.state.facts import Fact
from holdfast.state.lookups import Lookup, again_in
from holdfast.state.model import State
from holdfast.state.model import facts as all_facts
from holdfast.store.protocol import Compaction, Delivery

BACK = ("brief", "gap")
# A handoff belongs to a start, a notice to nobody's compaction.
_NOT_OF_ONE = ("handoff", "notice")

Compared = Literal["recorded", "afterwards", "no"]


class CloseUp(NamedTuple):
    compared: Compared
    kept: tuple[str, ...]
    lost: tuple[str, ...]
    facts: Mapping[str, Fact]  # by id; what is missing here is gone
    back: Mapping[str, str]  # lost ids, with what gave them back
    given: tuple[Delivery, ...]
    again: tuple[Lookup, ...]


def close_up(
    compaction: Compaction,
    before: State,
    now: State,
    stored: Iterable[Fact],
    deliveries: Sequence[Delivery],
) -> CloseUp:
    """`before` is the state at its checkpoint, empty where there is none."""
    compared: Compared = "recorded"
    kept, lost = compaction.kept, compaction.lost
    if not kept and not lost:
        compared = "no"
        if compaction.summary.strip():
            kept, lost = carried(before, compaction.summary)
            compared = "afterwards" if kept or lost else "no"
    given = deliveries_of(compaction, deliveries)
    named = {*kept, *lost, *(name for one in given for name in one.facts)}
    known = {fact.id: fact for fact in stored if fact.id in named}
    # As it was said then, where that is still known.
    known.update((fact.id, fact) for fact in all_facts(before) if fact.id in named)
    return CloseUp(
        compared,
        kept,
        lost,
        known,
        _back(lost, known, given),
        given,
        tuple(again_in(now.lookups, compaction.epoch + 1)),
    )


def deliveries_of(compaction: Compaction, deliveries: Iterable[Delivery]) -> tuple[Delivery, ...]:
    mine = [d for d in deliveries if d.epoch == compaction.epoch and d.what not in _NOT_OF_ONE]
    return tuple(sorted(mine, key=lambda one: one.time))


def _back(
    lost: Iterable[str], known: Mapping[str, Fact], given: Iterable[Delivery]
) -> dict[str, str]:
    """By name, or told in its own words."""
    texts = [(one.what, Said(one.text), set(one.facts)) for one in given if one.what in BACK]
    found = {}
    for name in lost:
        by = [
            what
            for what, said, names in texts
            if name in names or (name in known and carries(said, known[name]))
        ]
        if by:
            found[name] = " and ".join(dict.fromkeys(by))
    return found
