"""What a compaction did: kept, lost, given back, looked up again. Reads what it is given.

Hooks that saw the summary recorded what it carried. Of a compaction before there were hooks the
checkpoint and the summary tell the same, compared here by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from holdfast.brief.gap import TextCoverage, covers_fact, split_covered
from holdfast.state.facts import Fact
from holdfast.state.lookups import Lookup, list_repeated
from holdfast.state.model import State
from holdfast.state.model import list_facts as all_facts
from holdfast.store.protocol import Compaction, Delivery

RESTORING_KINDS = ("brief", "gap")
# A handoff belongs to a start, a notice to nobody's compaction.
_NOT_OF_A_COMPACTION = ("handoff", "notice")

Comparison = Literal["recorded", "afterwards", "no"]


class CompactionReport(NamedTuple):
    comparison: Comparison
    kept: tuple[str, ...]
    lost: tuple[str, ...]
    facts: Mapping[str, Fact]  # by id; what is missing here is gone
    restored: Mapping[str, str]  # lost ids, with what gave them back
    deliveries: tuple[Delivery, ...]
    repeated_lookups: tuple[Lookup, ...]


def build_report(
    compaction: Compaction,
    before: State,
    now: State,
    stored: Iterable[Fact],
    deliveries: Sequence[Delivery],
) -> CompactionReport:
    """`before` is the state at its checkpoint, empty where there is none."""
    compared: Comparison = "recorded"
    kept, lost = compaction.kept, compaction.lost
    if not kept and not lost:
        compared = "no"
        if compaction.summary.strip():
            kept, lost = split_covered(before, compaction.summary)
            compared = "afterwards" if kept or lost else "no"
    given = select_deliveries(compaction, deliveries)
    named = {*kept, *lost, *(name for one in given for name in one.facts)}
    known = {fact.id: fact for fact in stored if fact.id in named}
    # As it was said then, where that is still known.
    known.update((fact.id, fact) for fact in all_facts(before) if fact.id in named)
    return CompactionReport(
        compared,
        kept,
        lost,
        known,
        _find_restored(lost, known, given),
        given,
        tuple(list_repeated(now.lookups, compaction.epoch + 1)),
    )


def select_deliveries(
    compaction: Compaction, deliveries: Iterable[Delivery]
) -> tuple[Delivery, ...]:
    mine = [
        d for d in deliveries if d.epoch == compaction.epoch and d.kind not in _NOT_OF_A_COMPACTION
    ]
    return tuple(sorted(mine, key=lambda one: one.time))


def _find_restored(
    lost: Iterable[str], known: Mapping[str, Fact], given: Iterable[Delivery]
) -> dict[str, str]:
    """By name, or told in its own words."""
    texts = [
        (one.kind, TextCoverage(one.text), set(one.facts))
        for one in given
        if one.kind in RESTORING_KINDS
    ]
    found = {}
    for name in lost:
        by = [
            what
            for what, said, names in texts
            if name in names or (name in known and covers_fact(said, known[name]))
        ]
        if by:
            found[name] = " and ".join(dict.fromkeys(by))
    return found
