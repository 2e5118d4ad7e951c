"""What Holdfast does at each event of a session, in their order: the one place that knows.

Each function takes the context and what the client said, and answers what to say. Surfaces read
payloads, print, and decide what may run after the hook has returned; they add nothing to what
happens here. Without a store, what the transcript itself tells still reaches the agent, and
nothing is kept.
"""

from contextlib import suppress

from holdfast import retention
from holdfast.brief.compose import Brief
from holdfast.brief.contradictions import HEADING, format_contradictions
from holdfast.brief.gap import compose_gap, split_covered
from holdfast.brief.hook_texts import STEERING_TITLE, compose_shown_steering, compose_steering
from holdfast.clients.client_protocol import LeftInContext
from holdfast.clients.holdfast_text import GAP_OPENING
from holdfast.clock import DAY_SECONDS, format_timestamp
from holdfast.compaction import instructions
from holdfast.compaction.active_commands import registry
from holdfast.compaction.own_sections import run_brief_commands
from holdfast.compaction.report import find_wrong
from holdfast.compaction.restore import (
    MAX_SUMMARY_CHARS,
    Left,
    compose,
    count_rules_room,
    find_left,
    make_brief,
    read_left,
    to_prebuilt,
)
from holdfast.events import Origin, UsageMeasured
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.delivery import (
    ClaimedText,
    claim_brief,
    claim_for_request,
    repeat_for_request,
)
from holdfast.fastpath.pending_texts import ADVICE, GAP, RULES, PrebuiltText
from holdfast.fastpath.session_dir import WINDOW_FILE, delivered_latch
from holdfast.files import remove
from holdfast.records import NamedTuple
from holdfast.redact import redact
from holdfast.session import archive, context_usage, cues, documents, git_query, guard_file
from holdfast.session.context import SessionContext
from holdfast.session.update import (
    SessionView,
    save_checkpoint,
    save_unsaved,
    update_session,
)
from holdfast.session.view import (
    SpooledInput,
    apply_prompts,
    list_unconfirmed_prompts,
    load_view,
    store_spool,
)
from holdfast.state import State, fold
from holdfast.store.protocol import Compaction, Delivery

# On the agent's clock; behind it there is no hurry, and the client allows a minute.
FOREGROUND_SECONDS = 4.0
BACKGROUND_SECONDS = 45.0
# By how much of the transcript a brief that lies ready may be older; and where little of the
# context is left.
MAX_BRIEF_LAG_BYTES = 200_000
FILLING_LAG_BYTES = 40_000
FILLING_PERCENT_LEFT = 10
PRECOMPACT_CHANNEL = "PreCompact"
REQUEST_CHANNEL = "ModelRequest"
MODULE_CHANNEL = "session.compact"  # of the plugin's module: `hooks.compaction_module`
# Claude Code prints what PreCompact printed under a /compact, behind the hook's command line, and
# one more line for PostCompact. What is left out here comes back with the brief.
MAX_SHOWN_LINES, SHOWN_MARGIN, SHOWN_PREFIX, MIN_SHOWN_CHARS = 4, 12, 86, 190


def on_progress(
    ctx: SessionContext, *, last_words: str = "", client: int, turn_ended: bool = False
) -> None:
    """A tool batch or a turn ended: keep what is new and prepare for what may come."""
    if turn_ended:
        _look_at_git(ctx, git_query.BACKGROUND_SECONDS)
        run_brief_commands(ctx)
    view = load_view(ctx, BACKGROUND_SECONDS, last_words)
    usage = context_usage.check_context_usage(ctx, view, turn_ended=turn_ended)
    view = documents.update_documents(ctx, view, turn_ended=turn_ended)
    if _is_brief_due(ctx, view, usage.percent_left):
        make_brief(ctx, view)
    with suppress(OSError):  # no space: the next hook looks for new rows again
        ctx.session_dir.write_known(to_prebuilt(ctx, view, Brief("", ())))
    cues.update_index(ctx, view.display)
    guard_file.update_guards(ctx, view.display)
    documents.update_handoff_offer(ctx, view, client)
    if turn_ended:
        archive_rows(ctx, view.followed.revision)


def _is_brief_due(ctx: SessionContext, view: SessionView, percent_left: int) -> bool:
    """Whether one should lie ready that knows more than the last. A compaction makes its own, for
    which there is time; this is what is handed over where there was none."""
    there = ctx.session_dir.read_brief()
    generation, offset = view.followed.revision
    is_filling = percent_left <= FILLING_PERCENT_LEFT
    return (
        there is None
        or (there.epoch, there.generation) != (view.epoch, generation)
        or offset - there.offset > (FILLING_LAG_BYTES if is_filling else MAX_BRIEF_LAG_BYTES)
    )


class Steering(NamedTuple):
    """What the summariser is told, and the session that it was made from."""

    text: str
    view: SessionView


def on_precompact(ctx: SessionContext, trigger: str, told: str = "") -> Steering:
    """For the summariser, who is `told` something already. May fire repeatedly, early, or with no
    compaction following.

    `prepare_for_compaction` and `keep_before_compaction` follow once the hook has returned.
    """
    with suppress(OSError):  # no space for the mark: the brief is made without the summary
        tries = ctx.session_dir.begin_compaction(ctx.now.seconds)
        context_usage.warn_of_failing(ctx, tries)
    _look_at_git(ctx)
    view = load_view(ctx, FOREGROUND_SECONDS, save_later=True)
    view = documents.summarize_before_compaction(ctx, view)
    # By the native module, so that nothing is shown to the user.
    steered = STEERING_TITLE in told or instructions.TEMPLATE_OPENING in told
    if steered or not ctx.client.hook_io.STEERS:
        return Steering("", view)
    columns = ctx.config.screen_columns if trigger == "manual" else 0
    return Steering(steer_summary(ctx, view, columns), view)


def steer_summary(ctx: SessionContext, view: SessionView, columns: int = 0) -> str:
    """What the summariser is given, `columns` wide on the user's screen."""
    # What was open at the start of a long history may be long done.
    text = _compose_steering(ctx, view, columns) if view.is_complete else ""
    return instructions.append_instructions(ctx, text, template=not columns)


def record_steering(ctx: SessionContext, steering: Steering, channel: str) -> None:
    if steering.text and ctx.store is not None:
        epoch, now = steering.view.epoch, ctx.now.text
        ctx.store.record_delivery(
            Delivery(ctx.session.id, epoch, "steering", channel, now, steering.text)
        )


def tell_subagent(ctx: SessionContext, *, steer: bool) -> str:
    """For the summariser of a subagent's own context, or for the subagent afterwards."""
    view = load_view(ctx, FOREGROUND_SECONDS)
    if not view.is_complete:
        return ""
    if steer:
        return _compose_steering(ctx, view)
    return compose(ctx, view).text


def prepare_for_compaction(
    ctx: SessionContext, view: SessionView, trigger: str
) -> PrebuiltText | None:
    """The brief, which is asked for when the summary is written: nobody waits for it before. And
    the documents, which are for later.

    If the summary arrives first, or this is killed, the hook that delivers makes the brief.
    """
    run_brief_commands(ctx)
    made = make_brief(ctx, view)
    documents.write_before_compaction(ctx, view, trigger)
    return made


def keep_before_compaction(ctx: SessionContext, steering: Steering, trigger: str) -> None:
    """What was read and said, the state and the rows as they are now, once the hook has returned.

    If this is killed, the next hook reads again.
    """
    view = steering.view
    if ctx.store is not None:
        save_unsaved(ctx.store, view)
    record_steering(ctx, steering, PRECOMPACT_CHANNEL)
    save_checkpoint(ctx.store, view, f"precompact:{trigger or 'unknown'}", ctx.now.text)
    archive_rows(ctx, view.followed.revision)


def archive_rows(ctx: SessionContext, tracked_until: tuple[int, int]) -> None:
    """Keep the transcript's rows up to what was tracked, where the user wants that."""
    if ctx.store is not None and ctx.config.settings.flag("archive"):
        archive.save_rows(ctx.store, ctx.client, ctx.session, tracked_until, ctx.now.text)


def on_summary_written(ctx: SessionContext, summary: str) -> None:
    """The summary is known and not yet in use: prepare the brief that SessionStart will ask for.

    Nothing is delivered here. If this is killed, or the client has no such moment, the brief made
    without the summary is used, and PostCompact tells what is missing.
    """
    there = ctx.session_dir.read_brief()
    summary = redact(summary[:MAX_SUMMARY_CHARS])
    if not summary.strip():
        return
    held = there is not None and ctx.session_dir.is_held_by_module(there.epoch)
    view = load_view(ctx, FOREGROUND_SECONDS)
    with suppress(OSError):  # no space: as above
        known = to_prebuilt(ctx, view, Brief(summary, ()))
        if ctx.session_dir.save_summary(known) and not held:
            _prepare_against(ctx, view, Left(summary, known.epoch, summary=summary))


def on_session_start_compact(ctx: SessionContext, channel: str) -> ClaimedText | None:
    """The brief to deliver now, made from the present; None when another delivers it."""
    view = load_view(ctx, FOREGROUND_SECONDS)
    left = find_left(ctx, view)
    made = make_brief(ctx, view, left)
    if made is None:
        return None
    if left is not None and left.is_in_transcript:
        ctx.session_dir.end_compaction()
    return claim_brief(ctx.session_dir, made, channel, ctx.now.seconds)


def on_postcompact(ctx: SessionContext, *, trigger: str, summary: str) -> None:
    """The compaction is over and its summary is known: what did it lose?"""
    in_transcript = ctx.client.row_probe.last_compaction(ctx.session.transcript)
    if in_transcript is not None:
        _on_compaction_read(ctx, trigger, in_transcript)
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
    summary = redact(summary[:MAX_SUMMARY_CHARS])
    lost = _record_compaction(ctx, state, Left(summary, epoch), trigger, summary)
    delivered = _delivered_text(ctx, spooled, epoch)
    # Latched after the store has had its say: without it this moment is lived again.
    if not session_dir.latch(f"verified.{epoch}", ctx.now.seconds):
        return
    _forget_before(ctx, epoch)
    context_usage.warn_of_loop(ctx, state)
    if delivered:
        given = to_prebuilt(ctx, saved, Brief(delivered, ()))
        registry.queue_rest(ctx, state, given._replace(epoch=epoch))
    gap = compose_gap(state, summary, delivered, ctx.config.settings.number("gap_chars"))
    wrong = () if HEADING in delivered else find_wrong(state, summary)
    if ((gap.text and lost) or wrong) and saved.is_complete:
        opening, _, rest = (gap.text or f"{GAP_OPENING}.").partition("\n")
        text = "\n".join(filter(None, (opening, format_contradictions(wrong), rest)))
        facts = ",".join(gap.fact_ids)
        session_dir.pending.put(
            "gap", PrebuiltText(epoch, *saved.followed.revision, ctx.now.text, facts, text)
        )


def _on_compaction_read(ctx: SessionContext, trigger: str, left: LeftInContext) -> None:
    """The session itself says what the compaction left, before the brief is asked for.

    The brief chosen against that waits for SessionStart: there is no gap to tell later.
    """
    view = load_view(ctx, FOREGROUND_SECONDS)
    known = read_left(view, left)
    _end_compaction(ctx, view, known, trigger, left.summary)
    with suppress(OSError):  # no space: SessionStart makes it again
        _prepare_against(ctx, view, known)
    made = ctx.session_dir.read_restored_brief()
    if made is not None and made.epoch == known.epoch:
        registry.queue_rest(ctx, view.display, made)


def restore_in_every_request(ctx: SessionContext, compaction: str) -> PrebuiltText | None:
    """The brief for a client that forgets with each request what it was told: one and the same
    until the next compaction, whichever of its processes asks. `compaction` is the id of its row.
    """
    _look_at_git(ctx)
    view = load_view(ctx, FOREGROUND_SECONDS)
    left = find_left(ctx, view)
    made = make_brief(ctx, view, left)
    if made is None or left is None or not view.is_complete:
        return made
    ctx.session_dir.end_compaction()
    with suppress(OSError):  # no space: the next process makes it again
        ctx.session_dir.save_standing_brief(compaction, made.text)
    ctx.session_dir.latch(delivered_latch(made.epoch), ctx.now.seconds)
    return made


def restore_in_next_request(
    ctx: SessionContext, key: str, in_request: LeftInContext
) -> ClaimedText | None:
    """A request after a compaction of which no other hook tells: the brief for this request.

    It is not kept there. Until a hook says it whose words stay, every request is given it; `key`
    tells those requests from the ones after the next compaction.
    """
    _look_at_git(ctx)
    view = load_view(ctx, FOREGROUND_SECONDS)
    left = read_left(view, in_request)
    if ctx.session_dir.is_delivered(left.epoch):
        claimed = repeat_for_request(ctx.session_dir, REQUEST_CHANNEL)
    else:
        _end_compaction(ctx, view, left, "", in_request.summary)
        made = make_brief(ctx, view, left)
        claimed = None
        if made is not None and made.text:
            claimed = claim_for_request(ctx.session_dir, made, REQUEST_CHANNEL, ctx.now.seconds)
        elif made is not None:  # nothing was lost, and later requests need not ask again
            ctx.session_dir.latch(delivered_latch(made.epoch), ctx.now.seconds)
    if view.is_complete:
        with suppress(OSError):  # no space: the next request asks again
            ctx.session_dir.save_answered_request(key)
    return claimed


def restore_with_this_hook(ctx: SessionContext, channel: str) -> ClaimedText | None:
    """The transcript shows a compaction of which no hook told whose words stay: this one's do."""
    _look_at_git(ctx)
    view = load_view(ctx, FOREGROUND_SECONDS)
    in_transcript = ctx.client.row_probe.last_compaction(ctx.session.transcript)
    if in_transcript is None or not view.is_complete:
        return None
    left = read_left(view, in_transcript)
    claimed = None
    if not ctx.session_dir.is_delivered(left.epoch):
        _end_compaction(ctx, view, left, "", in_transcript.summary)
        made = make_brief(ctx, view, left)
        if made is not None:
            claimed = claim_brief(ctx.session_dir, made, channel, ctx.now.seconds)
            registry.queue_rest(ctx, view.display, made)
    make_brief(ctx, view)  # which knows of the compaction: the next hook need not look for it
    return claimed


def _prepare_against(ctx: SessionContext, view: SessionView, left: Left) -> None:
    made = make_brief(ctx, view, left) if view.is_complete else None
    if made is not None:
        ctx.session_dir.save_restored_brief(made)


def _end_compaction(
    ctx: SessionContext, view: SessionView, left: Left, trigger: str, summary: str
) -> None:
    ctx.session_dir.end_compaction()
    summary = redact(summary[:MAX_SUMMARY_CHARS])
    _record_compaction(ctx, view.display, left, trigger, summary)
    _forget_before(ctx, left.epoch)
    context_usage.warn_of_loop(ctx, view.display)


def _record_compaction(
    ctx: SessionContext, state: State, left: Left, trigger: str, summary: str
) -> tuple[str, ...]:
    """What it kept and lost is stored; the ids of what it lost.

    Without a summary (somebody replaced the history) there is nothing to compare with.
    """
    kept, lost = split_covered(state, left.text) if left.text.strip() else ((), ())
    if ctx.store is not None:
        ctx.store.record_compaction(
            Compaction(
                ctx.session.id,
                left.epoch,
                ctx.now.text,
                trigger,
                summary=summary,
                kept=kept,
                lost=lost,
            )
        )
    return lost


def _forget_before(ctx: SessionContext, epoch: int) -> None:
    """What was to be said before the compaction no longer is."""
    context_usage.clear_warnings(ctx.session_dir)
    ctx.session_dir.pending.drop(ADVICE)
    cues.forget_index(ctx)
    for kind in (GAP, *RULES):
        ctx.session_dir.pending.drop(kind)
    ctx.session_dir.delete_old_latches(epoch)


def read_rules(ctx: SessionContext) -> None:
    """A call goes against a rule, and a prompt came since the rules were read."""
    guard_file.update_guards(ctx, load_view(ctx, FOREGROUND_SECONDS).display)


def prepare_recall(ctx: SessionContext) -> None:
    """After a compaction, once the hook has returned: what it took away can be found."""
    view = load_view(ctx, BACKGROUND_SECONDS)
    cues.update_index(ctx, view.display)


def on_session_resume(ctx: SessionContext, client: int) -> None:
    if ctx.store is not None and ctx.store.session(ctx.session.id) is not None:
        ctx.store.end_session(ctx.session.id, "")
    on_progress(ctx, client=client, turn_ended=True)


def on_model_switch(ctx: SessionContext, model: str, tokens: int) -> None:
    """Another model answers from here on: what is left is counted for its window."""
    view = load_view(ctx, FOREGROUND_SECONDS)
    usage = view.followed.state.usage
    if not model or model == (usage.requested or usage.model):
        return
    remove(f"{ctx.session_dir.path}/{WINDOW_FILE}")  # it was of the model before
    now = Origin("", 0, 0, ctx.now.text)
    measured = UsageMeasured(now, model, tokens or usage.context, usage.output, model)
    state = fold(view.followed.state, measured)
    followed = view.followed._replace(state=state)
    context_usage.check_context_usage(ctx, view._replace(followed=followed))


def on_session_end(ctx: SessionContext, client: int) -> None:
    _look_at_git(ctx, git_query.BACKGROUND_SECONDS / 2)
    view = load_view(ctx, BACKGROUND_SECONDS)
    save_checkpoint(ctx.store, view, "end", ctx.now.text)
    try:
        archive_rows(ctx, view.followed.revision)
        documents.write_handoff(ctx, view)
        documents.publish_notes(ctx, view)
        documents.update_handoff_offer(ctx, view, client)
        place = view.session.project, view.session.worktree
        handoff_offers.delete_expired_offers(ctx.session_dir.data_dir, place, ctx.now.seconds)
        _prune_old_sessions(ctx)
    finally:
        # Last: a session that is marked as ended has all of the above.
        if ctx.store is not None and ctx.store.session(ctx.session.id) is not None:
            ctx.store.end_session(ctx.session.id, ctx.now.text)


def note_session_start(ctx: SessionContext, head: str, began: float) -> None:
    """Where HEAD was: what is committed from here on is of this session's time."""
    git_query.note_start(ctx.session_dir, head, format_timestamp(began))
    _look_at_git(ctx, git_query.BACKGROUND_SECONDS)


def _look_at_git(ctx: SessionContext, seconds: float = git_query.FOREGROUND_SECONDS) -> None:
    """Before the view is loaded, which shows what was last seen."""
    git_query.look(ctx.session_dir, ctx.session.cwd, ctx.now.text, seconds)


def _compose_steering(ctx: SessionContext, view: SessionView, columns: int = 0) -> str:
    most = ctx.config.settings.number("steering_chars")
    if not most:
        return ""
    if columns:
        room = MAX_SHOWN_LINES * (columns - SHOWN_MARGIN) - SHOWN_PREFIX
        return compose_shown_steering(view.display, min(most, max(room, MIN_SHOWN_CHARS)))
    text = compose_steering(view.display, most)
    in_force = registry.describe_for_summariser(ctx, view.display, count_rules_room(ctx))
    return f"{text}\n{in_force}" if text and in_force else text or in_force


def _prune_old_sessions(ctx: SessionContext) -> None:
    """What the user no longer wants kept goes when a session ends: no client waits then."""
    most = ctx.config.settings.number("archive_megabytes") * 1_000_000
    if ctx.store is not None and most:
        ctx.store.limit_archives(most, ctx.session.id)
    days = ctx.config.settings.number("retention_days")
    if ctx.store is None or not days:
        return
    before = format_timestamp(ctx.now.seconds - days * DAY_SECONDS)
    keep = ctx.config.settings.number("retention_checkpoints")
    retention.prune_by_age(ctx.store, ctx.session_dir.data_dir, before=before, keep=keep)


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
