"""One session with all that is kept about it, between two stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from holdfast.state.facts import Fact
from holdfast.store.protocol import Compaction, Delivery, Message, Saved, Session


class KeptCheckpoint(NamedTuple):
    id: int
    epoch: int
    cause: str
    time: str
    knows: tuple[int, int]
    header: list[str]  # the session as it was then
    position: dict[str, Any]
    packed: bytes


class KeptArchive(NamedTuple):
    generation: int
    start: int
    end: int
    time: str
    packed: bytes


class Whole(NamedTuple):
    """Everything in the order in which it was first written."""

    session: Session
    pinned: bool
    state: Saved | None
    packed: bytes
    checkpoints: list[KeptCheckpoint]
    facts: list[Fact]
    messages: list[Message]
    compactions: list[Compaction]
    deliveries: list[Delivery]
    archives: list[KeptArchive]


class Reader(Protocol):
    def wholes(self) -> Iterator[Whole]: ...


class Writer(Protocol):
    def write(self, whole: Whole) -> None: ...


def move(source: Reader, target: Writer, on_each: Callable[[Whole], None] | None = None) -> int:
    """How many sessions were moved."""
    count = 0
    for whole in source.wholes():
        target.write(whole)
        count += 1
        if on_each is not None:
            on_each(whole)
    return count
