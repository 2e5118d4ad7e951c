"""What a compaction kept, lost and got back, and what was delivered for it: the one owner.

Every command, the dashboard, `/holdfast:why` and the doctor ask here. Hooks that saw the summary
recorded what it carried; of any other compaction the checkpoint and the summary tell the same,
compared afterwards by the same rules. Where no hook ran, the brief that would have been delivered
is made from the same two, and what it brings back is kept apart from what was restored. What is
counted is what the brief states (`COUNTED_KINDS`); the rest is also known. Must not print, and
must not decide what is delivered.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from holdfast.brief.compose import Brief
from holdfast.brief.contradictions import Contradiction, find_contradictions
from holdfast.brief.gap import TextCoverage, covers_fact, split_covered
from holdfast.brief.hook_texts import compose_restore_brief
from holdfast.brief.role import MAIN_ROLE
from holdfast.records import NamedTuple
from holdfast.session.update import load_state_before
from holdfast.state import EMPTY_STATE, State
from holdfast.state.facts import Fact
from holdfast.state.lookups import Lookup, list_repeated
from holdfast.state.model import KINDS
from holdfast.state.model import list_facts as all_facts
from holdfast.store.protocol import Compaction, Delivery
from holdfast.store.sql_store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Comparison = Literal["recorded", "afterwards", "no"]

# What is delivered for a compaction. A handoff belongs to a start, a notice and a message to none.
RESTORING_KINDS = ("brief", "gap")
COMPACTION_KINDS = (*RESTORING_KINDS, "steering")
MAX_DELIVERIES = 10_000  # more than any session has

# What matters is what the brief states before it chooses anything.
_STATED_SECTIONS = {part.section for part in MAIN_ROLE.parts}
COUNTED_KINDS = frozenset(
    kind.name for kind in KINDS.values() if kind.counted_in in _STATED_SECTIONS
)


class CompactionReport(NamedTuple):
    compaction: Compaction
    comparison: Comparison  # of its summary with what was known
    kept: tuple[str, ...]  # ids of what matters that the summary tells
    lost: tuple[str, ...]  # and that it does not
    also_kept: tuple[str, ...]  # looked for too, and not counted: files, addresses, failures ...
    also_lost: tuple[str, ...]
    facts: Mapping[str, Fact]  # by id; what is missing here is gone
    restored: Mapping[str, str]  # lost ids, with what gave them back
    deliveries: tuple[Delivery, ...]  # the first one first
    repeated_lookups: tuple[Lookup, ...]
    would_deliver: Brief | None  # where no hook ran: the brief that one would have given
    would_restore: frozenset[str]  # lost ids that this brief tells

    @property
    def also_known(self) -> tuple[str, ...]:
        return (*self.also_kept, *self.also_lost)

    @property
    def lost_facts(self) -> list[Fact]:
        """Those that are still known, by kind and then in their order."""
        found = [self.facts[name] for name in self.lost if name in self.facts]
        order = [*KINDS]
        return sorted(found, key=lambda fact: order.index(fact.kind))


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
        would = compose_restore_brief(before, before.session.updated, left=compaction.summary)
    named = {*kept, *lost, *(name for one in given for name in one.facts)}
    known = {fact.id: fact for fact in stored if fact.id in named}
    # As it was said then, where that is still known.
    known.update((fact.id, fact) for fact in all_facts(before) if fact.id in named)
    kept, also_kept = _split_counted(kept, known)
    lost, also_lost = _split_counted(lost, known)
    return CompactionReport(
        compaction,
        comparison,
        kept,
        lost,
        also_kept,
        also_lost,
        known,
        find_restored(lost, known, given),
        given,
        tuple(list_repeated(now.lookups, compaction.epoch + 1)),
        would,
        frozenset(_find_covered(lost, known, would.text, would.fact_ids)) if would else frozenset(),
    )


def find_wrong(before: State, summary: str) -> list[Contradiction]:
    """What a summary says that is known to be otherwise, by the state before it and the disk."""
    folders = [folder for folder in before.session.folders if os.path.isdir(folder)]

    def is_absent(path: str) -> bool:
        return not any(os.path.exists(os.path.join(folder, path)) for folder in folders)

    return find_contradictions(before, summary, is_absent if folders else None)


def _split_counted(
    names: Iterable[str], known: Mapping[str, Fact]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that count, and the others; of what is no longer stored nobody can say that it does
    not count."""
    names = tuple(names)
    other = [name for name in names if name in known and known[name].kind not in COUNTED_KINDS]
    return tuple(name for name in names if name not in other), tuple(other)


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
