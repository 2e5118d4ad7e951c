"""A store as one caller may see it: sessions of other projects are not there.

The store is bound to the caller's projects (row-level security, or a view on SQLite). An id
belongs to its project: of several that are visible it means the one that was there first. Ids are
whole: the beginning of one is for people at a command line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from holdfast.state.facts import Fact
from holdfast.store.protocol import (
    Checkpoint,
    Compaction,
    Delivery,
    Hit,
    Message,
    PartialState,
    SavedState,
    Session,
    SessionKey,
    Store,
)


class ScopedStore:
    """The store keeps to the projects by itself, on both engines; `projects` says which."""

    def __init__(self, store: Store, projects: Sequence[str] | None) -> None:
        self._store = store
        self._projects = projects

    def session(self, session_id: str) -> Session | None:
        found = self._store.session(session_id)
        if found is None or found.id != session_id or not self._visible(found.project):
            return None
        return found

    def homes(self, session_id: str) -> Sequence[str]:
        """The visible projects that have a session of this id."""
        return self._store.session_projects(session_id)

    def sessions(self, project: str, limit: int, offset: int) -> Sequence[Session]:
        if self._projects is None or project:
            if not self._visible(project):
                return []
            return self._store.sessions(project=project, limit=limit, offset=offset)
        found = [
            session
            for one in self._projects
            if one
            for session in self._store.sessions(project=one, limit=limit + offset)
        ]
        found.sort(key=lambda session: max(session.updated, session.started), reverse=True)
        return found[offset : offset + limit]

    def load(self, session_id: str) -> SavedState | None:
        return self._store.load(session_id)

    def partial_states(
        self, sessions: Sequence[Session], names: Collection[str]
    ) -> dict[SessionKey, dict[str, Any]]:
        """By session: see `Store.partial_states`."""
        mine = [one for one in sessions if self._visible(one.project)]
        return self._store.partial_states(mine, names)

    def partial_checkpoint_states(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, PartialState]:
        """By id; of visible sessions."""
        return self._store.partial_checkpoint_states(checkpoint_ids, names)

    def save(
        self, saved: SavedState, facts: Sequence[Fact], messages: Sequence[Message], *, whole: bool
    ) -> bool:
        return self._store.save(saved, facts, messages, whole=whole)

    def checkpoint(self, saved: SavedState, cause: str, epoch: int, time: str) -> Checkpoint:
        return self._store.checkpoint(saved, cause, epoch, time)

    def facts(self, session_id: str, kind: str = "", status: str = "") -> Sequence[Fact]:
        return self._store.facts(session_id, kind=kind, status=status)

    def fact(self, session_id: str, fact_id: str) -> Fact | None:
        return self._store.fact(session_id, fact_id)

    def checkpoints(self, session_id: str) -> Sequence[Checkpoint]:
        return self._store.checkpoints(session_id)

    def checkpoint_history(
        self, session_id: str, project: str, limit: int, offset: int
    ) -> Sequence[Checkpoint]:
        """Latest first, across all that is visible."""
        if session_id and self.session(session_id) is None:
            return []
        if project and not self._visible(project):
            return []
        if session_id or project or self._projects is None:
            return self._store.checkpoints(session_id, project=project, limit=limit, offset=offset)
        found = [
            made
            for one in self._projects or ()
            if one
            for made in self._store.checkpoints(project=one, limit=limit + offset)
        ]
        found.sort(key=lambda made: (made.time, made.id), reverse=True)
        return found[offset : offset + limit]

    def load_checkpoint(self, checkpoint_id: int) -> SavedState | None:
        saved = self._store.load_checkpoint(checkpoint_id)
        return saved if saved and self.session(saved.session.id) else None

    def compactions(self, session_id: str, limit: int) -> Sequence[Compaction]:
        if session_id:
            known = self.session(session_id)
            return self._store.compactions(session_id, limit) if known else []
        if self._projects is None:
            return self._store.compactions("", limit)
        found = [
            compaction
            for session in self.sessions("", limit, 0)
            for compaction in self._store.compactions(session.id, limit)
        ]
        return sorted(found, key=lambda one: (one.time, one.epoch), reverse=True)[:limit]

    def deliveries(self, session_id: str, limit: int) -> Sequence[Delivery]:
        return self._store.deliveries(session_id, limit) if self.session(session_id) else []

    def search(
        self, query: str, *, session_id: str, project: str, kind: str, limit: int, offset: int
    ) -> Sequence[Hit]:
        if session_id and not self.session(session_id):
            return []
        if self._projects is None or project or session_id:
            if project and not self._visible(project):
                return []
            return self._store.search(
                query, session_id=session_id, project=project, kind=kind, limit=limit, offset=offset
            )
        found = [
            hit
            for one in self._projects
            if one
            for hit in self._store.search(query, project=one, kind=kind, limit=limit + offset)
        ]
        return sorted(found, key=lambda hit: -hit.score)[offset : offset + limit]

    def _visible(self, project: str) -> bool:
        return self._projects is None or project in self._projects
