"""Carrying what this machine knows up to the team's service, and messages down, in the background.

The local store is the outbox: hooks write there and nowhere else. A ledger beside it says how
far the service has acknowledged each session; what the store has beyond that is still to be
carried. So nothing is queued twice, nothing is lost when the service is away for a week, and
what is sent twice is one, because the service orders states as the store does.

One carrier at a time. It goes through the changes oldest first, leaves what the service refuses
with its reason, stops when the service is away, and notes when to try again. Bounded in time
and in bytes: what is left is the next one's. Never imported by a hook: a hook starts it as a
process of its own and goes on.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.lifecycle.carrying import exchange, sending
from holdfast.lifecycle.carrying.identity import identity_of
from holdfast.lifecycle.carrying.ledger import REFUSAL_SECONDS, Ledger, set_next, taking_turns
from holdfast.lifecycle.carrying.wire import Call, ServiceAway, ServiceRefused
from holdfast.lifecycle.terms import settings_for
from holdfast.store.moving.changed import Changes
from holdfast.store.protocol import Session

FIRST_BACKOFF, LONGEST_BACKOFF = 5.0, 3600.0
# Between two carriers that hooks start, when all is well.
PAUSE_SECONDS = 3.0


class Bounds(NamedTuple):
    """How much one carrier may do; a person's own has none."""

    seconds: float = 1e9
    bytes: int = 1 << 60
    # For a pause that is soon over: the session may have spoken for the last time.
    linger: float = 0.0


FROM_A_HOOK = Bounds(30.0, 16 * 1024 * 1024, 15.0)


class Carried(NamedTuple):
    sessions: int = 0
    refused: tuple[str, ...] = ()  # sessions that the service does not want, and goes on without
    waiting: bool = False  # something is left: the service was away, or it is not yet time
    sent: int = 0  # messages of ours
    fetched: int = 0  # messages for sessions here


class Carrier(NamedTuple):
    store: str  # the local database
    data: str
    url: str
    call: Call
    now: Callable[[], float] = time.time
    bounds: Bounds = Bounds()
    # Of a hook's: nobody waits. A person's own does not mind what a hook decided.
    patient: bool = True
    wait: float = 60.0


def carry(carrier: Carrier) -> Carried:
    """Bring up what the service does not have yet. Safe to call from anywhere, any time."""
    with taking_turns(carrier.data, carrier.wait) as mine:
        if not mine:
            return Carried(waiting=True)  # another carrier is at it, and looks once more after us
        ledger = Ledger(carrier.data)
        try:
            pause = ledger.number("not_before") - carrier.now() if carrier.patient else 0.0
            if pause > carrier.bounds.linger:
                return Carried(waiting=True)
            if pause > 0:
                time.sleep(pause)
            changes = Changes(carrier.store)
            try:
                return _Run(carrier, ledger, changes).run()
            finally:
                changes.close()
        finally:
            ledger.close()


class _Run:
    """One pass of a carrier."""

    def __init__(self, carrier: Carrier, ledger: Ledger, changes: Changes) -> None:
        self._carrier, self._ledger, self._changes = carrier, ledger, changes
        self._end = time.monotonic() + carrier.bounds.seconds
        self._bytes = carrier.bounds.bytes
        self._me: dict[str, Any] = {}
        self._done = Carried()
        self._refused: list[str] = []

    def run(self) -> Carried:
        ledger, now = self._ledger, self._carrier.now
        try:
            left = self._everything()
        except ServiceAway as error:
            failures = int(ledger.number("failures")) + 1
            pause = min(FIRST_BACKOFF * 2 ** min(failures - 1, 20), LONGEST_BACKOFF)
            # Many machines that lost the same service must not all come back at once.
            pause *= 0.5 + random.random() / 2
            before = now() + pause
            ledger.put(failures=failures, not_before=before, failure=error, failed=now())
            set_next(self._carrier.data, before)
            return self._told(True)
        ledger.put(failures=0, not_before=0, carried=now())
        set_next(self._carrier.data, now() + PAUSE_SECONDS)
        return self._told(left)

    def _told(self, waiting: bool) -> Carried:
        return self._done._replace(refused=tuple(self._refused), waiting=waiting)

    def _everything(self) -> bool:
        """Whether something is left."""
        carrier, ledger = self._carrier, self._ledger
        self._me = understood(carrier.call("GET", "/api/me"), carrier.url)
        here, theirs = self._changes.store_id(), str(self._me.get("store", ""))
        same = bool(theirs) and theirs == here
        ledger.begin(carrier.url, here, theirs)
        if not self._changes.went_on_from(int(ledger.number("cursor")), ledger.get("at_cursor")):
            ledger.put(cursor=0)  # the store was put back to an earlier day
        left = False if same else self._up()
        post = exchange.Exchange(
            *(carrier.data, ledger, carrier.call, self._changes),
            *(self._project, same, self._spent),
        )
        sent, refused = post.send()
        self._refused += refused
        self._done = self._done._replace(sent=sent, fetched=post.fetch())
        return left

    def _up(self) -> bool:
        ledger, changes = self._ledger, self._changes
        while True:
            found = changes.after(int(ledger.number("cursor")))
            for change in found:
                if self._spent():
                    return True
                if not self._session(change.session_id, change.number):
                    return True
            if not found:
                break
        long_ago = self._carrier.now() - REFUSAL_SECONDS
        for refusal in ledger.refused():
            if refusal.at < long_ago and not self._spent():
                self._session(refusal.session_id, None)
        return False

    def _spent(self) -> bool:
        return self._bytes <= 0 or time.monotonic() > self._end

    def _session(self, session_id: str, cursor: int | None) -> bool:
        """False when there was not enough time for all of it."""
        ledger, now = self._ledger, self._carrier.now
        known, mark = ledger.session(session_id)
        news = self._changes.news(session_id, mark)
        if news is None or news.saved is None:
            # Forgotten meanwhile, or not read yet: the service knows a session by its state.
            ledger.pass_over(session_id, cursor)
            return True
        project = self._project(news.session, known)
        mine = self._me["projects"]
        trouble = ""
        if mine is not None and project not in mine:
            # Not even sent: what a token is not for is not its service's to read.
            return self._refuse(session_id, f"the token is not for {project}", cursor)
        for step in sending.steps(news, mark, project, ledger.machine(), self._changes):
            if step.resumable and self._spent():
                return False
            try:
                self._carrier.call("POST", step.path, step.body)
            except ServiceRefused as error:
                # One checkpoint that is too large must not keep the rest from the team.
                if not step.resumable or error.status not in (413, 422):
                    return self._refuse(session_id, str(error), cursor)
                trouble = f"a checkpoint: {error}"
            self._bytes -= step.size
            if step.resumable:
                ledger.acknowledge(session_id, project, step.mark)
        ledger.acknowledge(session_id, project, news.mark, cursor)
        if trouble:
            ledger.refuse(session_id, trouble, now(), None)
        self._done = self._done._replace(sessions=self._done.sessions + 1)
        return True

    def _refuse(self, session_id: str, reason: str, cursor: int | None) -> bool:
        self._ledger.refuse(session_id, reason, self._carrier.now(), cursor)
        self._refused.append(session_id)
        return True

    def _project(self, session: Session, known: str = "") -> str:
        """What the team calls the session's project."""
        folder = session.project or session.cwd
        live = self._ledger.alive(session.id)
        name = live.name if live is not None else self._given(session.cwd or folder)
        found = identity_of(folder, given=name, machine=self._ledger.machine())
        # A folder that is gone no longer says what it was.
        return found.name if found.shared or not known else known

    def _given(self, cwd: str) -> str:
        """The name in the settings' files; this process's environment is another session's."""
        names = ("HOME", "USERPROFILE", "XDG_CONFIG_HOME")
        environ = {name: os.environ[name] for name in names if name in os.environ}
        return settings_for(environ, self._carrier.data, cwd).text("project_name")


def understood(answer: Any, url: str) -> dict[str, Any]:
    """Who we are to the service; raises ServiceAway when that is nobody who may write."""
    if not isinstance(answer, dict) or not {"scopes", "projects", "store"} <= set(answer):
        raise ServiceAway(f"{url} is no service of Holdfast's, or an older one")
    if not {"write", "admin"} & set(answer["scopes"]):
        raise ServiceAway(f"{url}: this token may not write")
    return answer
