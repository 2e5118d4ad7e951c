"""What every part of the conformance suite stands on: how a store is opened, and made-up sessions,
states, facts and messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

from holdfast.events import Origin
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Message, SavedState, Session
from holdfast.store.sql_store import Store

EARLY = "2026-01-01T10:00:00Z"
LATER = "2026-02-01T10:00:00Z"
LATEST = "2026-03-01T10:00:00Z"


def saved(
    session: str | Session = "session-a",
    offset: int = 100,
    generation: int = 0,
    **state: Any,
) -> SavedState:
    if isinstance(session, str):
        session = Session(session)
    return SavedState(
        session, (generation, offset), {"tasks": [], **state}, {"offset": offset, "lines": 3}
    )


def fact(
    name: str = "n1",
    text: str = "the port is 5433",
    *,
    kind: str = "note",
    status: str = OPEN,
    start: int = 0,
    time: str = EARLY,
    detail: str = "",
) -> Fact:
    return Fact(name, kind, text, status, Origin(f"row-{name}", start, start + 10, time), detail)


def message(
    row: str = "row-1", text: str = "please use the staging port", who: str = "user"
) -> Message:
    return Message(row, who, text, EARLY, 0, 10)


OpenStore = Callable[[], Store]

# Every example meets the same store on purpose: it has to cope with what is already there.
on_one_store = settings(
    max_examples=80,
    deadline=None,
    # One set of tests for several stores: which of them a worker runs is chance.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


def texts(store: Store, query: str, **wanted: Any) -> list[str]:
    """What a search finds, in its order."""
    found = []
    for hit in store.search(query, **wanted):
        told = hit.fact or hit.message
        assert told is not None
        found.append(told.text)
    return found
