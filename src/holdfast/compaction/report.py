"""What a compaction kept, lost and got back, and what was delivered for it: the one owner.

Every command, the dashboard, `/holdfast:why` and the doctor ask here. Hooks that saw the summary
recorded what it carried; of any other compaction the checkpoint and the summary tell the same,
compared afterwards by the same rules. Where no hook ran, the brief that would have been delivered
is made from the same two, and what it brings back is kept apart from what was restored. Must not
print, and must not decide what is delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from holdfast.brief.compose import Brief
from holdfast.brief.coverage import TextCoverage, covers_fact
from holdfast.brief.gap import split_covered
from holdfast.brief.hook_texts import compose_restore_brief
from holdfast.session.update import load_state_before
from holdfast.state import EMPTY_STATE, State
from holdfast.state.facts import KINDS, Fact
from holdfast.state.lookups import Lookup, list_repeated
from holdfast.state.model import list_facts as all_facts
from holdfast.store.protocol import Compaction, Delivery, Store

# What is delivered for a compaction. A handoff belongs to a start, a notice and a message to none.
RESTORING_KINDS = ("brief", "gap")
COMPACTION_KINDS = (*RESTORING_KINDS, "steering")
MAX_DELIVERIES = 10_000  # more than any session has

Comparison = Literal["recorded", "afterwards", "no"]


class CompactionReport(NamedTuple):
    compaction: Compaction
    comparison: Comparison
    kept: tuple[str, ...]
    lost: tuple[str, ...]
    facts: Mapping[str, Fact]  # by id; what is missing here is gone
    restored: Mapping[str, str]  # lost ids, with what gave them back
    deliveries: tuple[Delivery, ...]  # the first one first
    repeated_lookups: tuple[Lookup, ...]
    would_deliver: Brief | None  # where no hook ran: the brief that one would have given
    would_restore: frozenset[str]  # lost ids that this brief tells

    @property
    def lost_facts(self) -> list[Fact]:
        """Those that are still known, by kind and then in their order."""
        found = [self.facts[name] for name in self.lost if name in self.facts]
        return sorted(found, key=lambda fact: KINDS.index(fact.kind))


def is_observed(compaction: Compaction) -> bool:
    """Whether the hooks saw its summary and recorded what it carried."""
    return bool(compaction.kept or compaction.lost)


def load_report(
    store: Store, compaction: Compaction, deliveries: Sequence[Delivery] | None = None
) -> CompactionReport:
    session_id = compaction.session_id
    if deliveries is None:
        deliveries = store.deliveries(session_id, MAX_DELIVERIES)
    before = load_state_before(store, compaction)
    return build_report(compaction, before, store.facts(session_id), deliveries)


def load_counts(
    store: Store, compaction: Compaction, deliveries: Sequence[Delivery]
) -> CompactionReport:
    """A report for tables of many: without the stored facts. What was restored is then known by
    the ids of a delivery alone; what would have been, as in a full report."""
    before = EMPTY_STATE if is_observed(compaction) else load_state_before(store, compaction)
    return build_report(compaction, before, (), deliveries)


def build_report(
    compaction: Compaction,
    before: State,
    stored: Iterable[Fact],
    deliveries: Iterable[Delivery],
    now: State = EMPTY_STATE,
) -> CompactionReport:
    """`before` is the state at its checkpoint, empty where there is none; `now` is the latest."""
    comparison: Comparison = "recorded"
    kept, lost = compaction.kept, compaction.lost
    if not is_observed(compaction):
        if compaction.summary.strip():
            kept, lost = split_covered(before, compaction.summary)
        comparison = "afterwards" if kept or lost else "no"
    given = select_deliveries(compaction, deliveries)
    would = None
    if comparison == "afterwards" and not select_restoring(given):
        would = compose_restore_brief(before, before.session.updated, summary=compaction.summary)
    named = {*kept, *lost, *(name for one in given for name in one.facts)}
    known = {fact.id: fact for fact in stored if fact.id in named}
    # As it was said then, where that is still known.
    known.update((fact.id, fact) for fact in all_facts(before) if fact.id in named)
    return CompactionReport(
        compaction,
        comparison,
        kept,
        lost,
        known,
        find_restored(lost, known, given),
        given,
        tuple(list_repeated(now.lookups, compaction.epoch + 1)),
        would,
        frozenset(_find_covered(lost, known, would.text, would.fact_ids)) if would else frozenset(),
    )


def select_deliveries(
    compaction: Compaction, deliveries: Iterable[Delivery]
) -> tuple[Delivery, ...]:
    """What was delivered for this compaction, the first one first."""
    key = (compaction.session_id, compaction.epoch)
    mine = [d for d in deliveries if (d.session_id, d.epoch) == key and d.kind in COMPACTION_KINDS]
    return tuple(sorted(mine, key=lambda one: one.time))


def select_restoring(deliveries: Iterable[Delivery]) -> list[Delivery]:
    """Those that gave something back to the agent; steering goes to the summariser."""
    return [one for one in deliveries if one.kind in RESTORING_KINDS]


def find_restored(
    names: Iterable[str], known: Mapping[str, Fact], given: Iterable[Delivery]
) -> dict[str, str]:
    """Of these ids, those that a brief or a gap named or tells in its words, with which did."""
    names = tuple(names)
    found: dict[str, list[str]] = {}
    for one in select_restoring(given):
        for name in _find_covered(names, known, one.text, one.facts):
            found.setdefault(name, []).append(one.kind)
    return {name: " and ".join(dict.fromkeys(found[name])) for name in names if name in found}


def _find_covered(
    names: Iterable[str], known: Mapping[str, Fact], text: str, ids: Iterable[str]
) -> list[str]:
    """Of these ids, those that a text names or tells in its words."""
    said, listed = TextCoverage(text), frozenset(ids)
    return [
        name
        for name in names
        if name in listed or (name in known and covers_fact(said, known[name]))
    ]
