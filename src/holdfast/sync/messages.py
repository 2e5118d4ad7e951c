"""Messages between agents, as a machine's sync handles them: sends ours, fetches theirs.

A call for messages is on disk with its key before it is made, so that a crash after the answer
asks again and is given the same. What came is in the cursor database before it is in a session
dir, and stays there until the agent had it and the service knows that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

from holdfast.fastpath import inbox
from holdfast.fastpath.inbox import HEADING
from holdfast.fastpath.session_dir import SessionDir, safe_name
from holdfast.redact import redact
from holdfast.state.redaction_gate import redact_document
from holdfast.store.protocol import Session
from holdfast.store.sqlite.change_feed import ChangeFeed
from holdfast.sync import message_outbox
from holdfast.sync.client import ApiCall, RequestRejected, ServerUnavailable
from holdfast.sync.cursor_db import CursorDb, IncomingMessage, LiveSession, PendingFetch
from holdfast.sync.project_id import make_project_id
from holdfast.text import BAR, quote_block, quote_inline, sanitize_to_one_line

# Sessions of this machine that are looked after in one run, the last seen first.
MAX_SESSIONS = 20
FETCH_LIMIT = 10


class MessageSync:
    def __init__(
        self,
        data: str,
        cursor_db: CursorDb,
        call: ApiCall,
        changes: ChangeFeed,
        project: Callable[[Session, str], str],
        same_store: bool,
        spent: Callable[[], bool],
    ) -> None:
        self._data, self._cursor_db, self._call, self._changes = data, cursor_db, call, changes
        self._project, self._same, self._spent = project, same_store, spent

    def send(self) -> tuple[int, list[str]]:
        """How many of our messages the service took, and the files of those it does not want."""
        sent, refused = 0, []
        for message in message_outbox.list_queued(self._data):
            if self._spent():
                break
            body = dict(message.body)
            folder, name = str(body.pop("folder", "")), str(body.pop("name", ""))
            session = Session("", project=folder, cwd=folder)
            body["project"] = folder if self._same else name or self._project(session, "")
            try:
                self._call("POST", "/api/messages", body, message.key)
            except RequestRejected as error:
                message_outbox.reject_queued(message, str(error))
                refused.append(os.path.basename(message.path))
                continue
            message_outbox.delete_queued(message)
            sent += 1
        return sent, refused

    def fetch(self) -> int:
        """How many messages came for sessions of this machine."""
        count = 0
        for live in self._cursor_db.list_live(MAX_SESSIONS):
            if self._spent():
                break
            session = self._changes.session(live.session_id)
            if session is not None and session.ended:
                self._cursor_db.delete_live(live.session_id)
                continue
            with suppress(RequestRejected):  # not for this token, or no such project yet
                count += self._fetch(live, session or Session(live.session_id, cwd=live.cwd))
        self._place()
        self._acknowledge()
        return count

    def _fetch(self, live: LiveSession, session: Session) -> int:
        asking = self._cursor_db.pending_fetch(live.session_id)
        if asking is None:
            full = inbox.count_waiting(self._folder(live.session_id)) >= inbox.MAX_WAITING
            if live.chars == 0 or full:
                return 0
            project = self._name(session, live)
            if not self._pending(live, project):
                return 0
            body = {
                "agent_id": live.session_id,
                "role": live.role,
                "session_id": live.session_id,
                "project": project,
                "limit": FETCH_LIMIT,
            }
            asking = PendingFetch(os.urandom(16).hex(), json.dumps(body))
            self._cursor_db.save_pending_fetch(live.session_id, asking)
        try:
            answer = self._call(
                "POST", "/api/messages/deliver", json.loads(asking.body), asking.key
            )
        except RequestRejected:
            self._cursor_db.store_incoming(live.session_id, [])  # this question has no answer
            raise
        try:
            messages = [_to_incoming(live, one) for one in answer["messages"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ServerUnavailable("unexpected answer from the server") from error
        self._cursor_db.store_incoming(live.session_id, messages)
        return len(messages)

    def _pending(self, live: LiveSession, project: str) -> bool:
        asked = {
            "agent_id": live.session_id,
            "role": live.role,
            "project_id": make_project_id(project),
            "status": "pending",
            "limit": 1,
        }
        answer = self._call("GET", f"/api/messages?{urlencode(asked)}")
        return isinstance(answer, dict) and bool(answer.get("messages"))

    def _name(self, session: Session, live: LiveSession) -> str:
        if self._same:
            return session.project or live.cwd
        known, _ = self._cursor_db.load_cursor(session.id)
        return self._project(session, known)

    def _place(self) -> None:
        for message in self._cursor_db.messages():
            if message.placed:
                continue
            folder = self._folder(message.session_id)
            # It may be there already, or even have been read: a crash came before the note.
            if not inbox.has_message(folder, message.name):
                live = self._cursor_db.find_live(message.session_id)
                # Never less than its own length, or it would wait for ever.
                most = max(live.chars if live else 0, len(HEADING) + len(message.text) + 1)
                inbox.put_message(
                    folder, message.name, inbox.InboxMessage(message.id, message.text, most)
                )
            self._cursor_db.mark_placed(message)

    def _acknowledge(self) -> None:
        for message in self._cursor_db.messages():
            folder = self._folder(message.session_id)
            if message.placed and inbox.was_delivered(folder, message.name):
                path = f"/api/messages/{quote(message.id, safe='')}/ack"
                with suppress(RequestRejected):  # the message is gone: no answer is awaited
                    self._call("POST", path, {"agent_id": message.session_id})
                self._cursor_db.delete_incoming(message)
                inbox.forget_delivered(folder, message.name)

    def _folder(self, session_id: str) -> str:
        return SessionDir(self._data, session_id).path


def _to_incoming(live: LiveSession, message: dict[str, Any]) -> IncomingMessage:
    """Redacted and framed now: the hook that hands it over has no time for either."""
    clean, _ = redact_document(message)
    room = live.chars - len(HEADING) - 1
    text = (
        redact(format_agent_message(clean, room))[:room] or "- a message that is too long to show"
    )
    name = inbox.build_file_name(
        int(message.get("priority", 0)),
        str(message.get("created_at", "")),
        safe_name(message["id"]),
    )
    return IncomingMessage(live.session_id, safe_name(str(message["id"])), name, text, False)


# A message from another agent as text for the model: marked as data, and unable to be more. Every
# line of what was sent stands behind a bar, control characters and what could be taken for the
# client's own marks are gone, and sender and topic are one quoted line. The caller has redacted it.

MAX_NAME_CHARS, MAX_TOPIC_CHARS = 80, 120
TRUNCATED_NOTICE = "[truncated: the server has the rest]"


def format_agent_message(message: Mapping[str, Any], room: int) -> str:
    """At most `room` characters; "" when there is no room for anything of it."""
    to = "you"
    if message.get("to_role"):
        to = f"role {quote_inline(str(message['to_role']), MAX_NAME_CHARS)}"
    elif not message.get("to_agent_id"):
        to = "everybody"
    head = (
        f"- from {quote_inline(str(message.get('from_agent_id', '')), MAX_NAME_CHARS)} to {to},"
        f" topic {quote_inline(str(message.get('topic', '')), MAX_TOPIC_CHARS)},"
        f" {sanitize_to_one_line(str(message.get('created_at', '')))[:19]} UTC,"
        f" message {sanitize_to_one_line(str(message.get('id', '')))[:MAX_NAME_CHARS]}:"
    )
    whole = f"{head}\n{quote_block(_text(message.get('payload')))}"
    if len(whole) <= room:
        return whole
    mark = f"\n{BAR}{TRUNCATED_NOTICE}"
    kept = whole[: max(0, room - len(mark))].rstrip()
    before, _, last = kept.rpartition("\n")
    # A line of which nothing is left goes, bar and all.
    kept = before if last.strip() in ("", BAR.strip()) else kept
    return kept + mark if len(kept) > len(head) else ""


def _text(payload: Any) -> str:
    """The words of a message; of any other document its lines of names and values."""
    if isinstance(payload, str):
        return payload
    if not isinstance(payload, Mapping):
        return "" if payload is None else json.dumps(payload, ensure_ascii=False)
    for name in ("text", "message", "content"):
        if len(payload) == 1 and isinstance(payload.get(name), str):
            return str(payload[name])
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in payload.items()
    )
