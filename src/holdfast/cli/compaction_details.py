"""What a compaction did and what was done about it, as documents that `status` and `compactions`
share. Reads the store it is given; prints nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.state.facts import KINDS

if TYPE_CHECKING:
    from holdfast.state.facts import Fact
    from holdfast.store.protocol import Compaction, Delivery
    from holdfast.store.sqlite.store import SqliteStore

# More of one session than any table shows.
MAX_ROWS = 10_000
# A brief may cut a long text: its beginning is enough to know it by.
MATCH_CHARS = 80


def store_exists() -> bool:
    """Before the first session with hooks there is no store, and that is no trouble."""
    from holdfast.paths import store_path

    return os.path.exists(store_path())


def compaction_to_json(compaction: Compaction, given: Iterable[Delivery]) -> dict[str, Any]:
    """Counts and deliveries of one compaction; None where the hooks did not see it happen."""
    judged = bool(compaction.kept or compaction.lost)
    return {
        "session": compaction.session_id,
        "number": compaction.epoch + 1,
        "time": compaction.time,
        "trigger": compaction.trigger,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "kept": len(compaction.kept) if judged else None,
        "lost": len(compaction.lost) if judged else None,
        "in_transcript": bool(compaction.row),
        "delivered": [delivery_to_json(delivery) for delivery in given],
    }


def delivery_to_json(delivery: Delivery) -> dict[str, Any]:
    return {
        "what": delivery.kind,
        "road": delivery.channel,
        "time": delivery.time,
        "characters": len(delivery.text),
        "facts": list(delivery.facts),
    }


def select_deliveries(
    compaction: Compaction, deliveries: Iterable[Delivery], *, oldest_first: bool = True
) -> list[Delivery]:
    """What was handed over for one compaction. A handoff belongs to a start, not to one."""
    key = (compaction.session_id, compaction.epoch)
    found = [
        d
        for d in deliveries
        if (d.session_id, d.epoch) == key and d.kind.partition(":")[0] not in _NOT_OF_A_COMPACTION
    ]
    return sorted(found, key=lambda d: d.time) if oldest_first else found


_NOT_OF_A_COMPACTION = ("handoff", "notice", "message")


def find_facts(store: SqliteStore, session: str, names: Iterable[str]) -> list[Fact]:
    """The facts of these ids that are still known, by kind and then in their order."""
    wanted = set(names)
    found = [fact for fact in store.facts(session) if fact.id in wanted]
    return sorted(found, key=lambda fact: KINDS.index(fact.kind))


def find_restored(lost: Iterable[Fact], given: Iterable[Delivery]) -> set[str]:
    """Ids of the lost facts that a brief or a gap named, or told in their own words."""
    texts = [delivery for delivery in given if delivery.kind in ("brief", "gap")]
    named = {name for delivery in texts for name in delivery.facts}
    words = "\n".join(" ".join(delivery.text.split()) for delivery in texts)
    return {
        fact.id
        for fact in lost
        if fact.id in named or " ".join(fact.text.split())[:MATCH_CHARS] in words
    }


def count_by_kind(facts: Sequence[Fact]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.kind] = counts.get(fact.kind, 0) + 1
    return counts


def format_tokens(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def pluralize(count: int, word: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count:,} {word.replace('_', ' ')}" + ("" if count == 1 else "s")


def format_deliveries(delivered: Iterable[dict[str, Any]]) -> str:
    """`brief by SessionStart`, for each; "nothing" for none."""
    return ", ".join(f"{d['what']} by {d['road']}" for d in delivered) or "nothing"
