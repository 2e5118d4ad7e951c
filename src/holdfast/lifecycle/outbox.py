"""Carrying what this machine knows up to the team's service, in the background.

The local store is the outbox: hooks write there and nowhere else. A ledger beside it says how
far the service has acknowledged each session; what the store knows beyond that is still to be
carried. So nothing is queued twice, nothing is lost when the service is away for a week, and
the same state sent twice is one, because the service orders states as the store does.

One carrier at a time (a lock on the ledger); it goes through the sessions oldest first, stops
at the first that the service does not take, and notes when to try again. Never imported by a
hook: a hook starts it as a process of its own and goes on.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from holdfast.state.facts import Fact
from holdfast.store.moving.sqlite_side import SqliteSide
from holdfast.store.moving.whole import Whole

LEDGER = "outbox.json"
TIMEOUT_SECONDS = 20.0
FIRST_BACKOFF, LONGEST_BACKOFF = 5.0, 3600.0
# The service takes this many at once.
MOST_ROWS = 2000

Post = Callable[[str, dict[str, Any]], dict[str, Any]]


class ServiceAway(Exception):
    """It did not answer, or cannot now: try again later."""


class ServiceRefused(Exception):
    """It answered, and does not want this: trying again would not help."""


class Carried(NamedTuple):
    sessions: int
    refused: tuple[str, ...]  # sessions that the service does not want, and goes on without
    waiting: bool  # the service was away, or it is not yet time


def poster(url: str, token: str) -> Post:
    def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(
            url.rstrip("/") + path, json.dumps(body).encode(), headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                told: dict[str, Any] = json.loads(answer.read())
                return told
        except urllib.error.HTTPError as error:
            # A wrong token is put right by a person, and then everything goes on.
            if error.code >= 500 or error.code in (401, 408, 429):
                raise ServiceAway(f"{error.code} from {url}") from error
            raise ServiceRefused(f"{error.code} from {url}") from error
        except (OSError, ValueError) as error:
            raise ServiceAway(f"{url}: {error}") from error

    return post


def carry(store: str, data: str, post: Post, now: Callable[[], float] = time.time) -> Carried:
    """Bring up what the service does not have yet. Safe to call from anywhere, any time."""
    os.makedirs(data, mode=0o700, exist_ok=True)
    lock = os.open(os.path.join(data, LEDGER + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return Carried(0, (), True)  # another carrier is at it
        return _carry(store, os.path.join(data, LEDGER), post, now)
    finally:
        os.close(lock)


def _carry(store: str, path: str, post: Post, now: Callable[[], float]) -> Carried:
    ledger = _ledger(path)
    if ledger["not_before"] > now():
        return Carried(0, (), True)
    done, refused = 0, []
    side = SqliteSide(store)
    try:
        for whole in side.wholes():
            mark = _mark(whole)
            if ledger["sessions"].get(whole.session.id) == mark:
                continue
            try:
                _bring(whole, post)
                done += 1
            except ServiceRefused:
                refused.append(whole.session.id)
            except ServiceAway:
                failures = ledger["failures"] + 1
                pause = min(FIRST_BACKOFF * 2 ** (failures - 1), LONGEST_BACKOFF)
                # Many machines that lost the same service must not all come back at once.
                pause *= 0.5 + random.random() / 2
                _write(path, {**ledger, "failures": failures, "not_before": now() + pause})
                return Carried(done, tuple(refused), True)
            ledger["sessions"][whole.session.id] = mark
            ledger["failures"], ledger["not_before"] = 0, 0.0
            _write(path, ledger)
    finally:
        side.close()
    return Carried(done, tuple(refused), False)


def _mark(whole: Whole) -> list[Any]:
    """What there is of a session; the service has acknowledged it when the ledger says the same."""
    knows = list(whole.state.knows) if whole.state else []
    last = whole.checkpoints[-1].id if whole.checkpoints else 0
    return [
        knows,
        len(whole.facts),
        len(whole.messages),
        last,
        [[one.epoch, bool(one.summary), len(one.kept), len(one.lost)] for one in whole.compactions],
        whole.session.ended,
    ]


def _bring(whole: Whole, post: Post) -> None:
    if whole.state is None:
        return
    base = f"/api/sessions/{quote(whole.session.id, safe='')}"
    session = whole.session._asdict()
    del session["id"]
    generation, offset = whole.state.knows
    body: dict[str, Any] = {
        "session": session,
        "generation": generation,
        "offset": offset,
        "state": whole.state.state,
        "position": whole.state.position,
    }
    last = whole.checkpoints[-1] if whole.checkpoints else None
    if last is not None and last.knows == whole.state.knows:
        body |= {"checkpoint": last.cause, "epoch": last.epoch}
    facts = [_fact(fact) for fact in whole.facts]
    messages = [message._asdict() for message in whole.messages]
    # The first piece carries all facts where they fit, and says that there are no others.
    first = {**body, "facts": facts[:MOST_ROWS], "messages": messages[:MOST_ROWS]}
    post(f"{base}/state", {**first, "whole": len(facts) <= MOST_ROWS})
    for start in range(MOST_ROWS, max(len(facts), len(messages)), MOST_ROWS):
        rows = slice(start, start + MOST_ROWS)
        post(f"{base}/state", {**body, "facts": facts[rows], "messages": messages[rows]})
    for one in whole.compactions:
        said = one._asdict()
        del said["session_id"]
        post(f"{base}/compactions", said)


def _fact(fact: Fact) -> dict[str, Any]:
    return {**fact._asdict(), "at": fact.at._asdict()}


def _ledger(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            ledger = json.loads(file.read())
            return {
                "sessions": dict(ledger["sessions"]),
                "failures": int(ledger["failures"]),
                "not_before": float(ledger["not_before"]),
            }
    except (OSError, ValueError, KeyError, TypeError):
        # Without it everything is carried once more, which changes nothing there.
        return {"sessions": {}, "failures": 0, "not_before": 0.0}


def _write(path: str, ledger: dict[str, Any]) -> None:
    """Whole or not at all."""
    beside = f"{path}.{os.getpid()}"
    with os.fdopen(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        json.dump(ledger, file)
    os.replace(beside, path)
