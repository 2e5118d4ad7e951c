"""What Holdfast does at each event of a session: the one place that knows.

Each function takes the context and what the client said, and answers what to say. Surfaces read
payloads, print, and decide what may run after the client was let go; they add nothing to what
happens here. Without a store, what the transcript itself tells still reaches the agent, and
nothing is kept.
"""

from contextlib import suppress
from typing import Any, NamedTuple

from holdfast import retention
from holdfast.brief import hook_texts
from holdfast.brief.compose import Brief
from holdfast.brief.gap import compose_gap, split_covered
from holdfast.brief.hook_texts import STEERING_TITLE, compose_steering
from holdfast.clients.client_protocol import LeftInContext
from holdfast.clock import DAY_SECONDS, format_timestamp
from holdfast.compaction import instructions
from holdfast.compaction.active_commands import registry
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.delivery import (
    ClaimedText,
    claim_brief,
    claim_for_request,
    repeat_for_request,
)
from holdfast.fastpath.handoff_offers import HandoffOffer
from holdfast.fastpath.session_dir import PrebuiltText, delivered_latch
from holdfast.session import context_usage, documents
from holdfast.session.context import SessionContext
from holdfast.session.update import (
    SessionSnapshot,
    SessionView,
    redact_text,
    save_checkpoint,
    update_session,
)
from holdfast.session.view import (
    SpooledInput,
    apply_prompts,
    list_unconfirmed_prompts,
    load_view,
    store_spool,
)
from holdfast.state import State
from holdfast.store.protocol import Compaction, Delivery

# On the agent's clock; behind it there is no hurry, and the client allows a minute.
FOREGROUND_SECONDS = 4.0
BACKGROUND_SECONDS = 45.0
PRECOMPACT_CHANNEL = "PreCompact"
REQUEST_CHANNEL = "ModelRequest"
# The client shows users what PreCompact printed where they asked for the compaction themselves.
MAX_SHOWN_STEERING_CHARS = 1_500
MAX_SUMMARY_CHARS = 60_000  # characters of a summary that are kept and compared
ARCHIVE_PIECE_BYTES = 8 * 1024 * 1024


def on_progress(ctx: SessionContext, *, last_words: str = "", client: int) -> None:
    """A tool batch or a turn ended: keep what is new and prepare for what may come."""
    view = load_view(ctx, BACKGROUND_SECONDS, last_words)
    context_usage.check_context_usage(ctx, view)
    view = documents.update_documents(ctx, view)
    _prebuild_brief(ctx, view)
    _update_handoff_offer(ctx, view.saved, client)


class Steering(NamedTuple):
    """What the summariser is told, and the session that it was made from."""

    text: str
    view: SessionView


def on_precompact(ctx: SessionContext, trigger: str, told: str = "") -> Steering:
    """For the summariser, who is `told` something already. May come often, early, and without a
    compaction after it.

    `prepare_for_compaction` is to follow once the client was let go.
    """
    with suppress(OSError):  # no space for the mark: the brief is made without the summary
        ctx.session_dir.begin_compaction()
    view = load_view(ctx, FOREGROUND_SECONDS)
    save_checkpoint(ctx.store, view.saved, f"precompact:{trigger or 'unknown'}", ctx.now.text)
    view = documents.update_before_compaction(ctx, view, trigger)
    # By the native module, so that nothing is shown to the user.
    steered = STEERING_TITLE in told or instructions.TEMPLATE_OPENING in told
    if steered or not ctx.client.hook_io.STEERS:
        return Steering("", view)
    shown = trigger == "manual" and ctx.client.hook_io.SHOWS_STEERING
    return Steering(steer_summary(ctx, view, PRECOMPACT_CHANNEL, shown_to_user=shown), view)


def steer_summary(
    ctx: SessionContext, view: SessionView, channel: str, *, shown_to_user: bool
) -> str:
    """What the summariser is told, recorded as delivered."""
    most = ctx.config.settings.number("steering_chars")
    most = min(most, MAX_SHOWN_STEERING_CHARS) if shown_to_user else most
    # What was open at the start of a long history may be long done.
    text = _compose_steering(ctx, view, most) if view.saved.is_complete else ""
    text = instructions.append_instructions(ctx, text)
    if text and ctx.store is not None:
        epoch = view.saved.followed.state.position.epoch
        ctx.store.record_delivery(
            Delivery(ctx.session.id, epoch, "steering", channel, ctx.now.text, text)
        )
    return text


def prepare_for_compaction(ctx: SessionContext, view: SessionView) -> PrebuiltText | None:
    """The brief, which is asked for when the summary is written: nobody waits for it before.

    Where that comes sooner, or this never comes to its end, the hook that delivers makes it.
    """
    return _prebuild_brief(ctx, view)


def archive_rows(ctx: SessionContext, tracked_until: tuple[int, int]) -> None:
    """Archive the transcript's rows up to what was tracked, redacted, in pieces."""
    from holdfast.redact import redact_bytes

    store, session_id = ctx.store, ctx.session.id
    if store is None:
        return
    generation, end = tracked_until
    start = store.archived_until(session_id, generation)
    if start >= end:
        return  # nothing is new; where nothing was tracked, there may be no file at all
    lines: list[bytes] = []

    def keep(line: bytes) -> dict[str, Any]:
        lines.append(line)
        return {}

    def flush(until: int) -> None:
        rows = redact_bytes(b"".join(lines))
        store.archive(session_id, generation, start, until, rows, ctx.now.text)
        lines.clear()

    client = ctx.client
    with client.open_transcript(
        ctx.session.transcript, client.cursor_at(start), loads=keep, limit=end - start
    ) as source:
        until = start
        for row in source.rows():
            until = row.end
            if until - start >= ARCHIVE_PIECE_BYTES:
                flush(until)
                start = until
        if until > start:
            flush(until)


def on_summary_written(ctx: SessionContext, summary: str) -> None:
    """The summary is known and not yet in use: prepare the brief that SessionStart will ask for.

    Nothing is delivered here. Where this does not come to its end, or the client has no such
    moment, the brief made without the summary stands, and PostCompact tells what is missing.
    """
    there = ctx.session_dir.read_brief()
    summary = redact_text(summary[:MAX_SUMMARY_CHARS])
    if not summary.strip():
        return
    held = there is not None and ctx.session_dir.is_held_by_module(there.epoch)
    view = load_view(ctx, FOREGROUND_SECONDS)
    with suppress(OSError):  # no space: as above
        known = to_prebuilt(ctx, view, Brief(summary, ()))
        if ctx.session_dir.save_summary(known) and view.saved.is_complete and not held:
            ctx.session_dir.save_restored_brief(_brief_against_summary(ctx, view, summary))


def on_session_start_compact(ctx: SessionContext, channel: str) -> ClaimedText | None:
    """The brief to deliver now, made from the present; None when another delivers it."""
    view = load_view(ctx, FOREGROUND_SECONDS)
    left = ctx.client.last_compaction(ctx.session.transcript)
    if left is not None:
        return _claim_against(ctx, view, left)
    summary = current_summary(ctx, view)
    if summary and view.saved.is_complete:
        made: PrebuiltText | None = _brief_against_summary(ctx, view, summary)
    else:
        made = _prebuild_brief(ctx, view)
    if made is None:
        return None
    return claim_brief(ctx.session_dir, made, channel, ctx.now.seconds)


def _claim_against(
    ctx: SessionContext, view: SessionView, left: LeftInContext
) -> ClaimedText | None:
    """The brief of a compaction whose row is on disk: it is known what stays in context."""
    if view.saved.is_complete:
        made = _brief_against_left(ctx, view, left)
    else:
        there = _prebuild_brief(ctx, view)
        if there is None:
            return None
        made = there
    ctx.session_dir.end_compaction()
    if not made.text:
        return None
    return claim_brief(ctx.session_dir, made, "SessionStart", ctx.now.seconds)


def on_request(ctx: SessionContext, compaction: str) -> PrebuiltText | None:
    """The brief for a client that forgets with each request what it was told: one and the same
    until the next compaction, whichever of its processes asks. `compaction` is the id of its row.
    """
    view = load_view(ctx, FOREGROUND_SECONDS)
    left = ctx.client.last_compaction(ctx.session.transcript)
    if left is None or not view.saved.is_complete:
        return _prebuild_brief(ctx, view)
    made = _brief_against_left(ctx, view, left)
    ctx.session_dir.end_compaction()
    with suppress(OSError):  # no space: the next process makes it anew
        ctx.session_dir.save_standing_brief(compaction, made.text)
    ctx.session_dir.latch(delivered_latch(made.epoch), ctx.now.seconds)
    return made


def on_compacted(ctx: SessionContext, trigger: str, left: LeftInContext) -> None:
    """The compaction is over, and the session says what it left, before the brief is asked for.

    What it lost is recorded, and the brief chosen against it waits for SessionStart: there is no
    gap to be told later.
    """
    view = load_view(ctx, FOREGROUND_SECONDS)
    _record_compacted(ctx, view, trigger, left)
    if view.saved.is_complete:
        with suppress(OSError):  # no space: SessionStart makes it anew
            ctx.session_dir.save_restored_brief(_brief_against_left(ctx, view, left))


def on_model_request(ctx: SessionContext, key: str, left: LeftInContext) -> ClaimedText | None:
    """A request after a compaction of which no other hook tells: the brief for this request.

    It is not kept there. Until a hook says it whose words stay, every request is given it; `key`
    tells those requests from the ones after the next compaction.
    """
    view = load_view(ctx, FOREGROUND_SECONDS)
    claimed = _claim_for_request(ctx, view, left)
    if view.saved.is_complete:
        with suppress(OSError):  # no space: the next request asks again
            ctx.session_dir.save_answered_request(key)
    return claimed


def _claim_for_request(
    ctx: SessionContext, view: SessionView, left: LeftInContext
) -> ClaimedText | None:
    if ctx.session_dir.is_delivered(_epoch_before(view)):
        return repeat_for_request(ctx.session_dir, REQUEST_CHANNEL)
    _record_compacted(ctx, view, "", left)
    if view.saved.is_complete:
        made: PrebuiltText | None = _brief_against_left(ctx, view, left)
    else:
        made = _prebuild_brief(ctx, view)
    if made is None:
        return None
    if not made.text:  # nothing was lost, and later requests need not ask again
        ctx.session_dir.latch(delivered_latch(made.epoch), ctx.now.seconds)
        return None
    return claim_for_request(ctx.session_dir, made, REQUEST_CHANNEL, ctx.now.seconds)


def _record_compacted(
    ctx: SessionContext, view: SessionView, trigger: str, left: LeftInContext
) -> None:
    """What it kept and lost; and what was to be said before it no longer is."""
    ctx.session_dir.end_compaction()
    known = redact_text(_join_left(left))
    told, lost = split_covered(view.display, known) if known.strip() else ((), ())
    epoch = _epoch_before(view)
    if ctx.store is not None:
        summary = redact_text(left.summary[:MAX_SUMMARY_CHARS])
        ctx.store.record_compaction(
            Compaction(
                ctx.session.id, epoch, ctx.now.text, trigger, summary=summary, kept=told, lost=lost
            )
        )
    context_usage.clear_warnings(ctx.session_dir)
    ctx.session_dir.delete_gap()
    ctx.session_dir.delete_old_latches(epoch)


def _brief_against_left(
    ctx: SessionContext, view: SessionView, left: LeftInContext
) -> PrebuiltText:
    made = to_prebuilt(ctx, view, _compose_brief(ctx, view, redact_text(_join_left(left))))
    made.epoch = _epoch_before(view)
    return made


def _epoch_before(view: SessionView) -> int:
    """The epoch that a compaction ended whose row was read."""
    return max(0, view.saved.followed.state.position.epoch - 1)


def _join_left(left: LeftInContext) -> str:
    """All that is readable of what stays in context. An encrypted summary counts as none."""
    return "\n".join([left.summary[:MAX_SUMMARY_CHARS], *left.kept]).strip()


def on_postcompact(ctx: SessionContext, *, trigger: str, summary: str) -> None:
    """The compaction is over and its summary is known: what did it lose?"""
    left = ctx.client.last_compaction(ctx.session.transcript)
    if left is not None:
        on_compacted(ctx, trigger, left)
        return
    session_dir = ctx.session_dir
    spooled = store_spool(ctx)
    saved = update_session(
        ctx.store, ctx.session, seconds=FOREGROUND_SECONDS, on_error=ctx.on_error
    )
    state = apply_prompts(saved.followed.state, list_unconfirmed_prompts(spooled, saved.followed))
    state = documents.overlay_documents(ctx, saved.session, state)
    epoch = _ended_epoch(ctx, state)
    session_dir.end_compaction()
    summary = redact_text(summary[:MAX_SUMMARY_CHARS])
    # Without a summary (somebody replaced the history) there is nothing to compare with.
    kept, lost = split_covered(state, summary) if summary.strip() else ((), ())
    if ctx.store is not None:
        ctx.store.record_compaction(
            Compaction(
                ctx.session.id,
                epoch,
                ctx.now.text,
                trigger,
                summary=summary,
                kept=kept,
                lost=lost,
            )
        )
    delivered = _delivered_text(ctx, spooled, epoch)
    # Latched after the store has had its say: without it this moment is lived again.
    if not session_dir.latch(f"verified.{epoch}", ctx.now.seconds):
        return
    context_usage.clear_warnings(session_dir)
    # One left over from an earlier compaction: the brief has told all of it.
    session_dir.delete_gap()
    gap = compose_gap(state, summary, delivered, ctx.config.settings.number("gap_chars"))
    if gap.text and lost and saved.is_complete:
        facts = ",".join(gap.fact_ids)
        session_dir.write_gap(
            PrebuiltText(epoch, *saved.followed.revision, ctx.now.text, facts, gap.text)
        )
    session_dir.delete_old_latches(epoch)


def on_session_resume(ctx: SessionContext, client: int) -> None:
    if ctx.store is not None and ctx.store.session(ctx.session.id) is not None:
        ctx.store.end_session(ctx.session.id, "")
    on_progress(ctx, client=client)


def on_session_end(ctx: SessionContext, client: int) -> None:
    view = load_view(ctx, BACKGROUND_SECONDS)
    save_checkpoint(ctx.store, view.saved, "end", ctx.now.text)
    try:
        documents.update_at_session_end(ctx, view)
        _update_handoff_offer(ctx, view.saved, client)
        handoff_offers.delete_expired_offers(
            ctx.session_dir.data_dir, _project_of(view.saved), ctx.now.seconds
        )
        _prune_old_sessions(ctx)
    finally:
        # Last: a session that is marked as ended has all of the above.
        if ctx.store is not None and ctx.store.session(ctx.session.id) is not None:
            ctx.store.end_session(ctx.session.id, ctx.now.text)


def _compose_steering(ctx: SessionContext, view: SessionView, most: int) -> str:
    text = compose_steering(view.display, most) if most else ""
    in_force = registry.describe_for_summariser(ctx, view.display) if most else ""
    return f"{text}\n{in_force}" if text and in_force else text or in_force


def _prune_old_sessions(ctx: SessionContext) -> None:
    """What the user no longer wants kept goes when a session ends: no client waits then."""
    days = ctx.config.settings.number("retention_days")
    if ctx.store is None or not days:
        return
    before = format_timestamp(ctx.now.seconds - days * DAY_SECONDS)
    keep = ctx.config.settings.number("retention_checkpoints")
    retention.prune_by_age(ctx.store, ctx.session_dir.data_dir, before=before, keep=keep)


def _prebuild_brief(ctx: SessionContext, view: SessionView) -> PrebuiltText | None:
    """The brief for the next compaction, in the session's directory; None when nothing is known.

    Another hook's brief stands where it knows more, and where we only know the beginning.
    """
    generation, offset = view.saved.followed.revision
    there = ctx.session_dir.read_brief()
    ahead = there is not None and there.generation == generation and there.offset > offset
    if ahead or not view.saved.is_complete:
        return there
    made = _compose_brief(ctx, view)
    if not made.text:
        return None
    prepared = to_prebuilt(ctx, view, made)
    with suppress(OSError):  # nowhere to keep it: the hook that delivers makes it anew
        ctx.session_dir.write_brief(prepared)
    return prepared


def _brief_against_summary(ctx: SessionContext, view: SessionView, summary: str) -> PrebuiltText:
    """The brief that leaves out what the summary tells; its text may be empty."""
    return to_prebuilt(ctx, view, _compose_brief(ctx, view, summary))


def to_prebuilt(ctx: SessionContext, view: SessionView, made: Brief) -> PrebuiltText:
    """A text made from this view, with how much of the transcript it knows."""
    followed = view.saved.followed
    epoch, facts = followed.state.position.epoch, ",".join(made.fact_ids)
    return PrebuiltText(epoch, *followed.revision, ctx.now.text, facts, made.text)


def current_summary(ctx: SessionContext, view: SessionView) -> str:
    """The summary of the compaction that is ending; "" where it is not known."""
    found = ctx.session_dir.read_summary()
    # The row that ends the epoch may or may not be on disk yet.
    epoch = view.saved.followed.state.position.epoch
    return found.text if found is not None and epoch - 1 <= found.epoch <= epoch else ""


def _compose_brief(ctx: SessionContext, view: SessionView, summary: str = "") -> Brief:
    """The state and the rules in force, in what the client shows of one hook.

    Rules go before all but the core of the state; what the state leaves free is theirs as well.
    """
    state, now = view.display, ctx.now.text
    most = ctx.config.settings.number("brief_chars")
    rules = registry.compose_active_rules(
        ctx, state, hook_texts.MAX_HOOK_CHARS - hook_texts.MIN_STATE_CHARS
    )
    made = hook_texts.compose_restore_brief(state, now, most, rules, summary)
    left = hook_texts.MAX_HOOK_CHARS - len(made.text)
    if rules and left > hook_texts.MIN_SPARE_CHARS:
        more = registry.compose_active_rules(ctx, state, len(rules) + left)
        if len(more) > len(rules):
            made = hook_texts.compose_restore_brief(state, now, most, more, summary)
    return made


def _update_handoff_offer(ctx: SessionContext, saved: SessionSnapshot, client: int) -> None:
    data, session, place = ctx.session_dir.data_dir, saved.session, _project_of(saved)
    state = saved.followed.state
    if not ctx.config.settings.flag("handoff") or not hook_texts.is_unfinished(state):
        handoff_offers.delete_offer(data, place, session.id)
        return
    offer = HandoffOffer(
        *place,
        client,
        hook_texts.compose_handoff_offer(state, session.id),
        ctx.config.settings.number("handoff_days"),
    )
    with suppress(OSError):  # nowhere to keep it: nothing is offered
        handoff_offers.save_offer(data, session.id, offer, documents.handoff_path(ctx, session))


def _project_of(saved: SessionSnapshot) -> tuple[str, str]:
    return saved.session.project, saved.session.worktree


def _ended_epoch(ctx: SessionContext, state: State) -> int:
    """The epoch that the compaction ended: its boundary row may or may not be on disk yet."""
    epoch = state.position.epoch
    before = epoch - 1
    if (
        epoch
        and ctx.session_dir.is_delivered(before)
        and not ctx.session_dir.is_delivered(epoch)
        and not ctx.session_dir.latched(f"verified.{before}")
    ):
        return before
    return epoch


def _delivered_text(ctx: SessionContext, spooled: SpooledInput, epoch: int) -> str:
    stored = ctx.store.deliveries(ctx.session.id, 20) if ctx.store else ()
    known = [*spooled.deliveries, *stored]
    return "\n".join(d.text for d in known if d.epoch == epoch and d.kind == "brief")
