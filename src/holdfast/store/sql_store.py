"""The half of `store.protocol.Store` that reads, for both engines: each method one transaction.

Owns no statement: those are in `queries` and `archives`. What writes, searches and prunes is in
`sqlite.store` and `postgres.store`.
"""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.state.facts import Fact
from holdfast.store import archives, queries
from holdfast.store.protocol import (
    Checkpoint,
    Compaction,
    Delivery,
    PartialState,
    SavedState,
    Session,
    SessionKey,
    StoreDamaged,
)
from holdfast.store.queries import Row, Statements, unpack_fields

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

# Read together: there is a limit to what one statement takes, and states are large.
BATCH_STATES = 100


class SqlStore(ABC):
    @abstractmethod
    def _reading(self) -> AbstractContextManager[Statements]: ...

    @property
    @abstractmethod
    def _name(self) -> str:
        """The store, in messages."""

    def load(self, session_id: str) -> SavedState | None:
        with self._reading() as run:
            row = queries.load_state(run, session_id)
        return None if row is None else self._saved(Session(*row[:-4]), row[-4:])

    def old_sessions(self, before: str) -> list[str]:
        with self._reading() as run:
            return [session_id for _, session_id in queries.list_old_sessions(run, before)]

    def checkpoints(
        self, session_id: str = "", *, project: str = "", limit: int = -1, offset: int = 0
    ) -> Sequence[Checkpoint]:
        with self._reading() as run:
            return queries.list_checkpoints(run, session_id, project, limit, offset)

    def load_checkpoint(self, checkpoint_id: int) -> SavedState | None:
        with self._reading() as run:
            row = queries.load_checkpoint(run, checkpoint_id)
        return None if row is None else self._saved(Session(*json.loads(row[0])), row[1:])

    def partial_states(
        self, sessions: Sequence[Session], names: Collection[str]
    ) -> dict[SessionKey, dict[str, Any]]:
        wanted = {session.key for session in sessions}
        ids = list(dict.fromkeys(session.id for session in sessions))
        found: dict[SessionKey, dict[str, Any]] = {}
        for start in range(0, len(ids), BATCH_STATES):
            with self._reading() as run:
                rows = queries.load_packed_states(run, ids[start : start + BATCH_STATES])
            for project, session_id, packed in rows:
                if (project, session_id) in wanted:
                    key = SessionKey(project, session_id)
                    found[key] = unpack_fields(packed, names, self._name)
        return found

    def partial_checkpoint_states(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, PartialState]:
        found: dict[int, PartialState] = {}
        for start in range(0, len(checkpoint_ids), BATCH_STATES):
            with self._reading() as run:
                rows = queries.load_packed_checkpoints(
                    run, checkpoint_ids[start : start + BATCH_STATES]
                )
            for number, session_id, packed in rows:
                found[number] = PartialState(session_id, unpack_fields(packed, names, self._name))
        return found

    def session(self, session_id: str) -> Session | None:
        with self._reading() as run:
            return queries.find_session(run, session_id)

    def session_projects(self, session_id: str) -> Sequence[str]:
        with self._reading() as run:
            return queries.list_session_projects(run, session_id)

    def sessions(self, *, project: str = "", limit: int = 50, offset: int = 0) -> Sequence[Session]:
        with self._reading() as run:
            return queries.list_sessions(run, project, limit, offset)

    def pinned_sessions(self) -> Sequence[str]:
        with self._reading() as run:
            return queries.list_pinned(run)

    def facts(self, session_id: str, *, kind: str = "", status: str = "") -> Sequence[Fact]:
        with self._reading() as run:
            return queries.list_facts(run, session_id, kind, status)

    def fact(self, session_id: str, fact_id: str) -> Fact | None:
        with self._reading() as run:
            return queries.get_fact(run, session_id, fact_id)

    def compactions(self, session_id: str = "", limit: int = 50) -> Sequence[Compaction]:
        with self._reading() as run:
            return queries.list_compactions(run, session_id, limit)

    def deliveries(self, session_id: str = "", limit: int = 50) -> Sequence[Delivery]:
        with self._reading() as run:
            return queries.list_deliveries(run, session_id, limit)

    def read_archive(self, session_id: str) -> Iterator[tuple[int, int, int, bytes]]:
        with self._reading() as run:
            ranges = archives.list_ranges(run, session_id)
        for owner, seq in ranges:
            # One at a time: a long session's rows need not fit in memory together.
            try:
                with self._reading() as run:
                    piece = archives.load_range(run, owner, seq)
            except zlib.error as error:
                raise StoreDamaged(
                    f"{self._name} contains an unreadable archive: {error}"
                ) from error
            if piece is not None:
                yield piece

    def archived_until(self, session_id: str, generation: int) -> int:
        with self._reading() as run:
            return archives.find_first_gap(run, session_id, generation)

    def _saved(self, session: Session, row: Row) -> SavedState:
        try:
            return queries.state_from_row(session, row)
        except (zlib.error, ValueError) as error:
            raise StoreDamaged(f"{self._name} contains an unreadable state: {error}") from error
