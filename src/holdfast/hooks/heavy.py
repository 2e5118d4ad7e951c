"""The heavy road: moments that need the store, the fold, or both.

Opens what the lifecycle needs, calls it, and turns what it answers into the client's output. A
store that cannot be used is logged, and the moment goes on without it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial

from holdfast.clients.claude_code.outputs import instructions
from holdfast.clients.claude_code.payloads import Payload, summary_in
from holdfast.files import make_folder
from holdfast.hooks import log
from holdfast.hooks.light import WORKING, Answer, brief_to_print, is_fresh, now_text
from holdfast.lifecycle import moments
from holdfast.lifecycle.keep import Scene
from holdfast.lifecycle.moments import Now
from holdfast.lifecycle.patterns import use_chosen
from holdfast.lifecycle.places import store_path
from holdfast.lifecycle.terms import Terms, terms_for
from holdfast.lifecycle.tray import Tray, checksum
from holdfast.store.protocol import StoreError
from holdfast.store.sqlite import SqliteStore

# On the agent's clock another writer is not waited for long: our own writes take milliseconds.
BUSY_SECONDS = 2.0
# How often one process looks again for rows that came while it read.
ROUNDS = 5


def answer(payload: Payload, data: str, client: int) -> Answer:
    if payload.event in WORKING and not _brings_summary(payload, data):
        _follow(payload, data, client)
        return Answer()
    return _at_moment(payload, data, client)


def _brings_summary(payload: Payload, data: str) -> bool:
    return payload.is_summarisers and Tray(data, payload.session_id).is_compacting()


def _follow(payload: Payload, data: str, client: int) -> None:
    """Read the transcript to its end, one process at a time.

    Tool calls can come faster than we read. Who finds another at work leaves at once, and the one
    at work looks again when it is done.
    """
    tray = Tray(data, payload.session_id)
    for _ in range(ROUNDS):
        if not tray.begin_work(time.time()):
            return
        try:
            _at_moment(payload, data, client)
        finally:
            tray.end_work()
        prepared = tray.prepared()
        if prepared is None or is_fresh(prepared, payload.transcript):
            return


def _at_moment(payload: Payload, data: str, client: int) -> Answer:
    store = _store(data)
    try:
        return _answer(payload, data, client, store)
    except StoreError as error:
        if store is None:
            raise
        log.write(data, f"{payload.event} {log.described(error)}")
    finally:
        if store is not None:
            store.close()
    return _answer(payload, data, client, None)


def _store(data: str) -> SqliteStore | None:
    try:
        make_folder(data)
        return SqliteStore(store_path(data), busy_seconds=BUSY_SECONDS)
    except (StoreError, OSError) as error:
        log.confess(data, error)
        return None


def _answer(payload: Payload, data: str, client: int, store: SqliteStore | None) -> Answer:
    seconds = time.time()
    now = Now(now_text(seconds), seconds)
    tray = Tray(data, payload.session_id)
    terms = terms_for(os.environ, data, payload.cwd)
    use_chosen(terms.settings, data)
    scene = Scene(
        payload.session_id, payload.transcript, payload.cwd, terms, partial(log.confess, data)
    )
    _tell_mistakes(tray, terms, seconds)
    event = payload.event
    if event == "PreCompact":
        text = moments.before_compaction(store, tray, scene, now, payload.trigger)
        archive = terms.settings.flag("archive")
        later = (lambda: _keep_rows(data, scene, now, tray)) if archive else None
        return Answer(instructions(text), later)
    if event == "SessionStart" and payload.source == "compact":
        brief = moments.after_compaction(store, tray, scene, now)
        if brief is None:
            return Answer()
        return brief_to_print(tray, event, brief)
    if event == "SessionStart":
        moments.session_resumed(store, tray, scene, now, client)
    elif event == "PostCompact":
        moments.summary_seen(
            store, tray, scene, now, trigger=payload.trigger, summary=payload.summary
        )
    elif _brings_summary(payload, data):
        moments.summary_written(store, tray, scene, now, summary_in(payload.last_words))
    elif event == "SessionEnd":
        moments.session_ended(store, tray, scene, now, client)
    elif event in WORKING:
        last = payload.last_words if event == "Stop" and not payload.agent_id else ""
        moments.work_went_on(store, tray, scene, now, last_words=last, client=client)
    return Answer()


def _tell_mistakes(tray: Tray, terms: Terms, seconds: float) -> None:
    """What is wrong in the settings: once per session to the user, and into the log."""
    if not terms.settings.problems:
        return
    told = "; ".join(terms.settings.problems[:5])
    name = f"settings-{checksum(told):016x}"
    if tray.latched(name) or not tray.latch(name, seconds):
        return
    with suppress(OSError):
        log.write(tray.data, f"settings: {told}")
        line = f"Holdfast: {told[:600]}. `holdfast config` shows what is in effect."
        tray.write("tell-user", line.encode("utf-8", "replace"))


def _keep_rows(data: str, scene: Scene, now: Now, tray: Tray) -> None:
    prepared = tray.prepared()
    store = _store(data)
    if prepared is None or store is None:
        return
    try:
        moments.keep_rows(store, scene, now, (prepared.generation, prepared.offset))
    finally:
        store.close()
