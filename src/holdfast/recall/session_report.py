"""What Holdfast did for a session: what it saved, what it restored, and why.

Text from the store alone, short enough for a line under a prompt or an answer in a chat.
"""

from __future__ import annotations

from collections import Counter

from holdfast.clock import format_minute_utc
from holdfast.compaction.report import CompactionReport, load_report
from holdfast.state.facts import OPEN, Fact, count_kind
from holdfast.store.protocol import Store

DELIVERY_LABELS = {
    "brief": "state restored",
    "gap": "what the summary lost, restored",
    "steering": "facts given to the summariser",
}
MAX_QUOTE_CHARS = 4_000
MAX_LOST_SHOWN = 40


def format_session_report(store: Store | None, session_id: str, mode: str = "") -> str:
    """A few lines: what is kept, and what came of the last compaction."""
    if store is None:
        return "Holdfast: the store cannot be used; run `holdfast doctor` to see why."
    saved = store.session(session_id)
    if saved is None:
        return "Holdfast: nothing is saved for this session yet."
    kinds = Counter(f.kind for f in store.facts(saved.id, status=OPEN))
    lines = [
        f"Holdfast keeps {sum(kinds.values())} open facts of this session: {_format_counts(kinds)}."
    ]
    checkpoints = store.checkpoints(saved.id)
    if checkpoints:
        lines.append(
            f"Last checkpoint: {format_minute_utc(checkpoints[0].time)} ({checkpoints[0].cause})."
        )
    compactions = store.compactions(saved.id, 1)
    if compactions:
        lines.append(_format_compaction(load_report(store, compactions[0])))
    else:
        lines.append("No compactions yet.")
    if mode:
        lines.append(f"At the next one: {mode}.")
    return "\n".join(lines)


def explain_last_compaction(store: Store, session_id: str) -> str:
    """What was restored at the last compaction, and why each fact was."""
    saved = store.session(session_id)
    latest = store.compactions(saved.id, 1) if saved else ()
    if saved is None or not latest:
        return "No known compaction of this session."
    report = load_report(store, latest[0])
    lines = [_format_compaction(report)]
    for fact in report.lost_facts[:MAX_LOST_SHOWN]:
        shown = " ".join(fact.text.split())[:160]
        outcome = f"not in the summary, {_describe_outcome(report, fact)}"
        lines.append(f"- [{fact.id}] {fact.kind}, {outcome}: {shown}")
    for delivery in report.deliveries:
        lines += [f"\n{DELIVERY_LABELS.get(delivery.kind, delivery.kind)} by {delivery.channel}:"]
        lines.append(delivery.text[:MAX_QUOTE_CHARS])
    return "\n".join(lines)


def _describe_outcome(report: CompactionReport, fact: Fact) -> str:
    if by := report.restored.get(fact.id):
        return f"restored by the {by}"
    return "would have been restored" if fact.id in report.would_restore else "not restored"


def _format_compaction(report: CompactionReport) -> str:
    compaction = report.compaction
    told = [
        f"{DELIVERY_LABELS.get(d.kind, d.kind)} ({d.channel}, {len(d.text):,} characters)"
        for d in report.deliveries
    ]
    checked = len(report.kept) + len(report.lost)
    verdict = (
        f"; its summary kept {len(report.kept)} of {checked} facts that must not be lost"
        if checked
        else ""
    )
    done = "; ".join(told) or "nothing was restored"
    if report.would_deliver and report.lost:
        done += f" (no hook ran; it would have been {len(report.would_restore)} of those lost)"
    return (
        f"Last compaction: {format_minute_utc(compaction.time)} ({compaction.trigger or 'unknown'})"
        f"{verdict}; {done}."
    )


def _format_counts(kinds: Counter[str]) -> str:
    shown = [count_kind(count, kind) for kind, count in kinds.most_common(6)]
    return ", ".join(shown) or "none"
