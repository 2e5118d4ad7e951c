"""One request at work: its caller, what it may see, and which project it is about."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from fastapi import Request
from pydantic import BaseModel

from holdfast.server.auth import Caller
from holdfast.server.backend import Backend, HealthCheck
from holdfast.server.event_bus import EventBus
from holdfast.server.metrics import Metrics
from holdfast.server.problems import AmbiguousSession, ApiError, Forbidden, NotFound, Unprocessable
from holdfast.server.records import Transaction, audit_log, projects, tokens
from holdfast.server.records.projects import Project, build_project
from holdfast.server.records.transactions import run_once
from holdfast.server.scoped_store import ScopedStore
from holdfast.server.server_settings import ServerSettings
from holdfast.store.protocol import StoreError


class AppState:
    """What all requests share."""

    def __init__(
        self, settings: ServerSettings, backend: Backend, event_bus: EventBus, metrics: Metrics
    ) -> None:
        self.settings = settings
        self.backend = backend
        self.event_bus = event_bus
        self.metrics = metrics
        # Streams of live events that are open, by caller.
        self.streams: Counter[str] = Counter()
        self.health_check = HealthCheck(backend.ping)
        # Whose row is there for certain, so that not every write has to see to it.
        self.saved_projects: set[str] = set()
        # Names of projects by the folder in which a caller says they are.
        self.project_names: TtlCache[str] = TtlCache(settings.cache_seconds)


class RequestContext:
    def __init__(self, request: Request) -> None:
        self._request = request
        self.app_state: AppState = request.app.state.app_state
        self.caller: Caller = request.state.caller
        self.now = self.app_state.settings.now()

    async def is_still_authorized(self) -> bool:
        """Whether the caller would be let in now: a token may have been revoked since."""
        try:
            await self._request.state.asked_again()
        except (ApiError, StoreError):
            return False  # unknown: the caller may come again
        return True

    @contextmanager
    def scoped_store(
        self, inside: Transaction | None = None, *, project_id: str = ""
    ) -> Iterator[ScopedStore]:
        """The store; `inside` a transaction of the records, as a part of it, and for what that is
        bound to. With `project_id`, that project alone."""
        projects: Sequence[str] | None = self.caller.projects
        if project_id:
            projects = [self.get_project_by_id(project_id).path]
        with self.app_state.backend.scoped_store(projects, inside) as scoped_store:
            yield scoped_store

    @contextmanager
    def records_transaction(
        self, session: str = "", project: str | None = None
    ) -> Iterator[Transaction]:
        """What the caller sees; of `project` alone, where it is about one."""
        projects = self.caller.projects if project is None else [project]
        with self.app_state.backend.records.transaction(projects, session) as transaction:
            yield transaction

    def list_projects(self) -> list[Project]:
        """All that this caller sees, by path."""
        with self.records_transaction() as transaction:
            found = {project.path: project for project in projects.list_projects(transaction)}
        for path in self.app_state.backend.projects(self.caller.projects):
            found.setdefault(path, build_project(path))
        return [found[path] for path in sorted(found)]

    def get_project_by_id(self, project_id: str) -> Project:
        with self.records_transaction() as transaction:
            known = projects.find_by_id(transaction, project_id)
        if known is not None:
            return known
        # Sessions that came by another way than this service brought no row for theirs.
        for path in self.app_state.backend.projects(self.caller.projects):
            if projects.project_id_for(path) == project_id:
                return build_project(path)
        raise NotFound("No such project")

    def find_project_by_path(self, path: str) -> Project | None:
        """The project in which a folder is, by its own name or as some machine has it: the one
        with the longest path around it."""
        around = projects.list_ancestors(path)
        with self.records_transaction() as transaction:
            folders = projects.list_enclosing_folders(transaction, path)
            known = projects.find_by_paths(transaction, around)
        there = self.app_state.backend.projects(self.caller.projects, around)
        found = projects.find_nearest(path, [*known, *map(build_project, there)], folders)
        if len(found) > 1:
            raise Unprocessable("Machines have different projects at this path: pass project_id")
        return found[0] if found else None

    def resolve_project(
        self,
        *,
        project_id: str = "",
        path: str = "",
        cwd: str = "",
        session: str = "",
        verbatim_path: bool = False,
    ) -> str:
        """The project that a write belongs to; it may be new to us. `verbatim_path` takes a folder
        for the project's own name, whatever machines have there."""
        found = ""
        if project_id:
            found = self.get_project_by_id(project_id).path
        elif path:
            found = (
                path if verbatim_path or not path.startswith("/") else self._project_name_of(path)
            )
        elif session:
            with self.scoped_store() as scoped_store:
                homes = scoped_store.homes(session)
            if len(homes) > 1 and not cwd:
                raise AmbiguousSession(
                    "Several projects have a session with this id: pass project_id, project or cwd"
                )
            found = homes[0] if len(homes) == 1 else ""
        if not found and cwd:
            known_project = self.find_project_by_path(cwd)
            found = known_project.path if known_project else cwd
        mine = self.caller.projects
        if not found and mine is not None and len(mine) == 1:
            found = mine[0]
        if mine is not None and found not in mine:
            if not found:
                raise Unprocessable("Project missing: pass project_id, project or cwd")
            raise Forbidden("This token has no access to that project")
        self.set_audit_subject(found, session)
        return found

    def _project_name_of(self, folder: str) -> str:
        """The name of the project that machines have in exactly this folder; else the folder."""
        remembered = self.app_state.project_names.get(
            (self.caller.projects, folder), time.monotonic()
        )
        if remembered is not None:
            return remembered
        with self.records_transaction() as transaction:
            there = projects.list_enclosing_folders(transaction, folder)
        name = folder
        if there and there[0].path == folder:
            known = self.find_project_by_path(folder)
            name = known.path if known else folder
        self.app_state.project_names.put((self.caller.projects, folder), name, time.monotonic())
        return name

    def set_audit_subject(self, project: str, session: str) -> None:
        """For the audit log."""
        self._request.scope.setdefault("state", {}).update(project=project, session=session)

    @contextmanager
    def write_transaction(
        self, what: str = "", project: str = "", session: str = "", *, within: str | None = None
    ) -> Iterator[tuple[ScopedStore, Transaction]]:
        """A write: what happens inside, the project's row and the audit entry are one
        transaction (on SQLite the store has its own file, and is through first). Then whoever
        listens is told `what`. It sees the project `within` alone, whoever the caller is: ids of
        sessions belong to their project."""
        known = self.app_state.saved_projects
        # The session first, then the project, always: writers that wait for each other do so
        # in the same order.
        with self.records_transaction(session, within) as transaction:
            if project and project not in known:
                projects.save_project(transaction, project, self.now)
            with self.scoped_store(transaction) as scoped_store:
                yield scoped_store, transaction
            status = self._status()
            state = self._request.scope.setdefault("state", {})
            audit_log.add_entry(
                transaction, audit_log.build_entry(self._request.scope, self.now, status)
            )
        # Only now it is certain.
        state["noted"] = status
        if project:
            known.add(project)
        if what:
            self.app_state.event_bus.publish(what, project, session)

    def claim_session(self, transaction: Transaction, project: str, session: str) -> None:
        """Before anything is written into a session: it is its first writer's, and `admin`'s.
        What it says is handed to its agent, so another of the same project must not say it."""
        if not session:
            return
        whose = tokens.get_session_owner(transaction, project, session)
        if not whose:
            if self.app_state.backend.shared_with_hooks and not self.caller.has_scope("admin"):
                with self.scoped_store(transaction) as scoped_store:
                    if scoped_store.session(session) is not None:
                        raise Forbidden(
                            "This session is written only by the hooks of its own machine"
                        )
            tokens.set_session_owner(transaction, project, session, self.caller.name, self.now)
        elif whose != self.caller.name and not self.caller.has_scope("admin"):
            raise Forbidden(
                "This session belongs to another token, which wrote to it first"
                " (`holdfast team token create --replace` transfers sessions)"
            )

    def _status(self) -> int:
        """Of the answer, when nothing goes wrong."""
        return getattr(self._request.scope.get("route"), "status_code", None) or 200

    def run_idempotent(
        self,
        project: str,
        what: str,
        session: str,
        body: BaseModel,
        key: str,
        effect: Callable[[Transaction], dict[str, Any]],
    ) -> dict[str, Any]:
        """Do something once, however often its idempotency key comes; then tell listeners.

        What `effect` does to the store through `scoped_store(transaction)` belongs to it.
        """
        digest = ""
        if key:
            words = f"{self._request.method} {self._request.url.path}\n{body.model_dump_json()}"
            digest = hashlib.sha256(words.encode()).hexdigest()
        with self.write_transaction("", project, session, within=project) as (_, transaction):
            answer, again = run_once(
                transaction,
                project=project,
                caller=self.caller.name,
                key=key,
                digest=digest,
                now=self.now,
                effect=lambda: effect(transaction),
            )
        if not again:
            self.app_state.event_bus.publish(what, project, session)
        return answer


def new_id() -> str:
    return str(uuid.uuid4())


# What was looked up a moment ago, so that it is not looked up for every request.
#
# Only for what may be a moment old: a token that was good, a folder's project. Bounded.

MAX_ENTRIES = 10_000

T = TypeVar("T")


class TtlCache(Generic[T]):
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._known: dict[Hashable, tuple[float, T]] = {}

    def get(self, name: Hashable, now: float) -> T | None:
        found = self._known.get(name)
        return found[1] if found is not None and now < found[0] else None

    def put(self, name: Hashable, value: T, now: float) -> None:
        if not self._seconds:
            return
        if len(self._known) >= MAX_ENTRIES:
            self._known.clear()
        self._known[name] = (now + self._seconds, value)
