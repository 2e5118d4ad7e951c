"""A store as one caller may see it: sessions of other projects are not there.

The store is bound to the caller's projects (row-level security, or a view on SQLite). An id
belongs to its project: of several that are in sight it means the one that was there first. Ids are
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
    Excerpt,
    Hit,
    Message,
    Saved,
    Session,
    SessionKey,
    Store,
)


class Sight:
    """The store keeps to the projects by itself, on both engines; `projects` says which."""

    def __init__(self, store: Store, projects: Sequence[str] | None) -> None:
        self.store = store
        self._projects = projects

    def session(self, session_id: str) -> Session | None:
        found = self.store.session(session_id)
        if found is None or found.id != session_id or not self._visible(found.project):
            return None
        return found

    def homes(self, session_id: str) -> Sequence[str]:
        """The projects in sight that have a session of this id."""
        return self.store.homes(session_id)

    def sessions(self, project: str, limit: int, offset: int) -> Sequence[Session]:
        if self._projects is None or project:
            if not self._visible(project):
                return []
            return self.store.sessions(project=project, limit=limit, offset=offset)
        found = [
            session
            for one in self._projects
            if one
            for session in self.store.sessions(project=one, limit=limit + offset)
        ]
        found.sort(key=lambda session: max(session.updated, session.started), reverse=True)
        return found[offset : offset + limit]

    def load(self, session_id: str) -> Saved | None:
        return self.store.load(session_id)

    def excerpts(
        self, sessions: Sequence[Session], names: Collection[str]
    ) -> dict[SessionKey, dict[str, Any]]:
        """By session: see `Store.excerpts`."""
        mine = [one for one in sessions if self._visible(one.project)]
        return self.store.excerpts(mine, names)

    def checkpoint_excerpts(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, Excerpt]:
        """By id; of sessions in sight."""
        return self.store.checkpoint_excerpts(checkpoint_ids, names)

    def save(
        self, saved: Saved, facts: Sequence[Fact], messages: Sequence[Message], *, whole: bool
    ) -> bool:
        return self.store.save(saved, facts, messages, whole=whole)

    def checkpoint(self, saved: Saved, cause: str, epoch: int, time: str) -> Checkpoint:
        return self.store.checkpoint(saved, cause, epoch, time)

    def facts(self, session_id: str, kind: str = "", standing: str = "") -> Sequence[Fact]:
        return self.store.facts(session_id, kind=kind, standing=standing)

    def fact(self, session_id: str, fact_id: str) -> Fact | None:
        return self.store.fact(session_id, fact_id)

    def checkpoints(self, session_id: str) -> Sequence[Checkpoint]:
        return self.store.checkpoints(session_id)

    def checkpoint_history(
        self, session_id: str, project: str, limit: int, offset: int
    ) -> Sequence[Checkpoint]:
        """Latest first, across all that is in sight."""
        if session_id and self.session(session_id) is None:
            return []
        if project and not self._visible(project):
            return []
        if session_id or project or self._projects is None:
            return self.store.checkpoints(session_id, project=project, limit=limit, offset=offset)
        found = [
            made
            for one in self._projects or ()
            if one
            for made in self.store.checkpoints(project=one, limit=limit + offset)
        ]
        found.sort(key=lambda made: (made.time, made.id), reverse=True)
        return found[offset : offset + limit]

    def checkpointed(self, checkpoint_id: int) -> Saved | None:
        saved = self.store.checkpointed(checkpoint_id)
        return saved if saved and self.session(saved.session.id) else None

    def compactions(self, session_id: str, limit: int) -> Sequence[Compaction]:
        if session_id:
            known = self.session(session_id)
            return self.store.compactions(session_id, limit) if known else []
        if self._projects is None:
            return self.store.compactions("", limit)
        found = [
            compaction
            for session in self.sessions("", limit, 0)
            for compaction in self.store.compactions(session.id, limit)
        ]
        return sorted(found, key=lambda one: (one.time, one.epoch), reverse=True)[:limit]

    def deliveries(self, session_id: str, limit: int) -> Sequence[Delivery]:
        return self.store.deliveries(session_id, limit) if self.session(session_id) else []

    def search(
        self, query: str, *, session_id: str, project: str, kind: str, limit: int, offset: int
    ) -> Sequence[Hit]:
        if session_id and not self.session(session_id):
            return []
        if self._projects is None or project or session_id:
            if project and not self._visible(project):
                return []
            return self.store.search(
                query, session_id=session_id, project=project, kind=kind, limit=limit, offset=offset
            )
        found = [
            hit
            for one in self._projects
            if one
            for hit in self.store.search(query, project=one, kind=kind, limit=limit + offset)
        ]
        return sorted(found, key=lambda hit: -hit.score)[offset : offset + limit]

    def _visible(self, project: str) -> bool:
        return self._projects is None or project in self._projects
