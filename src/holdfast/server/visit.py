"""One request at work: its caller, what it may see, and which project it is about."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fastapi import Request
from pydantic import BaseModel

from holdfast.server.access import Caller
from holdfast.server.backend import Backend
from holdfast.server.bus import Bus
from holdfast.server.metrics import Metrics
from holdfast.server.problems import Ambiguous, Forbidden, NotFound, Refused, Unusable
from holdfast.server.pulse import Pulse
from holdfast.server.records import Transaction, projects, trail, writers
from holdfast.server.records.once import once
from holdfast.server.records.projects import Project, project_at
from holdfast.server.remembered import Remembered
from holdfast.server.settings import Settings
from holdfast.server.sight import Sight
from holdfast.store.protocol import StoreError


class Hall:
    """What all requests share."""

    def __init__(self, settings: Settings, backend: Backend, bus: Bus, metrics: Metrics) -> None:
        self.settings = settings
        self.backend = backend
        self.bus = bus
        self.metrics = metrics
        # Streams of live events that are open, by caller.
        self.streams: Counter[str] = Counter()
        self.pulse = Pulse(backend.ping)
        # Whose row is there for certain, so that not every write has to see to it.
        self.known_projects: set[str] = set()
        # Names of projects by the folder in which a caller says they are.
        self.called: Remembered[str] = Remembered(settings.moment_seconds)


class Visit:
    def __init__(self, request: Request) -> None:
        self._request = request
        self.hall: Hall = request.app.state.hall
        self.caller: Caller = request.state.caller
        self.now = self.hall.settings.now()

    async def still_welcome(self) -> bool:
        """Whether the caller would be let in now: a token may have been revoked since."""
        try:
            await self._request.state.asked_again()
        except (Refused, StoreError):
            return False  # where it cannot be told, whoever it is may come again
        return True

    @contextmanager
    def sight(self, inside: Transaction | None = None, *, project_id: str = "") -> Iterator[Sight]:
        """The store; `inside` a transaction of the records, as a part of it, and for what that is
        bound to. With `project_id` that project of it alone."""
        projects: Sequence[str] | None = self.caller.projects
        if project_id:
            projects = [self.project_by_id(project_id).path]
        with self.hall.backend.sight(projects, inside) as sight:
            yield sight

    @contextmanager
    def records(self, session: str = "", project: str | None = None) -> Iterator[Transaction]:
        """What the caller sees; of `project` alone, where it is about one."""
        projects = self.caller.projects if project is None else [project]
        with self.hall.backend.records.transaction(projects, session) as transaction:
            yield transaction

    def projects(self) -> list[Project]:
        """All that this caller sees, by path."""
        with self.records() as transaction:
            found = {project.path: project for project in projects.known(transaction)}
        for path in self.hall.backend.projects(self.caller.projects):
            found.setdefault(path, project_at(path))
        return [found[path] for path in sorted(found)]

    def project_by_id(self, project_id: str) -> Project:
        with self.records() as transaction:
            known = projects.with_id(transaction, project_id)
        if known is not None:
            return known
        # Sessions that came by another way than this service brought no row for theirs.
        for path in self.hall.backend.projects(self.caller.projects):
            if projects.id_of(path) == project_id:
                return project_at(path)
        raise NotFound("No such project")

    def project_of_path(self, path: str) -> Project | None:
        """The project in which a folder is, by its own name or as some machine has it: the one
        with the longest path around it."""
        around = projects.above(path)
        with self.records() as transaction:
            folders = projects.folders_around(transaction, path)
            known = projects.among(transaction, around)
        there = self.hall.backend.projects(self.caller.projects, around)
        found = projects.nearest(path, [*known, *map(project_at, there)], folders)
        if len(found) > 1:
            raise Unusable("Machines have different projects at this path: say which one by its id")
        return found[0] if found else None

    def project_for(
        self,
        *,
        project_id: str = "",
        path: str = "",
        cwd: str = "",
        session: str = "",
        as_said: bool = False,
    ) -> str:
        """The project that a write belongs to; it may be new to us. `as_said` takes a folder
        for the project's own name, whatever machines have there."""
        found = ""
        if project_id:
            found = self.project_by_id(project_id).path
        elif path:
            found = path if as_said or not path.startswith("/") else self._called(path)
        elif session:
            with self.sight() as sight:
                homes = sight.homes(session)
            if len(homes) > 1 and not cwd:
                raise Ambiguous(
                    "Several projects have a session of this id: say which one with project_id,"
                    " project or cwd"
                )
            found = homes[0] if len(homes) == 1 else ""
        if not found and cwd:
            known_project = self.project_of_path(cwd)
            found = known_project.path if known_project else cwd
        mine = self.caller.projects
        if not found and mine is not None and len(mine) == 1:
            found = mine[0]
        if mine is not None and found not in mine:
            if not found:
                raise Unusable("Say which project this is about: project_id, project or cwd")
            raise Forbidden("This token is not for that project")
        self.about(found, session)
        return found

    def _called(self, folder: str) -> str:
        """The name of the project that machines have in exactly this folder; else the folder."""
        remembered = self.hall.called.get((self.caller.projects, folder), time.monotonic())
        if remembered is not None:
            return remembered
        with self.records() as transaction:
            there = projects.folders_around(transaction, folder)
        name = folder
        if there and there[0].path == folder:
            known = self.project_of_path(folder)
            name = known.path if known else folder
        self.hall.called.put((self.caller.projects, folder), name, time.monotonic())
        return name

    def about(self, project: str, session: str) -> None:
        """For the trail."""
        self._request.scope.setdefault("state", {}).update(project=project, session=session)

    @contextmanager
    def work(
        self, what: str = "", project: str = "", session: str = "", *, within: str | None = None
    ) -> Iterator[tuple[Sight, Transaction]]:
        """A write: what happens inside, the project's row and the step on the trail are one
        transaction (on SQLite the store has its own file, and is through first). Then whoever
        listens is told `what`. It sees the project `within` alone, whoever the caller is: ids of
        sessions belong to their project."""
        known = self.hall.known_projects
        # The session first, then the project, always: writers that wait for each other do so
        # in the same order.
        with self.records(session, within) as transaction:
            if project and project not in known:
                projects.keep(transaction, project, self.now)
            with self.sight(transaction) as sight:
                yield sight, transaction
            status = self._status()
            state = self._request.scope.setdefault("state", {})
            trail.note(transaction, trail.step_of(self._request.scope, self.now, status))
        # Only now it is certain.
        state["noted"] = status
        if project:
            known.add(project)
        if what:
            self.hall.bus.tell(what, project, session)

    def claim_session(self, transaction: Transaction, project: str, session: str) -> None:
        """Before anything is written into a session: it is its first writer's, and `admin`'s.
        What it says is handed to its agent, so another of the same project must not say it."""
        if not session:
            return
        whose = writers.writer(transaction, project, session)
        if not whose:
            if self.hall.backend.hooks_write and not self.caller.may("admin"):
                with self.sight(transaction) as sight:
                    if sight.session(session) is not None:
                        raise Forbidden("This session is written by the hooks of its own machine")
            writers.claim(transaction, project, session, self.caller.name, self.now)
        elif whose != self.caller.name and not self.caller.may("admin"):
            raise Forbidden(
                "This session belongs to another token, which wrote to it first"
                " (`holdfast token create --replace` hands sessions over)"
            )

    def _status(self) -> int:
        """Of the answer, when nothing goes wrong."""
        return getattr(self._request.scope.get("route"), "status_code", None) or 200

    def write(
        self,
        project: str,
        what: str,
        session: str,
        body: BaseModel,
        key: str,
        effect: Callable[[Transaction], dict[str, Any]],
    ) -> dict[str, Any]:
        """Do something once, however often its idempotency key comes; then tell listeners.

        What `effect` does to the store through `sight(transaction)` belongs to it.
        """
        digest = ""
        if key:
            words = f"{self._request.method} {self._request.url.path}\n{body.model_dump_json()}"
            digest = hashlib.sha256(words.encode()).hexdigest()
        with self.work("", project, session, within=project) as (_, transaction):
            answer, again = once(
                transaction,
                project=project,
                caller=self.caller.name,
                key=key,
                digest=digest,
                now=self.now,
                effect=lambda: effect(transaction),
            )
        if not again:
            self.hall.bus.tell(what, project, session)
        return answer


def new_id() -> str:
    return str(uuid.uuid4())
