"""Messages between agents, as a machine's sync handles them: sends this machine's, fetches others'.

A call for messages is on disk with its key before it is made, and until all that it answered is in
the session dir: a crash asks again and is given the same. There a message stays until the agent had
it and the service knows that.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

from holdfast.fastpath import inbox
from holdfast.fastpath.inbox import HEADING
from holdfast.fastpath.session_dir import SessionDir, safe_name
from holdfast.files import list_names, make_private_dir, read, remove, write_atomic
from holdfast.records import NamedTuple
from holdfast.redact import redact
from holdfast.state.redaction_gate import redact_document
from holdfast.store.protocol import Session
from holdfast.store.sqlite.change_feed import ChangeFeed
from holdfast.sync.client import ApiCall, RequestRejected, ServerUnavailable
from holdfast.sync.cursor_db import CursorDb, LiveSession, PendingFetch
from holdfast.sync.project_id import make_project_id
from holdfast.text import BAR, quote_block, quote_inline, sanitize_to_one_line

OUTBOX_DIR, REJECTED_DIR = "outgoing", "refused"
SUFFIX = ".json"


class OutgoingMessage(NamedTuple):
    path: str
    key: str
    # As the service takes it; the project is given by its `folder`, and perhaps a `name`.
    body: dict[str, Any]
    reason: str = ""  # of the service, where it did not want it


def queue_message(data: str, body: dict[str, Any]) -> str:
    """The key of the message, which is on disk now."""
    key = os.urandom(16).hex()
    folder = f"{data}/{OUTBOX_DIR}"
    make_private_dir(folder)
    # By time first: they are posted in the order in which they were written.
    name = f"{time.time_ns():020d}-{key}{SUFFIX}"
    write_atomic(f"{folder}/{name}", json.dumps({"key": key, "body": body}).encode())
    return key


def queue_forgetting(data: str, session: Session, phrase: str = "") -> None:
    """It goes the way of a message: the service is asked to forget a session, or a text in it."""
    if redact(phrase) != phrase:
        return  # it went there without its secret: the service never had it
    folder = session.project or session.cwd
    queue_message(data, {"forget": session.id, "phrase": phrase, "folder": folder})


def list_queued(data: str) -> list[OutgoingMessage]:
    return _read_messages(f"{data}/{OUTBOX_DIR}")


def list_rejected(data: str) -> list[OutgoingMessage]:
    return _read_messages(f"{data}/{OUTBOX_DIR}/{REJECTED_DIR}")


def reject_queued(message: OutgoingMessage, reason: str) -> None:
    folder, _, name = message.path.rpartition("/")
    make_private_dir(f"{folder}/{REJECTED_DIR}")
    said = {"key": message.key, "body": message.body, "reason": reason}
    write_atomic(f"{folder}/{REJECTED_DIR}/{name}", json.dumps(said).encode())
    remove(message.path)


def _read_messages(folder: str) -> list[OutgoingMessage]:
    found = []
    for name in sorted(list_names(folder)):
        if not name.endswith(SUFFIX):
            continue
        path = f"{folder}/{name}"
        try:
            said = json.loads(read(path) or b"")
            reason = str(said.get("reason", ""))
            found.append(OutgoingMessage(path, str(said["key"]), dict(said["body"]), reason))
        except (ValueError, KeyError, TypeError):
            continue  # not one of ours
    return found


# Sessions of this machine that are looked after in one run, the last seen first.
MAX_SESSIONS = 20
FETCH_LIMIT = 10


class MessageSync(NamedTuple):
    data: str
    cursor_db: CursorDb
    call: ApiCall
    changes: ChangeFeed
    name_project: Callable[[Session, str], str]
    same_store: bool
    is_spent: Callable[[], bool]

    def send(self) -> tuple[int, list[str]]:
        """How many of our messages the service took, and the files of those it does not want."""
        sent, refused = 0, []
        for message in list_queued(self.data):
            if self.is_spent():
                break
            body = dict(message.body)
            folder, name = str(body.pop("folder", "")), str(body.pop("name", ""))
            session = Session("", project=folder, cwd=folder)
            path, forgotten = "/api/messages", str(body.pop("forget", ""))
            if forgotten:
                path = f"/api/sessions/{quote(forgotten, safe='')}/forget"
            known = self.cursor_db.load_cursor(forgotten)[0]  # its folder may be gone
            named = name or self.name_project(session, known)
            body["project"] = folder if self.same_store else named
            try:
                self.call("POST", path, body, message.key)
            except RequestRejected as error:
                reject_queued(message, str(error))
                refused.append(os.path.basename(message.path))
                continue
            remove(message.path)
            sent += 1
        return sent, refused

    def fetch(self) -> int:
        """How many messages came for sessions of this machine."""
        count = 0
        for place, live in enumerate(self.cursor_db.list_live()):
            found = self.changes.session(live.session_id)
            session = found if found is not None and found.id == live.session_id else None
            has_ended = session is not None and bool(session.ended)
            if not has_ended and place < MAX_SESSIONS and not self.is_spent():
                with suppress(RequestRejected):  # not for this token, or no such project yet
                    count += self._fetch_for(
                        live, session or Session(live.session_id, cwd=live.cwd)
                    )
            self._acknowledge(live.session_id)
            if has_ended:
                self.cursor_db.delete_live(live.session_id)
        return count

    def _fetch_for(self, live: LiveSession, session: Session) -> int:
        asking = self.cursor_db.pending_fetch(live.session_id)
        if asking is None:
            full = inbox.count_waiting(self._session_folder(live.session_id)) >= inbox.MAX_WAITING
            if live.chars == 0 or full:
                return 0
            project = session.project or live.cwd
            if not self.same_store:
                project = self.name_project(session, self.cursor_db.load_cursor(session.id)[0])
            if not self._has_pending(live, project):
                return 0
            body = {
                "agent_id": live.session_id,
                "role": live.role,
                "session_id": live.session_id,
                "project": project,
                "limit": FETCH_LIMIT,
            }
            asking = PendingFetch(os.urandom(16).hex(), json.dumps(body))
            self.cursor_db.save_pending_fetch(live.session_id, asking)
        try:
            answer = self.call("POST", "/api/messages/deliver", json.loads(asking.body), asking.key)
            messages = [_to_inbox(live, one) for one in answer["messages"]]
        except RequestRejected:
            self.cursor_db.delete_pending_fetch(live.session_id)  # this question has no answer
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ServerUnavailable("unexpected answer from the server") from error
        folder = self._session_folder(live.session_id)
        for name, message in messages:
            # It may be there already, or even have been read: a crash came before all was there.
            if not inbox.has_message(folder, name):
                inbox.put_message(folder, name, message)
        self.cursor_db.delete_pending_fetch(live.session_id)
        return len(messages)

    def _has_pending(self, live: LiveSession, project: str) -> bool:
        asked = {
            "agent_id": live.session_id,
            "role": live.role,
            "project_id": make_project_id(project),
            "status": "pending",
            "limit": 1,
        }
        answer = self.call("GET", f"/api/messages?{urlencode(asked)}")
        return isinstance(answer, dict) and bool(answer.get("messages"))

    def _acknowledge(self, session_id: str) -> None:
        """What the agent was given; unless it may come once more, when it must still be there."""
        if self.cursor_db.pending_fetch(session_id) is not None:
            return
        folder = self._session_folder(session_id)
        for name, message_id in inbox.list_delivered(folder):
            path = f"/api/messages/{quote(message_id, safe='')}/ack"
            with suppress(RequestRejected):  # the message is gone: no answer is awaited
                self.call("POST", path, {"agent_id": session_id})
            inbox.forget_delivered(folder, name)

    def _session_folder(self, session_id: str) -> str:
        return SessionDir(self.data, session_id).path


def _to_inbox(live: LiveSession, message: dict[str, Any]) -> tuple[str, inbox.InboxMessage]:
    """The name of its file, and the message. Redacted and framed now: the hook that hands it over
    has no time for either."""
    clean, _ = redact_document(message)
    room = live.chars - len(HEADING) - 1
    text = (
        redact(format_agent_message(clean, room))[:room] or "- a message that is too long to show"
    )
    message_id = safe_name(str(message["id"]))
    name = inbox.build_file_name(
        int(message.get("priority", 0)), str(message.get("created_at", "")), message_id
    )
    # Never less than its own length, or it would wait for ever.
    most = max(live.chars, len(HEADING) + len(text) + 1)
    return name, inbox.InboxMessage(message_id, text, most)


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
    whole = f"{head}\n{quote_block(_format_payload(message.get('payload')))}"
    if len(whole) <= room:
        return whole
    mark = f"\n{BAR}{TRUNCATED_NOTICE}"
    kept = whole[: max(0, room - len(mark))].rstrip()
    before, _, last = kept.rpartition("\n")
    # A line of which nothing is left goes, bar and all.
    kept = before if last.strip() in ("", BAR.strip()) else kept
    return kept + mark if len(kept) > len(head) else ""


def _format_payload(payload: Any) -> str:
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
