"""One session with all that is kept about it, between two stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from holdfast.state.facts import Fact
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session


class CheckpointExport(NamedTuple):
    id: int
    epoch: int
    cause: str
    time: str
    revision: tuple[int, int]
    header: list[str]  # the session as it was then
    position: dict[str, Any]
    packed: bytes


class ArchiveExport(NamedTuple):
    generation: int
    start: int
    end: int
    time: str
    packed: bytes


class SessionExport(NamedTuple):
    """Everything in the order in which it was first written."""

    session: Session
    pinned: bool
    state: SavedState | None
    packed: bytes
    checkpoints: list[CheckpointExport]
    facts: list[Fact]
    messages: list[Message]
    compactions: list[Compaction]
    deliveries: list[Delivery]
    archives: list[ArchiveExport]


class ExportSource(Protocol):
    def export_sessions(self) -> Iterator[SessionExport]: ...


class ImportTarget(Protocol):
    def import_session(self, whole: SessionExport) -> None: ...


def copy_sessions(
    source: ExportSource,
    target: ImportTarget,
    on_each: Callable[[SessionExport], None] | None = None,
) -> int:
    """How many sessions were moved."""
    count = 0
    for whole in source.export_sessions():
        target.import_session(whole)
        count += 1
        if on_each is not None:
            on_each(whole)
    return count
