"""Sessions, states, facts and messages for the store's tests; made up, the store cannot tell."""

from __future__ import annotations

from typing import Any

from holdfast.events import Origin
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Message, SavedState, Session

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
