"""Answers for the native module: one JSON object in, one JSON object out.

The module runs inside the client and has no files and no Python of its own: it sends what the
client told it and does what the answer says. An answer that is not there, or not JSON, means
that the client goes on by itself, so nothing here has to be an error.

    native-begin     {"mode": "augment", "latch": PATH, "steering": ...} | {"mode": "instant",
                     "text": ..., "keep": [...]} | {"mode": "off"}
    native-augment   {"texts": [...], "status": ...} | {}
    native-moment    {"now": true | false}
    native-start     {"mode": ..., "compact_between_tasks": ..., "percent": ..., "recall": ...}
    native-status    {"text": ...}
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from holdfast import clients
from holdfast.clients.client_protocol import ConversationMessage
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.compaction import module_handlers
from holdfast.fastpath.delivery import DeliveredItem, record_delivery
from holdfast.fastpath.session_dir import PrebuiltText
from holdfast.hooks import hook_log
from holdfast.hooks.fast import HookResult
from holdfast.hooks.hook_store import archive_detached, open_store
from holdfast.paths import data_dir_from
from holdfast.session.context import (
    SessionContext,
    SessionRef,
    build_context,
    load_module_settings,
)
from holdfast.session.view import store_spool
from holdfast.store.protocol import StoreError

MAX_MESSAGES = 20_000
MAX_CONTEXT_CHARS = 9_900  # the client puts a longer text of a hook into a file
STORE_TIMEOUT_SECONDS = 1.0  # the module waits three seconds in all


class ModuleRequest:
    """What the module sent. A field that is absent, or of another type, is empty."""

    def __init__(self, fields: dict[str, Any], data: str) -> None:
        self.data = data
        self.session_id = _text(fields, "session_id")
        self.cwd = _text(fields, "cwd")
        self.trigger = _text(fields, "trigger")
        self.transcript = _text(fields, "transcript") or find_transcript(self.session_id)
        rows = fields.get("messages")
        self.messages = (
            [_parse_message(row) for row in rows[:MAX_MESSAGES]] if isinstance(rows, list) else []
        )


def handle_module(event: str, raw: bytes, data: str) -> HookResult:
    """The JSON to print, and what is to be done after that."""
    try:
        fields = json.loads(raw or b"{}")
    except ValueError:
        return HookResult("{}")
    work = _HANDLERS.get(event)
    if work is None or not isinstance(fields, dict):
        return HookResult("{}")
    asked = ModuleRequest(fields, data)
    if not asked.session_id:
        return HookResult("{}")
    store = open_store(data, STORE_TIMEOUT_SECONDS)
    ref = SessionRef(asked.session_id, asked.transcript, asked.cwd)
    ctx = build_context(data, ref, store, partial(hook_log.log_error, data))
    try:
        told = work(asked, ctx)
    except StoreError as error:
        if store is None:
            raise
        hook_log.write_line(data, f"{event} {hook_log.format_error(error)}")
        told = work(asked, ctx._replace(store=None))
    finally:
        if store is not None:
            store.close()
    later, printed = told.pop("later", None), told.pop("printed", None)
    return HookResult(json.dumps(told), later, printed)


def _begin(asked: ModuleRequest, ctx: SessionContext) -> dict[str, Any]:
    mode = load_module_settings(asked.data, asked.cwd).compaction
    if mode == "off":
        return {"mode": "off"}
    if mode == "instant" and asked.trigger != "precompute":
        done = module_handlers.on_instant(ctx, asked.trigger, asked.messages)
        if done is not None:
            made = done.text
            return {
                "mode": "instant",
                "text": made.text,
                "keep": list(done.kept_indexes),
                "status": f"{_count_facts(made)} facts, {len(done.kept_indexes)} messages kept",
                "printed": lambda: _on_printed(ctx, made),
                # PreCompact, which archives the rows otherwise, is not called on this path.
                "later": lambda: archive_detached(ctx, (made.generation, made.offset)),
            }
    begun = module_handlers.on_begin(ctx)
    if not begun.claimed:
        return {"mode": "off"}
    return {"mode": "augment", "latch": begun.latch, "steering": begun.steering}


def _augment(_asked: ModuleRequest, ctx: SessionContext) -> dict[str, Any]:
    made = module_handlers.on_augment(ctx)
    if made is None:
        return {}
    return {
        "texts": split_text(made.text, MAX_CONTEXT_CHARS, "Holdfast: continued.\n"),
        "status": f"{_count_facts(made)} facts restored after the summary",
        "printed": lambda: _on_printed(ctx, made),
    }


def split_text(text: str, most: int, continued: str) -> list[str]:
    """In pieces of at most `most` characters, parted between lines; all but the first say so."""
    pieces = []
    while len(text) > most:
        end = text.rfind("\n", len(continued), most) + 1 or most
        pieces.append(text[:end])
        text = continued + text[end:]
    return [*pieces, text]


def _count_facts(made: PrebuiltText) -> int:
    return made.fact_ids.count(",") + 1 if made.fact_ids else 0


def _on_printed(ctx: SessionContext, made: PrebuiltText) -> None:
    """The module has the text, and in it all that was queued for the next prompt."""
    item = DeliveredItem("brief", made.text, made.epoch, made.fact_ids)
    record_delivery(ctx.session_dir, module_handlers.MODULE_CHANNEL, item)
    ctx.session_dir.delete_gap()


def _moment(asked: ModuleRequest, ctx: SessionContext) -> dict[str, Any]:
    chosen = load_module_settings(asked.data, asked.cwd)
    return {"now": chosen.compact_between_tasks and module_handlers.is_between_tasks(ctx)}


def _start(asked: ModuleRequest, _ctx: SessionContext) -> dict[str, Any]:
    chosen = load_module_settings(asked.data, asked.cwd)
    return {
        "mode": chosen.compaction,
        "compact_between_tasks": chosen.compact_between_tasks,
        "percent": chosen.compact_between_tasks_at_percent,
    }


def _status(asked: ModuleRequest, ctx: SessionContext) -> dict[str, Any]:
    from holdfast.recall.queries import format_session_report

    store_spool(ctx)
    return {
        "text": format_session_report(
            ctx.store, asked.session_id, load_module_settings(asked.data, asked.cwd).compaction
        )
    }


_HANDLERS: dict[str, Callable[[ModuleRequest, SessionContext], dict[str, Any]]] = {
    "native-begin": _begin,
    "native-augment": _augment,
    "native-moment": _moment,
    "native-start": _start,
    "native-status": _status,
}


def find_transcript(session_id: str) -> str:
    """Where the client keeps this session, when the module could not say."""
    if not session_id or not session_id.replace("-", "").isalnum():
        return ""
    paths = clients.default().paths
    config = paths.config_dir(os.environ, os.path.expanduser("~"))
    return paths.find_transcript(config, session_id, data_dir_from(os.environ)) or ""


def _parse_message(row: object) -> ConversationMessage:
    if not isinstance(row, dict):
        return ConversationMessage("user", 0, False)
    role, opening = _text(row, "role"), _text(row, "opening").lstrip()
    answers = _ids(row, "answers")
    user_text = clients.default().user_text
    typed = role == "user" and not answers and user_text.is_typed_opening(opening)
    size = row.get("size")
    return ConversationMessage(
        role,
        size if type(size) is int and size > 0 else 0,
        typed,
        _ids(row, "calls"),
        answers,
        opening.startswith(HOLDFAST_OPENINGS),
    )


def _ids(row: dict[str, Any], name: str) -> tuple[str, ...]:
    found = row.get(name)
    return tuple(i for i in found if type(i) is str) if isinstance(found, list) else ()


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if type(value) is str else ""
