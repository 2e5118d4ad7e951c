"""What Holdfast does at each event of a session: the one place that knows.

Each function takes the store, the session's directory and what the client said, and answers what to
say. Surfaces read payloads, print, and decide what may run after the client was let go; they
add nothing to what happens here. `store` is None when it cannot be used: then what the
transcript itself tells still reaches the agent, and nothing is kept.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from holdfast import retention
from holdfast.brief import prebuilt
from holdfast.brief.compose import Brief
from holdfast.brief.gap import compose_gap, split_covered
from holdfast.brief.steering import compose_steering
from holdfast.clock import DAY_SECONDS, Timestamp, format_timestamp
from holdfast.compaction import instructions
from holdfast.compaction.active_commands import registry
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import PrebuiltText, SessionDir
from holdfast.session import context_usage, documents, pending_input
from holdfast.session.update import (
    SessionContext,
    SessionSnapshot,
    redact_text,
    save_checkpoint,
    update_session,
)
from holdfast.state import State
from holdfast.store.protocol import Compaction, Delivery, Store

# On the agent's clock; behind it there is no hurry, and the client allows a minute.
FOREGROUND_SECONDS = 4.0
BACKGROUND_SECONDS = 45.0
PRECOMPACT_CHANNEL = "PreCompact"
MAX_SUMMARY_CHARS = 60_000  # characters of a summary that are kept and compared
ARCHIVE_PIECE_BYTES = 8 * 1024 * 1024


class SessionView(NamedTuple):
    """What is known, and the same with what payloads said on top: the one for showing."""

    snapshot: SessionSnapshot
    display: State


def on_progress(
    store: Store | None,
    session_dir: SessionDir,
    ctx: SessionContext,
    now: Timestamp,
    *,
    last_words: str = "",
    client: int,
) -> None:
    """A tool batch or a turn ended: keep what is new and prepare for what may come."""
    view = _load_view(store, session_dir, ctx, now, BACKGROUND_SECONDS, last_words)
    context_usage.check_context_usage(store, session_dir, ctx, now, view.snapshot, view.display)
    shown = documents.update_documents(
        store, session_dir, ctx, view.snapshot, view.display, now.text
    )
    _prebuild_brief(session_dir, ctx, SessionView(view.snapshot, shown), now)
    _update_handoff_offer(session_dir, ctx, view.snapshot, now, client)


def on_precompact(
    store: Store | None, session_dir: SessionDir, ctx: SessionContext, now: Timestamp, trigger: str
) -> str:
    """Text for the summariser. May come often, early, and without a compaction after it."""
    with suppress(OSError):  # no space for the mark: the brief is made without the summary
        session_dir.begin_compaction()
    view = _load_view(store, session_dir, ctx, now, FOREGROUND_SECONDS)
    save_checkpoint(store, view.snapshot, f"precompact:{trigger or 'unknown'}", now.text)
    shown = documents.update_before_compaction(
        session_dir, ctx, view.snapshot, view.display, now.text, trigger
    )
    view = SessionView(view.snapshot, shown)
    _prebuild_brief(session_dir, ctx, view, now)
    # What was open at the start of a long history may be long done.
    text = _compose_steering(session_dir, ctx, view) if view.snapshot.is_complete else ""
    text = instructions.append_instructions(text, ctx)
    epoch = view.snapshot.followed.state.position.epoch
    if text:
        _record_delivery(
            store, Delivery(ctx.session_id, epoch, "steering", PRECOMPACT_CHANNEL, now.text, text)
        )
    return text


def archive_rows(
    store: Store, ctx: SessionContext, now: Timestamp, tracked_until: tuple[int, int]
) -> None:
    """Archive the transcript's rows up to what was tracked, redacted, in pieces."""
    from holdfast.redact import redact_bytes

    generation, end = tracked_until
    start = store.archived_until(ctx.session_id, generation)
    if start >= end:
        return  # nothing is new; where nothing was tracked, there may be no file at all
    with open(ctx.transcript, "rb") as transcript:
        transcript.seek(start)
        while start < end:
            rows = transcript.read(min(ARCHIVE_PIECE_BYTES, end - start))
            if start + len(rows) < end:
                rows += transcript.readline()
            if not rows:
                return
            store.archive(
                ctx.session_id, generation, start, start + len(rows), redact_bytes(rows), now.text
            )
            start += len(rows)


def on_summary_written(
    store: Store | None, session_dir: SessionDir, ctx: SessionContext, now: Timestamp, summary: str
) -> None:
    """The summary is known and not yet in use: prepare the brief that SessionStart will ask for.

    Nothing is delivered here. Where this does not come to its end, or the client has no such
    moment, the brief made without the summary stands, and PostCompact tells what is missing.
    """
    there = session_dir.read_brief()
    summary = redact_text(summary[:MAX_SUMMARY_CHARS])
    if not summary.strip() or (
        there is not None and session_dir.is_held_by_module(f"delivered.{there.epoch}")
    ):
        return
    view = _load_view(store, session_dir, ctx, now, FOREGROUND_SECONDS)
    epoch = view.snapshot.followed.state.position.epoch
    known = PrebuiltText(epoch, *view.snapshot.followed.revision, now.text, "", summary)
    with suppress(OSError):  # no space: as above
        if session_dir.save_summary(known) and view.snapshot.is_complete:
            session_dir.save_restored_brief(
                _brief_against_summary(session_dir, ctx, view, now, summary)
            )


def on_session_start_compact(
    store: Store | None, session_dir: SessionDir, ctx: SessionContext, now: Timestamp
) -> PrebuiltText | None:
    """The brief to deliver now, made from the present; None when another delivers it."""
    view = _load_view(store, session_dir, ctx, now, FOREGROUND_SECONDS)
    summary = _current_summary(session_dir, view)
    if summary and view.snapshot.is_complete:
        made: PrebuiltText | None = _brief_against_summary(session_dir, ctx, view, now, summary)
    else:
        made = _prebuild_brief(session_dir, ctx, view, now)
    if made is None or not session_dir.claim_brief(made, now.seconds):
        return None
    return made


def on_postcompact(
    store: Store | None,
    session_dir: SessionDir,
    ctx: SessionContext,
    now: Timestamp,
    *,
    trigger: str,
    summary: str,
) -> None:
    """The compaction is over and its summary is known: what did it lose?"""
    spooled = _drain_spool(store, session_dir, ctx, now)
    kept = update_session(store, ctx, seconds=FOREGROUND_SECONDS)
    state = pending_input.apply_prompts(
        kept.followed.state, pending_input.list_unconfirmed_prompts(spooled, kept.followed)
    )
    state = documents.overlay_documents(session_dir, ctx, kept.session, state)
    epoch = _ended_epoch(session_dir, state)
    session_dir.end_compaction()
    summary = redact_text(summary[:MAX_SUMMARY_CHARS])
    # Without a summary (somebody replaced the history) there is nothing to compare with.
    told, lost = split_covered(state, summary) if summary.strip() else ((), ())
    _record_compaction(
        store,
        Compaction(ctx.session_id, epoch, now.text, trigger, summary=summary, kept=told, lost=lost),
    )
    delivered = _delivered_text(store, spooled, ctx, epoch)
    # Latched after the store has had its say: without it this moment is lived again.
    if not session_dir.latch(f"verified.{epoch}", now.seconds):
        return
    context_usage.clear_warnings(session_dir)
    # One left over from an earlier compaction: the brief has told all of it.
    session_dir.delete_gap()
    gap = compose_gap(state, summary, delivered, ctx.config.settings.number("gap_chars"))
    if gap.text and lost and kept.is_complete:
        facts = ",".join(gap.fact_ids)
        generation, offset = kept.followed.revision
        session_dir.write_gap(PrebuiltText(epoch, generation, offset, now.text, facts, gap.text))
    session_dir.delete_old_latches(epoch)


def on_session_resume(
    store: Store | None, session_dir: SessionDir, ctx: SessionContext, now: Timestamp, client: int
) -> None:
    if store is not None and store.session(ctx.session_id) is not None:
        store.end_session(ctx.session_id, "")
    on_progress(store, session_dir, ctx, now, client=client)


def on_session_end(
    store: Store | None, session_dir: SessionDir, ctx: SessionContext, now: Timestamp, client: int
) -> None:
    view = _load_view(store, session_dir, ctx, now, BACKGROUND_SECONDS)
    save_checkpoint(store, view.snapshot, "end", now.text)
    try:
        documents.update_at_session_end(
            store, session_dir, ctx, view.snapshot, view.display, now.text
        )
        _update_handoff_offer(session_dir, ctx, view.snapshot, now, client)
        handoff_offers.delete_expired_offers(
            session_dir.data_dir, _project_of(view.snapshot), now.seconds
        )
        _prune_old_sessions(store, session_dir, ctx, now)
    finally:
        # Last: whoever sees the session ended may rely on all of the above.
        if store is not None and store.session(ctx.session_id) is not None:
            store.end_session(ctx.session_id, now.text)


def _load_view(
    store: Store | None,
    session_dir: SessionDir,
    ctx: SessionContext,
    now: Timestamp,
    seconds: float,
    last_words: str = "",
) -> SessionView:
    spooled = _drain_spool(store, session_dir, ctx, now)
    kept = update_session(store, ctx, seconds=seconds)
    state = kept.followed.state
    waiting = pending_input.list_unconfirmed_prompts(spooled, kept.followed)
    shown = pending_input.apply_commands(pending_input.apply_prompts(state, waiting), spooled)
    if last_words:
        shown = pending_input.apply_last_message(shown, last_words, now.text)
    return SessionView(kept, documents.overlay_documents(session_dir, ctx, kept.session, shown))


def _drain_spool(
    store: Store | None, session_dir: SessionDir, ctx: SessionContext, now: Timestamp
) -> pending_input.SpooledInput:
    lines = session_dir.drain_spool(now.seconds, forget=store is not None)
    spooled = pending_input.parse_spool(lines, ctx.session_id)
    for delivery in spooled.deliveries:
        _record_delivery(store, delivery)
    return spooled


def _record_delivery(store: Store | None, delivery: Delivery) -> None:
    if store is not None:
        store.record_delivery(delivery)


def _record_compaction(store: Store | None, compaction: Compaction) -> None:
    if store is not None:
        store.record_compaction(compaction)


def _compose_steering(session_dir: SessionDir, ctx: SessionContext, view: SessionView) -> str:
    most = ctx.config.settings.number("steering_chars")
    text = compose_steering(view.display, most) if most else ""
    in_force = registry.describe_for_summariser(view.display, session_dir, ctx) if most else ""
    return f"{text}\n{in_force}" if text and in_force else text or in_force


def _prune_old_sessions(
    store: Store | None, session_dir: SessionDir, ctx: SessionContext, now: Timestamp
) -> None:
    """What the user no longer wants kept goes when a session ends: nobody waits then."""
    days = ctx.config.settings.number("retention_days")
    if store is None or not days:
        return
    before = format_timestamp(now.seconds - days * DAY_SECONDS)
    keep = ctx.config.settings.number("retention_checkpoints")
    retention.prune_by_age(store, session_dir.data_dir, before=before, keep=keep)


def _prebuild_brief(
    session_dir: SessionDir, ctx: SessionContext, view: SessionView, now: Timestamp
) -> PrebuiltText | None:
    """The brief for the next compaction, in the session's directory; None when nothing is known.

    Another hook's brief stands where it knows more, and where we only know the beginning.
    """
    generation, offset = view.snapshot.followed.revision
    there = session_dir.read_brief()
    ahead = there is not None and there.generation == generation and there.offset > offset
    if ahead or not view.snapshot.is_complete:
        return there
    made = _compose_brief(session_dir, ctx, view, now)
    if not made.text:
        return None
    epoch = view.snapshot.followed.state.position.epoch
    prepared = PrebuiltText(epoch, generation, offset, now.text, ",".join(made.fact_ids), made.text)
    with suppress(OSError):  # nowhere to keep it: the hook that delivers makes it anew
        session_dir.write_brief(prepared)
    return prepared


def _brief_against_summary(
    session_dir: SessionDir, ctx: SessionContext, view: SessionView, now: Timestamp, summary: str
) -> PrebuiltText:
    """The brief that leaves out what the summary tells; its text may be empty."""
    made = _compose_brief(session_dir, ctx, view, now, summary)
    epoch = view.snapshot.followed.state.position.epoch
    return PrebuiltText(
        epoch, *view.snapshot.followed.revision, now.text, ",".join(made.fact_ids), made.text
    )


def _current_summary(session_dir: SessionDir, view: SessionView) -> str:
    """The summary of the compaction that is ending; "" where it is not known."""
    found = session_dir.read_summary()
    # The row that ends the epoch may or may not be on disk yet.
    epoch = view.snapshot.followed.state.position.epoch
    return found.text if found is not None and epoch - 1 <= found.epoch <= epoch else ""


def _compose_brief(
    session_dir: SessionDir,
    ctx: SessionContext,
    view: SessionView,
    now: Timestamp,
    summary: str = "",
) -> Brief:
    """The state and the rules in force, in what the client shows of one hook.

    Rules go before all but the core of the state; what the state leaves free is theirs as well.
    """
    most = ctx.config.settings.number("brief_chars")
    rules = registry.compose_active_rules(
        view.display, session_dir, ctx, prebuilt.MAX_HOOK_CHARS - prebuilt.MIN_STATE_CHARS
    )
    made = prebuilt.compose_restore_brief(view.display, now.text, most, rules, summary)
    left = prebuilt.MAX_HOOK_CHARS - len(made.text)
    if rules and left > prebuilt.MIN_SPARE_CHARS:
        more = registry.compose_active_rules(view.display, session_dir, ctx, len(rules) + left)
        if len(more) > len(rules):
            made = prebuilt.compose_restore_brief(view.display, now.text, most, more, summary)
    return made


def _update_handoff_offer(
    session_dir: SessionDir, ctx: SessionContext, kept: SessionSnapshot, now: Timestamp, client: int
) -> None:
    state, place = kept.followed.state, _project_of(kept)
    if not ctx.config.settings.flag("handoff") or not prebuilt.is_unfinished(state):
        handoff_offers.delete_offer(session_dir.data_dir, place, kept.session.id)
        return
    generation, offset = kept.followed.revision
    text = prebuilt.compose_handoff_offer(state, kept.session.id)
    days = str(ctx.config.settings.number("handoff_days"))
    made = PrebuiltText(state.position.epoch, generation, offset, now.text, days, text)
    page = documents.handoff_path(session_dir, ctx, kept.session)
    with suppress(OSError):  # nowhere to keep it: nothing is offered
        handoff_offers.save_offer(session_dir.data_dir, place, kept.session.id, client, made, page)


def _project_of(kept: SessionSnapshot) -> tuple[str, str]:
    return kept.session.project, kept.session.worktree


def _ended_epoch(session_dir: SessionDir, state: State) -> int:
    """The epoch that the compaction ended: its boundary row may or may not be on disk yet."""
    epoch = state.position.epoch
    before = epoch - 1
    if (
        epoch
        and session_dir.latched(f"delivered.{before}")
        and not session_dir.latched(f"delivered.{epoch}")
        and not session_dir.latched(f"verified.{before}")
    ):
        return before
    return epoch


def _delivered_text(
    store: Store | None, spooled: pending_input.SpooledInput, ctx: SessionContext, epoch: int
) -> str:
    known = [*spooled.deliveries, *(store.deliveries(ctx.session_id, 20) if store else ())]
    return "\n".join(d.text for d in known if d.epoch == epoch and d.kind == "brief")
