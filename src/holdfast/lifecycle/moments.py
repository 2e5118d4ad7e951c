"""What Holdfast does at each moment of a session: the one place that knows.

Each function takes the store, the session's tray and what the client said, and answers what to
say. Surfaces read payloads, print, and decide what may run after the client was let go; they
add nothing to what happens here. `store` is None when it cannot be used: then what the
transcript itself tells still reaches the agent, and nothing is kept.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import NamedTuple

from holdfast.brief.compose import Brief
from holdfast.brief.gap import carried, compose_gap
from holdfast.brief.steering import steer
from holdfast.lifecycle import (
    active,
    handoff,
    instructions,
    papers,
    prepare,
    pressure,
    retention,
    words,
)
from holdfast.lifecycle.keep import (
    Kept,
    Scene,
    bring_up_to_date,
    clean,
    save_checkpoint,
)
from holdfast.lifecycle.tray import Prepared, Tray
from holdfast.state import State
from holdfast.store.protocol import Compaction, Delivery, Store

# On the agent's clock; behind it there is no hurry, and the client allows a minute.
SECONDS = 4.0
SECONDS_BESIDE = 45.0
ROAD = "PreCompact"
SUMMARY = 60_000  # characters of a summary that are kept and compared
ARCHIVE_PIECE = 8 * 1024 * 1024


class Now(NamedTuple):
    """The clock, read once per moment by the surface."""

    text: str
    seconds: float


class View(NamedTuple):
    """What is known, and the same with what payloads said on top: the one for showing."""

    kept: Kept
    shown: State


def work_went_on(
    store: Store | None, tray: Tray, scene: Scene, now: Now, *, last_words: str = "", client: int
) -> None:
    """A tool batch or a turn ended: keep what is new and prepare for what may come."""
    view = _known(store, tray, scene, now, SECONDS_BESIDE, last_words)
    pressure.watch(store, tray, scene, now, view.kept, view.shown)
    shown = papers.keep(store, tray, scene, view.kept, view.shown, now.text)
    _prepare(tray, scene, View(view.kept, shown), now)
    _hand_off(tray, scene, view.kept, now, client)


def before_compaction(store: Store | None, tray: Tray, scene: Scene, now: Now, trigger: str) -> str:
    """Text for the summariser. May come often, early, and without a compaction after it."""
    with suppress(OSError):  # no space for the mark: the brief is made without the summary
        tray.begin_compaction()
    view = _known(store, tray, scene, now, SECONDS)
    save_checkpoint(store, view.kept, f"precompact:{trigger or 'unknown'}", now.text)
    shown = papers.before_compaction(tray, scene, view.kept, view.shown, now.text, trigger)
    view = View(view.kept, shown)
    _prepare(tray, scene, view, now)
    # What was open at the start of a long history may be long done.
    text = _steering(tray, scene, view) if view.kept.complete else ""
    text = instructions.joined(text, scene)
    epoch = view.kept.tracked.state.moment.epoch
    if text:
        _deliver(store, Delivery(scene.session_id, epoch, "steering", ROAD, now.text, text))
    return text


def keep_rows(store: Store, scene: Scene, now: Now, tracked_until: tuple[int, int]) -> None:
    """Archive the transcript's rows up to what was tracked, redacted, in pieces."""
    from holdfast.redact import redact_bytes

    generation, end = tracked_until
    start = store.archived_until(scene.session_id, generation)
    if start >= end:
        return  # nothing is new; where nothing was tracked, there may be no file at all
    with open(scene.transcript, "rb") as transcript:
        transcript.seek(start)
        while start < end:
            rows = transcript.read(min(ARCHIVE_PIECE, end - start))
            if start + len(rows) < end:
                rows += transcript.readline()
            if not rows:
                return
            store.archive(
                scene.session_id, generation, start, start + len(rows), redact_bytes(rows), now.text
            )
            start += len(rows)


def summary_written(store: Store | None, tray: Tray, scene: Scene, now: Now, summary: str) -> None:
    """The summary is known and not yet in use: prepare the brief that SessionStart will ask for.

    Nothing is delivered here. Where this does not come to its end, or the client has no such
    moment, the brief made without the summary stands, and PostCompact tells what is missing.
    """
    there = tray.prepared()
    summary = clean(summary[:SUMMARY])
    if not summary.strip() or (there is not None and tray.is_modules(f"delivered.{there.epoch}")):
        return
    view = _known(store, tray, scene, now, SECONDS)
    epoch = view.kept.tracked.state.moment.epoch
    known = Prepared(epoch, *view.kept.tracked.knows, now.text, "", summary)
    with suppress(OSError):  # no space: as above
        if tray.keep_summary(known) and view.kept.complete:
            tray.keep_restored(_against(tray, scene, view, now, summary))


def after_compaction(store: Store | None, tray: Tray, scene: Scene, now: Now) -> Prepared | None:
    """The brief to deliver now, made from the present; None when another delivers it."""
    view = _known(store, tray, scene, now, SECONDS)
    summary = _summary_of(tray, view)
    if summary and view.kept.complete:
        made: Prepared | None = _against(tray, scene, view, now, summary)
    else:
        made = _prepare(tray, scene, view, now)
    if made is None or not tray.claim_brief(made, now.seconds):
        return None
    return made


def summary_seen(
    store: Store | None, tray: Tray, scene: Scene, now: Now, *, trigger: str, summary: str
) -> None:
    """The compaction is over and its summary is known: what did it lose?"""
    noted = _drain(store, tray, scene, now)
    kept = bring_up_to_date(store, scene, seconds=SECONDS)
    state = words.with_prompts(kept.tracked.state, words.unconfirmed(noted, kept.tracked))
    state = papers.over(tray, scene, kept.session, state)
    epoch = _ended_epoch(tray, state)
    tray.end_compaction()
    summary = clean(summary[:SUMMARY])
    # Without a summary (somebody replaced the history) there is nothing to compare with.
    told, lost = carried(state, summary) if summary.strip() else ((), ())
    _record(
        store,
        Compaction(
            scene.session_id, epoch, now.text, trigger, summary=summary, kept=told, lost=lost
        ),
    )
    delivered = _delivered_text(store, noted, scene, epoch)
    # Latched after the store has had its say: without it this moment is lived again.
    if not tray.latch(f"verified.{epoch}", now.seconds):
        return
    pressure.forget_warnings(tray)
    tray.drop_gap()  # one left over from an earlier compaction: the brief has told all of it
    gap = compose_gap(state, summary, delivered, scene.terms.settings.number("gap_chars"))
    if gap.text and lost and kept.complete:
        facts = ",".join(gap.facts)
        generation, offset = kept.tracked.knows
        tray.queue_gap(Prepared(epoch, generation, offset, now.text, facts, gap.text))
    tray.tidy(epoch)


def session_resumed(store: Store | None, tray: Tray, scene: Scene, now: Now, client: int) -> None:
    if store is not None and store.session(scene.session_id) is not None:
        store.end_session(scene.session_id, "")
    work_went_on(store, tray, scene, now, client=client)


def session_ended(store: Store | None, tray: Tray, scene: Scene, now: Now, client: int) -> None:
    view = _known(store, tray, scene, now, SECONDS_BESIDE)
    save_checkpoint(store, view.kept, "end", now.text)
    try:
        papers.ended(store, tray, scene, view.kept, view.shown, now.text)
        _hand_off(tray, scene, view.kept, now, client)
        handoff.tidy(tray.data, _place(view.kept), now.seconds)
        _forget_old(store, tray, scene, now)
    finally:
        # Last: whoever sees the session ended may rely on all of the above.
        if store is not None and store.session(scene.session_id) is not None:
            store.end_session(scene.session_id, now.text)


def _known(
    store: Store | None,
    tray: Tray,
    scene: Scene,
    now: Now,
    seconds: float,
    last_words: str = "",
) -> View:
    noted = _drain(store, tray, scene, now)
    kept = bring_up_to_date(store, scene, seconds=seconds)
    state = kept.tracked.state
    waiting = words.unconfirmed(noted, kept.tracked)
    shown = words.with_commands(words.with_prompts(state, waiting), noted)
    if last_words:
        shown = words.with_last_words(shown, last_words, now.text)
    return View(kept, papers.over(tray, scene, kept.session, shown))


def _drain(store: Store | None, tray: Tray, scene: Scene, now: Now) -> words.Noted:
    lines = tray.drain(now.seconds, forget=store is not None)
    noted = words.understood(lines, scene.session_id)
    for delivery in noted.deliveries:
        _deliver(store, delivery)
    return noted


def _deliver(store: Store | None, delivery: Delivery) -> None:
    if store is not None:
        store.record_delivery(delivery)


def _record(store: Store | None, compaction: Compaction) -> None:
    if store is not None:
        store.record_compaction(compaction)


def _steering(tray: Tray, scene: Scene, view: View) -> str:
    most = scene.terms.settings.number("steering_chars")
    text = steer(view.shown, most) if most else ""
    in_force = active.for_summariser(view.shown, tray, scene) if most else ""
    return f"{text}\n{in_force}" if text and in_force else text or in_force


def _forget_old(store: Store | None, tray: Tray, scene: Scene, now: Now) -> None:
    """What the user no longer wants kept goes when a session ends: nobody waits then."""
    days = scene.terms.settings.number("retention_days")
    if store is None or not days:
        return
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now.seconds - days * 86_400))
    keep = scene.terms.settings.number("retention_checkpoints")
    retention.prune(store, tray.data, before=before, keep=keep)


def _prepare(tray: Tray, scene: Scene, view: View, now: Now) -> Prepared | None:
    """The brief for the next compaction, in the tray; None when nothing is known.

    Another hook's brief stands where it knows more, and where we only know the beginning.
    """
    generation, offset = view.kept.tracked.knows
    there = tray.prepared()
    ahead = there is not None and there.generation == generation and there.offset > offset
    if ahead or not view.kept.complete:
        return there
    made = _brief(tray, scene, view, now)
    if not made.text:
        return None
    epoch = view.kept.tracked.state.moment.epoch
    prepared = Prepared(epoch, generation, offset, now.text, ",".join(made.facts), made.text)
    with suppress(OSError):  # nowhere to keep it: the hook that delivers makes it anew
        tray.prepare(prepared)
    return prepared


def _against(tray: Tray, scene: Scene, view: View, now: Now, summary: str) -> Prepared:
    """The brief that leaves out what the summary tells; its text may be empty."""
    made = _brief(tray, scene, view, now, summary)
    epoch = view.kept.tracked.state.moment.epoch
    return Prepared(epoch, *view.kept.tracked.knows, now.text, ",".join(made.facts), made.text)


def _summary_of(tray: Tray, view: View) -> str:
    """The summary of the compaction that is ending; "" where it is not known."""
    found = tray.summary()
    # The row that ends the epoch may or may not be on disk yet.
    epoch = view.kept.tracked.state.moment.epoch
    return found.text if found is not None and epoch - 1 <= found.epoch <= epoch else ""


def _brief(tray: Tray, scene: Scene, view: View, now: Now, summary: str = "") -> Brief:
    """The state and the rules in force, in what the client shows of one hook.

    Rules go before all but the core of the state; what the state leaves free is theirs as well.
    """
    most = scene.terms.settings.number("brief_chars")
    rules = active.rules(view.shown, tray, scene, prepare.MOST - prepare.CORE)
    made = prepare.brief(view.shown, now.text, most, rules, summary)
    left = prepare.MOST - len(made.text)
    if rules and left > prepare.LINE:
        more = active.rules(view.shown, tray, scene, len(rules) + left)
        if len(more) > len(rules):
            made = prepare.brief(view.shown, now.text, most, more, summary)
    return made


def _hand_off(tray: Tray, scene: Scene, kept: Kept, now: Now, client: int) -> None:
    state, place = kept.tracked.state, _place(kept)
    if not scene.terms.settings.flag("handoff") or not prepare.unfinished(state):
        handoff.drop(tray.data, place, kept.session.id)
        return
    generation, offset = kept.tracked.knows
    text = prepare.handoff(state, kept.session.id)
    days = str(scene.terms.settings.number("handoff_days"))
    made = Prepared(state.moment.epoch, generation, offset, now.text, days, text)
    page = papers.handoff_path(tray, scene, kept.session)
    with suppress(OSError):  # nowhere to keep it: nothing is offered
        handoff.keep(tray.data, place, kept.session.id, client, made, page)


def _place(kept: Kept) -> tuple[str, str]:
    return kept.session.project, kept.session.worktree


def _ended_epoch(tray: Tray, state: State) -> int:
    """The epoch that the compaction ended: its boundary row may or may not be on disk yet."""
    epoch = state.moment.epoch
    before = epoch - 1
    if (
        epoch
        and tray.latched(f"delivered.{before}")
        and not tray.latched(f"delivered.{epoch}")
        and not tray.latched(f"verified.{before}")
    ):
        return before
    return epoch


def _delivered_text(store: Store | None, noted: words.Noted, scene: Scene, epoch: int) -> str:
    known = [*noted.deliveries, *(store.deliveries(scene.session_id, 20) if store else ())]
    return "\n".join(d.text for d in known if d.epoch == epoch and d.what == "brief")
