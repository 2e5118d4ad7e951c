"""The full path: events that need the store, the fold, or both.

Opens what the handlers need, calls them, and turns what they answer into the client's output.
A store that cannot be used is logged, and the event is handled without it.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from functools import partial

from holdfast.clients.client_protocol import LeftInContext
from holdfast.compaction import handlers
from holdfast.fastpath.delivery import DeliveredItem, claim_pending, record_delivery
from holdfast.fastpath.hook_json import HookPayload
from holdfast.fastpath.pending_texts import SETTINGS_PROBLEM, checksum
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import read_from
from holdfast.hooks import hook_log
from holdfast.hooks.fast import WORK_EVENTS, HookResult, answer_tool_call, build_result, is_fresh
from holdfast.hooks.hook_store import (
    call_with_store,
    keep_patterns,
    use_patterns,
    with_detached_store,
)
from holdfast.session.context import SessionContext, SessionRef, build_context
from holdfast.settings.user_patterns import apply_configured_patterns
from holdfast.store.sqlite.store import SqliteStore

# How often one process looks again for rows that came while it read.
MAX_ROUNDS = 5
# How long the end of a turn waits for another process to finish reading, and how often it looks.
TURN_END_SECONDS = 10.0
PAUSE_SECONDS = 0.05
# How long the end of a turn waits for its last words to stand in the transcript, where to look for
# them, and by how much of them they are known.
LAST_ROWS_SECONDS = 2.0
LAST_ROWS_BYTES = 64 * 1024
LAST_WORDS_CHARS = 40


def handle_full(payload: HookPayload, data: str, client: int) -> HookResult:
    use_patterns(data)
    try:
        works = payload.event in WORK_EVENTS and not payload.restores
        if works and not _brings_summary(payload, data):
            _follow_to_end(payload, data, client)
            return HookResult()
        return _handle_with_store(payload, data, client)
    finally:
        keep_patterns(data)


def _brings_summary(payload: HookPayload, data: str) -> bool:
    return payload.is_summariser and SessionDir(data, payload.session_id).is_compacting()


def _follow_to_end(payload: HookPayload, data: str, client: int) -> None:
    """Read the transcript to its end, one process at a time.

    Tool calls can come faster than we read. Who finds another at work leaves at once, and the one
    at work looks again when it is done. The end of a turn waits instead: the client writes the
    turn's last rows about then, and no event may follow that would read them.
    """
    session_dir = SessionDir(data, payload.session_id)
    patience = TURN_END_SECONDS if payload.event == "Stop" else 0.0
    if payload.event == "Stop":
        _await_last_words(payload)
    for _ in range(MAX_ROUNDS):
        if not _begin_work(session_dir, patience):
            return
        try:
            _handle_with_store(payload, data, client)
        finally:
            session_dir.end_work()
        known = session_dir.read_known()
        if known is None or is_fresh(known, payload):
            return


def _await_last_words(payload: HookPayload) -> None:
    """The client may call us before it has written the turn's last rows: its usage stands there."""
    words = payload.last_message.strip()[:LAST_WORDS_CHARS]
    written = json.dumps(words, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    end = time.monotonic() + LAST_ROWS_SECONDS
    while written and time.monotonic() < end:
        try:
            start = os.path.getsize(payload.transcript_path) - LAST_ROWS_BYTES
            if written in read_from(payload.transcript_path, max(start, 0), LAST_ROWS_BYTES):
                return
        except OSError:
            return
        time.sleep(PAUSE_SECONDS)


def _begin_work(session_dir: SessionDir, patience: float) -> bool:
    end = time.monotonic() + patience
    while not session_dir.begin_work(time.time()):
        if time.monotonic() >= end:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


def _handle_with_store(payload: HookPayload, data: str, client: int) -> HookResult:
    return call_with_store(
        data, payload.event, lambda store: _call_handler(payload, data, client, store)
    )


def _call_handler(
    payload: HookPayload, data: str, client: int, store: SqliteStore | None
) -> HookResult:
    ctx = _make_context(payload, data, store)
    apply_configured_patterns(ctx.config.settings, data)
    _report_settings_problems(ctx)
    event = payload.event
    if event == "PreCompact":
        made = handlers.on_precompact(ctx, payload.trigger, payload.instructions)
        steering = ctx.client.hook_io.format_instructions(made.text)
        return HookResult(steering, lambda: _prepare_compaction(ctx, made, payload.trigger))
    if event == "ModelRequest":
        return _answer_model_request(ctx, payload)
    if payload.restores:
        return build_result(payload, handlers.restore_with_this_hook(ctx, event))
    if event == "PreToolUse":
        handlers.read_rules(ctx)
        return answer_tool_call(payload, ctx.session_dir) or HookResult()
    if event == "SessionStart" and payload.source == "compact":
        return build_result(payload, handlers.on_session_start_compact(ctx, event))
    if event == "SessionStart" and payload.source == "request":
        return _answer_request(payload, ctx)
    if event == "SessionStart":
        handlers.on_session_resume(ctx, client)
    elif event == "PostModelSwitch":
        handlers.on_model_switch(ctx, payload.model, payload.context_tokens)
        room = payload.client.MAX_OUTPUT_CHARS
        claimed = claim_pending(ctx.session_dir, event, room, to_user=True, warn=True)
        return build_result(payload, claimed)
    elif event == "PostCompact":
        handlers.on_postcompact(ctx, trigger=payload.trigger, summary=payload.summary)
        return HookResult(later=lambda: with_detached_store(ctx, handlers.prepare_recall))
    elif _brings_summary(payload, data):
        summary = ctx.client.hook_io.extract_summary(payload.last_message)
        handlers.on_summary_written(ctx, summary)
    elif event == "SessionEnd":
        handlers.on_session_end(ctx, client)
    elif event in WORK_EVENTS:
        last = payload.last_message if event == "Stop" and not payload.agent_id else ""
        ended = event == "Stop" and not payload.agent_id
        handlers.on_progress(ctx, last_words=last, client=client, turn_ended=ended)
    return HookResult()


def handle_subagent(payload: HookPayload, data: str, transcript: str) -> HookResult:
    """A subagent's own context is compacted: what its own transcript says, and nothing is kept."""
    payload.session_id, payload.transcript_path = payload.agent_id, transcript
    ctx, event = _make_context(payload, data, None), payload.event
    text = handlers.tell_subagent(ctx, steer=event == "PreCompact")
    if event == "PreCompact":
        return HookResult(payload.client.format_instructions(text))
    return HookResult(payload.client.format_context(event, text))


def _make_context(payload: HookPayload, data: str, store: SqliteStore | None) -> SessionContext:
    ref = SessionRef(payload.session_id, payload.transcript_path, payload.cwd, payload.client.NAME)
    return build_context(data, ref, store, partial(hook_log.log_error, data))


def read_rules(payload: HookPayload, data: str) -> None:
    """After the hook has returned: the prompt may have lifted a rule."""
    with_detached_store(_make_context(payload, data, None), handlers.read_rules)


def note_session_start(payload: HookPayload, data: str, head: str, began: float) -> None:
    """After the hook has returned: no store is needed."""
    ctx = _make_context(payload, data, None)
    apply_configured_patterns(ctx.config.settings, data)
    handlers.note_session_start(ctx, head, began)


def _answer_request(payload: HookPayload, ctx: SessionContext) -> HookResult:
    made = handlers.restore_in_every_request(ctx, payload.prompt_id)
    if made is None or not made.text:
        return HookResult()
    item = DeliveredItem("brief", made.text, made.epoch, made.fact_ids)
    return HookResult(
        payload.client.format_context(payload.event, made.text),
        printed=lambda: record_delivery(ctx.session_dir, payload.event, item),
    )


def _answer_model_request(ctx: SessionContext, payload: HookPayload) -> HookResult:
    found = payload.client.read_request(payload.request)
    if found is None:  # somebody speaks of a summary: not to be looked at again
        ctx.session_dir.save_answered_request(payload.compaction_key)
        return HookResult()
    summary, behind = found
    left = LeftInContext(summary, (behind,))
    made = handlers.restore_in_next_request(ctx, payload.compaction_key, left)
    return build_result(payload, made)


def _report_settings_problems(ctx: SessionContext) -> None:
    """What is wrong in the settings: once per session to the user, and into the log."""
    problems, session_dir = ctx.config.settings.problems, ctx.session_dir
    if not problems:
        return
    told = "; ".join(problems[:5])
    name = f"settings-{checksum(told):016x}"
    if session_dir.latched(name) or not session_dir.latch(name, ctx.now.seconds):
        return
    with suppress(OSError):
        hook_log.write_line(session_dir.data_dir, f"settings: {told}")
        line = f"Holdfast: {told[:600]}. `holdfast config` shows what is in effect."
        session_dir.pending.put(SETTINGS_PROBLEM, line)


def _prepare_compaction(ctx: SessionContext, made: handlers.Steering, trigger: str) -> None:
    """After the hook has returned; the event's store is closed by then."""
    handlers.prepare_for_compaction(ctx._replace(store=None), made.view, trigger)
    with_detached_store(ctx, lambda ctx: handlers.keep_before_compaction(ctx, made, trigger))
