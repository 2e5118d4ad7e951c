"""One request at work: its caller, what it may see, and which project it is about."""

import unicodedata
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request
from pydantic import BaseModel

from holdfast.brief.role import Role, UnknownRole, find_role, find_role_for_agent
from holdfast.server.auth import Caller
from holdfast.server.backend import HealthCheck, ScopedStore, open_backend
from holdfast.server.event_bus import EventBus
from holdfast.server.metrics import Metrics
from holdfast.server.open_code import UsedCodes
from holdfast.server.problems import ApiError, Forbidden, NotFound, Unprocessable
from holdfast.server.records import Transaction, audit_log, projects, tokens
from holdfast.server.records.projects import Project, build_project
from holdfast.server.records.transactions import RecordTable, run_once
from holdfast.server.schemas import ProjectRecord, ProjectRequest
from holdfast.server.server_settings import ServerSettings
from holdfast.store.protocol import StoreError
from holdfast.sync.project_id import make_project_id

# Whom a reader would take for more than another agent.
RESERVED_SENDERS = ("user", "human", "system", "developer", "holdfast", "owner", "")
# Letters of other scripts that are read as Latin ones.
LOOKALIKES = str.maketrans("асеһіорѕухου", "acehiopsyxou")

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Repeating a request with the same key has no further effect",
    ),
]
Answer = TypeVar("Answer", bound=BaseModel)
Record = TypeVar("Record", bound=ProjectRecord)


class AppState:
    """What all requests share."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.backend = backend = open_backend(settings)
        self.event_bus = EventBus(backend)
        self.metrics = Metrics()
        # Streams of live events that are open, by caller.
        self.streams: Counter[str] = Counter()
        self.health_check = HealthCheck(backend.ping)
        # Whose row is there for certain, so that not every write has to see to it.
        self.saved_projects: set[str] = set()
        self.used_codes = UsedCodes()
        # What compactions kept and lost, by session and state: see routes/timeline.
        self.compaction_outcomes: dict[tuple[Any, ...], Any] = {}


class ApiRequest:
    def __init__(self, request: Request, idempotency_key: str = "") -> None:
        self.http = request
        self.idempotency_key = idempotency_key
        self.app_state: AppState = request.app.state.app_state
        self.caller: Caller = request.state.caller

    @cached_property
    def now(self) -> str:
        """When its work began; one time for all that it writes."""
        return self.app_state.settings.now()

    def find_role(self, name: str, agent_type: str = "") -> Role:
        """The one that is named, else the one for this type of agent."""
        try:
            return find_role(name) if name else find_role_for_agent(agent_type)
        except UnknownRole as error:
            raise NotFound(str(error)) from error

    async def is_still_authorized(self) -> bool:
        """Whether the caller would be let in now: a token may have been revoked since."""
        try:
            await self.http.state.asked_again()
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

    def get_project_path(self, project_id: str) -> str:
        """Of a project that a request may name; "" where it names none."""
        return self.get_project_by_id(project_id).path if project_id else ""

    def get_project_by_id(self, project_id: str) -> Project:
        with self.records_transaction() as transaction:
            known = projects.find_by_id(transaction, project_id)
        if known is not None:
            return known
        # Sessions that came by another way than this service brought no row for theirs.
        for path in self.app_state.backend.projects(self.caller.projects):
            if make_project_id(path) == project_id:
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

    def resolve_body_project(self, body: ProjectRequest, session: str = "") -> str:
        """The project that a write belongs to, as its body names it."""
        return self.resolve_project(
            project_id=body.project_id, path=body.project, cwd=body.cwd, session=session
        )

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
                homes = scoped_store.store.session_projects(session)
            if len(homes) > 1 and not cwd:
                raise ApiError(
                    "Several projects have a session with this id: pass project_id, project or cwd",
                    409,
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
        with self.records_transaction() as transaction:
            there = projects.list_enclosing_folders(transaction, folder)
        exact = there and there[0].path == folder
        known = self.find_project_by_path(folder) if exact else None
        return known.path if known else folder

    def set_audit_subject(self, project: str, session: str) -> None:
        """For the audit log."""
        self.http.scope.setdefault("state", {}).update(project=project, session=session)

    @contextmanager
    def write_transaction(
        self, project: str = "", session: str = "", *, within: str | None = None
    ) -> Iterator[tuple[ScopedStore, Transaction]]:
        """A write: what happens inside, the project's row and the audit entry are one
        transaction (on SQLite the store has its own file, and is through first). It sees the
        project `within` alone, whatever the caller sees: ids of sessions belong to their project.
        """
        known = self.app_state.saved_projects
        # The session first, then the project, always: writers that wait for each other do so
        # in the same order.
        with self.records_transaction(session, within) as transaction:
            if project and project not in known:
                projects.save_project(transaction, project, self.now)
            with self.scoped_store(transaction) as scoped_store:
                yield scoped_store, transaction
            # Of the answer, when nothing goes wrong.
            status = getattr(self.http.scope.get("route"), "status_code", None) or 200
            state = self.http.scope.setdefault("state", {})
            entry = audit_log.build_entry(self.http.scope, self.now, status)
            audit_log.AUDIT_LOG.add(transaction, entry)
        # Only now it is certain.
        state["noted"] = status
        if project:
            known.add(project)

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
        elif whose == tokens.FORGOTTEN:
            raise Forbidden("This session was forgotten: nothing of it is kept any more")
        elif whose != self.caller.name and not self.caller.has_scope("admin"):
            raise Forbidden(
                "This session or agent belongs to another token, which wrote to it first"
                " (`holdfast team token create --replace` transfers sessions)"
            )

    def claim_sender(self, transaction: Transaction, project: str, agent: str) -> None:
        """Before a message is sent as an agent: only as one of the caller's own."""
        plain = unicodedata.normalize("NFKD", agent).casefold().translate(LOOKALIKES)
        letters = "".join(filter(str.isalnum, plain))
        if letters.removeprefix("the") in RESERVED_SENDERS:
            raise Forbidden("No one can send messages under this name: use an agent's own id")
        self.claim_session(transaction, project, agent)

    def run_idempotent(
        self,
        effect: Callable[[Transaction], Answer],
        *,
        what: str,
        project: str,
        body: BaseModel,
        session: str = "",
    ) -> Answer:
        """Do something once, however often its idempotency key comes; then notify listeners.

        What `effect` does to the store through `scoped_store(transaction)` belongs to it. When the
        key comes again the answer is the document that was sent the first time.
        """
        named = {"project": project, "caller": self.caller.name, "key": self.idempotency_key}
        words = f"{self.http.method} {self.http.url.path}\n{body.model_dump_json()}"
        with self.write_transaction(project, session, within=project) as (_, transaction):
            answer, again = run_once(transaction, named, words, self.now, effect)
        if not again:
            self.app_state.event_bus.publish(what, project, session)
        return answer

    def build_record(
        self, record: type[Record], project: str, body: ProjectRequest, **more: Any
    ) -> Record:
        """A new one of what was posted, whose fields have the record's names."""
        given = body.model_dump(include=set(record.model_fields) - {"project"})
        return record(id=new_id(), project=project, created=self.now, **given, **more)

    def post_record(
        self,
        table: RecordTable[Record],
        record: Record,
        session: str,
        *,
        what: str,
        body: BaseModel,
    ) -> Record:
        """Keep it, of a session that is the caller's."""

        def effect(transaction: Transaction) -> Record:
            self.claim_session(transaction, record.project, session)
            table.add(transaction, record)
            return record

        return self.run_idempotent(
            effect, what=what, project=record.project, session=session, body=body
        )


# Coroutines, because the framework would go to a thread for anything else.
async def _build_read_request(request: Request) -> ApiRequest:
    return ApiRequest(request)


async def _build_write_request(request: Request, key: IdempotencyKey = "") -> ApiRequest:
    return ApiRequest(request, key)


# What every route takes first; one that writes takes the second.
ReadRequest = Annotated[ApiRequest, Depends(_build_read_request)]
WriteRequest = Annotated[ApiRequest, Depends(_build_write_request)]


def new_id() -> str:
    return str(uuid.uuid4())
