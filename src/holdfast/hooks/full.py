"""The full path: events that need the store, the fold, or both.

Opens what the handlers need, calls them, and turns what they answer into the client's output.
A store that cannot be used is logged, and the event is handled without it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial

from holdfast.clients.claude_code.fastpath.hook_output import format_instructions
from holdfast.clients.claude_code.fastpath.hook_payload import HookPayload, extract_summary
from holdfast.clock import Timestamp, read_clock
from holdfast.compaction import handlers
from holdfast.fastpath.session_dir import SessionDir, checksum
from holdfast.files import make_private_dir
from holdfast.hooks import hook_log
from holdfast.hooks.fast import (
    WORK_EVENTS,
    HookResult,
    build_brief_result,
    is_fresh,
)
from holdfast.paths import store_path
from holdfast.session.context import EffectiveConfig, load_config
from holdfast.session.update import SessionContext
from holdfast.settings.user_patterns import apply_configured_patterns
from holdfast.store.protocol import StoreError
from holdfast.store.sqlite.store import SqliteStore

# On the agent's clock another writer is not waited for long: our own writes take milliseconds.
STORE_TIMEOUT_SECONDS = 2.0
# How often one process looks again for rows that came while it read.
MAX_ROUNDS = 5


def handle_full(payload: HookPayload, data: str, client: int) -> HookResult:
    if payload.event in WORK_EVENTS and not _brings_summary(payload, data):
        _follow(payload, data, client)
        return HookResult()
    return _handle_with_store(payload, data, client)


def _brings_summary(payload: HookPayload, data: str) -> bool:
    return payload.is_summariser and SessionDir(data, payload.session_id).is_compacting()


def _follow(payload: HookPayload, data: str, client: int) -> None:
    """Read the transcript to its end, one process at a time.

    Tool calls can come faster than we read. Who finds another at work leaves at once, and the one
    at work looks again when it is done.
    """
    session_dir = SessionDir(data, payload.session_id)
    for _ in range(MAX_ROUNDS):
        if not session_dir.begin_work(time.time()):
            return
        try:
            _handle_with_store(payload, data, client)
        finally:
            session_dir.end_work()
        prepared = session_dir.read_brief()
        if prepared is None or is_fresh(prepared, payload.transcript_path):
            return


def _handle_with_store(payload: HookPayload, data: str, client: int) -> HookResult:
    store = _open_store(data)
    try:
        return _dispatch(payload, data, client, store)
    except StoreError as error:
        if store is None:
            raise
        hook_log.write_line(data, f"{payload.event} {hook_log.format_error(error)}")
    finally:
        if store is not None:
            store.close()
    return _dispatch(payload, data, client, None)


def _open_store(data: str) -> SqliteStore | None:
    try:
        make_private_dir(data)
        return SqliteStore(store_path(data), busy_seconds=STORE_TIMEOUT_SECONDS)
    except (StoreError, OSError) as error:
        hook_log.log_error(data, error)
        return None


def _dispatch(
    payload: HookPayload, data: str, client: int, store: SqliteStore | None
) -> HookResult:
    now = read_clock()
    session_dir = SessionDir(data, payload.session_id)
    config = load_config(os.environ, data, payload.cwd)
    apply_configured_patterns(config.settings, data)
    ctx = SessionContext(
        payload.session_id,
        payload.transcript_path,
        payload.cwd,
        config,
        partial(hook_log.log_error, data),
    )
    _report_settings_problems(session_dir, config, now.seconds)
    event = payload.event
    if event == "PreCompact":
        text = handlers.on_precompact(store, session_dir, ctx, now, payload.trigger)
        archive = config.settings.flag("archive")
        later = (lambda: _archive_rows(data, ctx, now, session_dir)) if archive else None
        return HookResult(format_instructions(text), later)
    if event == "SessionStart" and payload.source == "compact":
        brief = handlers.on_session_start_compact(store, session_dir, ctx, now)
        if brief is None:
            return HookResult()
        return build_brief_result(session_dir, event, brief)
    if event == "SessionStart":
        handlers.on_session_resume(store, session_dir, ctx, now, client)
    elif event == "PostCompact":
        handlers.on_postcompact(
            store, session_dir, ctx, now, trigger=payload.trigger, summary=payload.summary
        )
    elif _brings_summary(payload, data):
        handlers.on_summary_written(
            store, session_dir, ctx, now, extract_summary(payload.last_message)
        )
    elif event == "SessionEnd":
        handlers.on_session_end(store, session_dir, ctx, now, client)
    elif event in WORK_EVENTS:
        last = payload.last_message if event == "Stop" and not payload.agent_id else ""
        handlers.on_progress(store, session_dir, ctx, now, last_words=last, client=client)
    return HookResult()


def _report_settings_problems(
    session_dir: SessionDir, config: EffectiveConfig, seconds: float
) -> None:
    """What is wrong in the settings: once per session to the user, and into the log."""
    if not config.settings.problems:
        return
    told = "; ".join(config.settings.problems[:5])
    name = f"settings-{checksum(told):016x}"
    if session_dir.latched(name) or not session_dir.latch(name, seconds):
        return
    with suppress(OSError):
        hook_log.write_line(session_dir.data_dir, f"settings: {told}")
        line = f"Holdfast: {told[:600]}. `holdfast config` shows what is in effect."
        session_dir.write("tell-user", line.encode("utf-8", "replace"))


def _archive_rows(data: str, ctx: SessionContext, now: Timestamp, session_dir: SessionDir) -> None:
    prepared = session_dir.read_brief()
    store = _open_store(data)
    if prepared is None or store is None:
        return
    try:
        handlers.archive_rows(store, ctx, now, (prepared.generation, prepared.offset))
    finally:
        store.close()
