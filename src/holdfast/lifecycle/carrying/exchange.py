"""Messages between agents, as a machine's carrier handles them: sends ours, fetches theirs.

A call for messages is on disk with its key before it is made, so that a crash after the answer
asks again and is given the same. What came is in the ledger before it is in a session's tray,
and stays there until the agent had it and the service knows that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

from holdfast.brief.letters import framed
from holdfast.lifecycle import letterbox
from holdfast.lifecycle.carrying import outgoing
from holdfast.lifecycle.carrying.identity import project_id
from holdfast.lifecycle.carrying.ledger import Asking, Ledger, Live, Waiting
from holdfast.lifecycle.carrying.wire import Call, ServiceAway, ServiceRefused
from holdfast.lifecycle.letterbox import HEADING
from holdfast.lifecycle.tray import Tray, safe_name
from holdfast.redact import redact
from holdfast.state.gate import cleaned
from holdfast.store.moving.changed import Changes
from holdfast.store.protocol import Session

# Sessions of this machine that are looked after in one run, the last seen first.
MOST_SESSIONS = 20
AT_ONCE = 10


class Exchange:
    def __init__(
        self,
        data: str,
        ledger: Ledger,
        call: Call,
        changes: Changes,
        project: Callable[[Session, str], str],
        same_store: bool,
        spent: Callable[[], bool],
    ) -> None:
        self._data, self._ledger, self._call, self._changes = data, ledger, call, changes
        self._project, self._same, self._spent = project, same_store, spent

    def send(self) -> tuple[int, list[str]]:
        """How many of our messages the service took, and the files of those it does not want."""
        sent, refused = 0, []
        for letter in outgoing.waiting(self._data):
            if self._spent():
                break
            body = dict(letter.body)
            folder, name = str(body.pop("folder", "")), str(body.pop("name", ""))
            session = Session("", project=folder, cwd=folder)
            body["project"] = folder if self._same else name or self._project(session, "")
            try:
                self._call("POST", "/api/messages", body, letter.key)
            except ServiceRefused as error:
                outgoing.set_aside(letter, str(error))
                refused.append(os.path.basename(letter.path))
                continue
            outgoing.done(letter)
            sent += 1
        return sent, refused

    def fetch(self) -> int:
        """How many messages came for sessions of this machine."""
        count = 0
        for live in self._ledger.live(MOST_SESSIONS):
            if self._spent():
                break
            session = self._changes.session(live.session_id)
            if session is not None and session.ended:
                self._ledger.bury(live.session_id)
                continue
            with suppress(ServiceRefused):  # not for this token, or no such project yet
                count += self._fetch(live, session or Session(live.session_id, cwd=live.cwd))
        self._place()
        self._acknowledge()
        return count

    def _fetch(self, live: Live, session: Session) -> int:
        asking = self._ledger.asking(live.session_id)
        if asking is None:
            full = letterbox.waiting(self._folder(live.session_id)) >= letterbox.FULL
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
                "limit": AT_ONCE,
            }
            asking = Asking(os.urandom(16).hex(), json.dumps(body))
            self._ledger.ask(live.session_id, asking)
        try:
            told = self._call("POST", "/api/messages/deliver", json.loads(asking.body), asking.key)
        except ServiceRefused:
            self._ledger.receive(live.session_id, [])  # this question has no answer
            raise
        try:
            letters = [_letter(live, one) for one in told["messages"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ServiceAway("the service answers what it never said") from error
        self._ledger.receive(live.session_id, letters)
        return len(letters)

    def _pending(self, live: Live, project: str) -> bool:
        asked = {
            "agent_id": live.session_id,
            "role": live.role,
            "project_id": project_id(project),
            "standing": "pending",
            "limit": 1,
        }
        told = self._call("GET", f"/api/messages?{urlencode(asked)}")
        return isinstance(told, dict) and bool(told.get("messages"))

    def _name(self, session: Session, live: Live) -> str:
        if self._same:
            return session.project or live.cwd
        known, _ = self._ledger.session(session.id)
        return self._project(session, known)

    def _place(self) -> None:
        for letter in self._ledger.letters():
            if letter.placed:
                continue
            folder = self._folder(letter.session_id)
            # It may be there already, or even have been read: a crash came before the note.
            if not letterbox.knows(folder, letter.name):
                live = self._ledger.alive(letter.session_id)
                # Never less than its own length, or it would wait for ever.
                most = max(live.chars if live else 0, len(HEADING) + len(letter.text) + 1)
                letterbox.put(folder, letter.name, letter.id, most, letter.text)
            self._ledger.place(letter)

    def _acknowledge(self) -> None:
        for letter in self._ledger.letters():
            folder = self._folder(letter.session_id)
            if letter.placed and letterbox.given(folder, letter.name):
                path = f"/api/messages/{quote(letter.id, safe='')}/ack"
                with suppress(ServiceRefused):  # the message is gone: nobody waits for this
                    self._call("POST", path, {"agent_id": letter.session_id})
                self._ledger.done(letter)
                letterbox.forget(folder, letter.name)

    def _folder(self, session_id: str) -> str:
        return Tray(self._data, session_id).folder


def _letter(live: Live, message: dict[str, Any]) -> Waiting:
    """Redacted and framed now: the hook that hands it over has no time for either."""
    clean, _ = cleaned(message)
    room = live.chars - len(HEADING) - 1
    text = redact(framed(clean, room))[:room] or "- a message that is too long to be shown"
    name = letterbox.name_of(
        int(message.get("priority", 0)),
        str(message.get("created_at", "")),
        safe_name(message["id"]),
    )
    return Waiting(live.session_id, safe_name(str(message["id"])), name, text, False)
