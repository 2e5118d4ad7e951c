"""How carrying stands: connected to where, when last carried, how much waits, what went wrong.

For `holdfast status` and `holdfast doctor`. Reads; must not talk to the service.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.files import exists
from holdfast.lifecycle.carrying import outgoing, service
from holdfast.lifecycle.carrying.ledger import FILE, Ledger, Refusal
from holdfast.lifecycle.places import store_path
from holdfast.store.moving.changed import Changes


class NotWanted(NamedTuple):
    """Something that the service refused, and why."""

    what: str  # "session" | "message"
    name: str  # a session's id, or the file in which the message is kept
    reason: str
    about: str = ""  # a message's topic


class Standing(NamedTuple):
    url: str
    since: str = ""
    carried: float = 0.0  # when last, 0 for never
    sessions_waiting: int = 0
    messages_waiting: int = 0  # of ours, on their way
    failures: int = 0  # in a row
    failure: str = ""
    failed: float = 0.0
    not_before: float = 0.0
    refused: tuple[Refusal, ...] = ()
    messages_refused: tuple[NotWanted, ...] = ()
    same_store: bool = False  # nothing to carry: the service reads this very store


def standing(data: str, environ: Mapping[str, str]) -> Standing | None:
    """None when this user is not connected; raises service.Unsafe and StoreError."""
    connected = service.chosen(data, environ)
    if connected is None:
        return None
    told = Standing(
        connected.url,
        connected.since,
        messages_waiting=len(outgoing.waiting(data)),
        messages_refused=tuple(_messages(data)),
    )
    if not os.path.exists(store_path(data)):
        return told
    cursor, same = 0, False
    if os.path.exists(os.path.join(data, FILE)):
        ledger = Ledger(data)
        try:
            about, _, same = ledger.parties()
            if about == connected.url:
                cursor = int(ledger.number("cursor"))
                told = told._replace(
                    carried=ledger.number("carried"),
                    failures=int(ledger.number("failures")),
                    failure=ledger.get("failure"),
                    failed=ledger.number("failed"),
                    not_before=ledger.number("not_before"),
                    refused=tuple(ledger.refused()),
                    same_store=same,
                )
            elif int(ledger.number("failures")):
                told = told._replace(
                    failures=int(ledger.number("failures")),
                    failure=ledger.get("failure"),
                    failed=ledger.number("failed"),
                    not_before=ledger.number("not_before"),
                )
        finally:
            ledger.close()
    if told.same_store:
        return told
    changes = Changes(store_path(data))
    try:
        return told._replace(sessions_waiting=changes.count_after(cursor))
    finally:
        changes.close()


def not_wanted(data: str) -> list[NotWanted]:
    """All that the service refused and that is still so, in whichever run it was: sessions that
    did not change since, and messages that were set aside."""
    ledger = Ledger(data)
    try:
        sessions = [NotWanted("session", one.session_id, one.reason) for one in ledger.refused()]
    finally:
        ledger.close()
    return [*sessions, *_messages(data)]


def _messages(data: str) -> list[NotWanted]:
    return [
        NotWanted("message", one.path, one.reason, str(one.body.get("topic", "")))
        for one in outgoing.refused(data)
    ]


def uncarried(data: str) -> frozenset[str]:
    """Ids of sessions with something that the service was not offered yet; none where this user
    is not connected, or the service reads this very store. What it refused it was offered."""
    # A look at the file, and not into it: one that is left out may be put right tomorrow.
    if not exists(f"{data}/{service.FILE}") or not exists(store_path(data)):
        return frozenset()
    changes = Changes(store_path(data))
    try:
        ledger = Ledger(data)
        try:
            url, ours, same = ledger.parties()
            cursor = int(ledger.number("cursor"))
            last = ledger.get("at_cursor")
        finally:
            ledger.close()
        new = ours != changes.store_id() or url != _connected_url(data, url)
        if new or not changes.went_on_from(cursor, last):
            cursor = 0  # as the next carrier will find
        elif same:
            return frozenset()
        return frozenset(one.session_id for one in changes.after(cursor, -1))
    finally:
        changes.close()


def _connected_url(data: str, known: str) -> str:
    try:
        found = service.connection(data)
    except service.Unsafe:
        return known  # put right, it will be the same one
    return found.url if found else known


def in_words(told: Standing, now: float) -> str:
    """One line for people."""
    parts = [told.url]
    parts.append(f"last carried {_ago(now - told.carried)}" if told.carried else "nothing carried")
    if told.same_store:
        parts.append("it reads this very store: only messages are fetched")
    waits = []
    if told.sessions_waiting:
        waits.append(_counted(told.sessions_waiting, "session"))
    if told.messages_waiting:
        waits.append(_counted(told.messages_waiting, "message"))
    parts.append(f"{' and '.join(waits)} to carry" if waits else "nothing waits")
    if told.failures:
        again = max(0.0, told.not_before - now)
        parts.append(f"{_counted(told.failures, 'failure')} in a row, next try in {again:.0f} s")
    if told.refused:
        parts.append(f"{_counted(len(told.refused), 'session')} refused")
    if told.messages_refused:
        parts.append(f"{_counted(len(told.messages_refused), 'message')} refused")
    return "; ".join(parts)


def _ago(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{_counted(int(seconds // size), name)} ago"
    return f"{_counted(max(0, int(seconds)), 'second')} ago"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")
