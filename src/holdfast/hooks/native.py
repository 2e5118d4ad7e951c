"""Answers for the native module: one JSON object in, one JSON object out.

The module runs inside the client and has no files and no Python of its own: it sends what the
client told it and does what the answer says. An answer that is not there, or not JSON, means
that the client goes on by itself, so nothing here has to be an error.

    native-begin     {"mode": "augment", "latch": PATH} | {"mode": "instant", "text": ...,
                     "keep": [...]} | {"mode": "off"}
    native-augment   {"text": ..., "status": ...} | {}
    native-moment    {"now": true | false}
    native-start     {"mode": ..., "right_moment": ..., "percent": ..., "recall": ...}
    native-status    {"text": ...}
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from holdfast.brief.kept import Heard
from holdfast.clients.claude_code.payloads import summary_in
from holdfast.clients.claude_code.words import OUR_OPENINGS, summary_words
from holdfast.files import make_folder
from holdfast.hooks import log
from holdfast.hooks.light import Answer, delivered, now_text
from holdfast.lifecycle import native
from holdfast.lifecycle.choices import choices
from holdfast.lifecycle.keep import Scene
from holdfast.lifecycle.moments import Now, keep_rows
from holdfast.lifecycle.places import store_path
from holdfast.lifecycle.terms import terms_for
from holdfast.lifecycle.tray import Prepared, Tray
from holdfast.store.protocol import Store, StoreError
from holdfast.store.sqlite import SqliteStore

# The client's own words around its summary, and ours: no words of the user.
NOT_TYPED = ("This session is being continued", "<", *OUR_OPENINGS)
MESSAGES = 20_000
BUSY_SECONDS = 1.0  # the module waits three seconds in all


class Asked:
    """What the module sent. A field that is absent, or of another type, is empty."""

    def __init__(self, fields: dict[str, Any], data: str) -> None:
        self.data = data
        self.session_id = _text(fields, "session_id")
        self.cwd = _text(fields, "cwd")
        self.trigger = _text(fields, "trigger")
        self.transcript = _text(fields, "transcript") or find_transcript(self.session_id)
        self.summary = _text(fields, "summary")
        self.kept = _text(fields, "kept")  # what the messages that stay tell
        rows = fields.get("messages")
        self.messages = [_heard(row) for row in rows[:MESSAGES]] if isinstance(rows, list) else []

    @property
    def tray(self) -> Tray:
        return Tray(self.data, self.session_id)

    @property
    def scene(self) -> Scene:
        terms = terms_for(os.environ, self.data, self.cwd)
        confess = partial(log.confess, self.data)
        return Scene(self.session_id, self.transcript, self.cwd, terms, confess)


def answer(event: str, raw: bytes, data: str) -> Answer:
    """The JSON to print, and what is to be done after that."""
    try:
        fields = json.loads(raw or b"{}")
    except ValueError:
        return Answer("{}")
    work = _WORK.get(event)
    if work is None or not isinstance(fields, dict):
        return Answer("{}")
    asked = Asked(fields, data)
    if not asked.session_id:
        return Answer("{}")
    seconds = time.time()
    now = Now(now_text(seconds), seconds)
    store = _store(data)
    try:
        told = work(asked, store, now)
    except StoreError as error:
        if store is None:
            raise
        log.write(data, f"{event} {log.described(error)}")
        told = work(asked, None, now)
    finally:
        if store is not None:
            store.close()
    later, printed = told.pop("later", None), told.pop("printed", None)
    return Answer(json.dumps(told), later, printed)


def _begin(asked: Asked, store: Store | None, now: Now) -> dict[str, Any]:
    mode = choices(asked.data, asked.cwd).compaction
    if mode == "off":
        return {"mode": "off"}
    if mode == "instant" and asked.trigger != "precompute":
        done = native.instant(store, asked.tray, asked.scene, now, asked.trigger, asked.messages)
        if done is not None:
            made = done.made
            return {
                "mode": "instant",
                "text": made.text,
                "keep": list(done.kept),
                "status": f"{_facts(made)} facts, {len(done.kept)} messages kept",
                "printed": lambda: _printed(asked, made),
                "later": lambda: _keep_rows(asked, now, (made.generation, made.offset)),
            }
    begun = native.begin(store, asked.tray, asked.scene, now)
    return {"mode": "augment", "latch": begun.latch} if begun.mine else {"mode": "off"}


def _augment(asked: Asked, store: Store | None, now: Now) -> dict[str, Any]:
    # The client's own words around its summary tell nothing of the work.
    said = summary_words(summary_in(asked.summary)) + "\n" + asked.kept
    made = native.augment(store, asked.tray, asked.scene, now, said)
    if made is None:
        return {}
    return {
        "text": made.text,
        "status": f"{_facts(made)} facts restored behind the summary",
        "printed": lambda: _printed(asked, made),
    }


def _facts(made: Prepared) -> int:
    return made.facts.count(",") + 1 if made.facts else 0


def _printed(asked: Asked, made: Prepared) -> None:
    """The module has the text, and in it all that was queued for the next prompt."""
    delivered(asked.tray, "brief", native.ROAD, made)
    asked.tray.drop_gap()


def _moment(asked: Asked, store: Store | None, now: Now) -> dict[str, Any]:
    chosen = choices(asked.data, asked.cwd)
    due = chosen.right_moment and native.between_tasks(store, asked.tray, asked.scene, now)
    return {"now": due}


def _start(asked: Asked, _store: Store | None, _now: Now) -> dict[str, Any]:
    chosen = choices(asked.data, asked.cwd)
    return {
        "mode": chosen.compaction,
        "right_moment": chosen.right_moment,
        "percent": chosen.right_moment_percent,
    }


def _status(asked: Asked, store: Store | None, now: Now) -> dict[str, Any]:
    from holdfast.recall.account import account

    native.keep_noted(store, asked.tray, asked.scene, now)
    return {"text": account(store, asked.session_id, choices(asked.data, asked.cwd).compaction)}


_WORK: dict[str, Callable[[Asked, Store | None, Now], dict[str, Any]]] = {
    "native-begin": _begin,
    "native-augment": _augment,
    "native-moment": _moment,
    "native-start": _start,
    "native-status": _status,
}


def _keep_rows(asked: Asked, now: Now, knows: tuple[int, int]) -> None:
    """PreCompact, which archives the rows otherwise, does not come on this road."""
    store = _store(asked.data)
    if store is None:
        return
    try:
        keep_rows(store, asked.scene, now, knows)
    finally:
        store.close()


def find_transcript(session_id: str) -> str:
    """Where the client keeps this session, when the module could not say."""
    if not session_id or not session_id.replace("-", "").isalnum():
        return ""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    with suppress(OSError):
        for folder in os.listdir(f"{home}/projects"):
            path = f"{home}/projects/{folder}/{session_id}.jsonl"
            if os.path.exists(path):
                return path
    return ""


def _store(data: str) -> SqliteStore | None:
    try:
        make_folder(data)
        return SqliteStore(store_path(data), busy_seconds=BUSY_SECONDS)
    except (StoreError, OSError) as error:
        log.confess(data, error)
        return None


def _heard(row: object) -> Heard:
    if not isinstance(row, dict):
        return Heard("user", 0, False)
    role, opening = _text(row, "role"), _text(row, "opening").lstrip()
    answers = _ids(row, "answers")
    typed = role == "user" and not answers and not opening.startswith(NOT_TYPED)
    size = row.get("size")
    return Heard(
        role,
        size if type(size) is int and size > 0 else 0,
        typed,
        _ids(row, "calls"),
        answers,
        opening.startswith(OUR_OPENINGS),
    )


def _ids(row: dict[str, Any], name: str) -> tuple[str, ...]:
    found = row.get(name)
    return tuple(i for i in found if type(i) is str) if isinstance(found, list) else ()


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if type(value) is str else ""
