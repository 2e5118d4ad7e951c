"""Sessions: their facts, checkpoints, compactions and briefs, and search across them."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import AliasPath, Field

from holdfast.brief.compose import compose
from holdfast.server.api_request import ReadRequest
from holdfast.server.backend import read_state
from holdfast.server.problems import NotFound
from holdfast.server.records import tokens
from holdfast.server.routing import Limit, Offset, StrictRoute, TextQuery, next_offset_after
from holdfast.server.schemas import ResponseModel
from holdfast.state.facts import Fact
from holdfast.state.model import KINDS
from holdfast.store.protocol import Hit, Session
from holdfast.sync.project_id import make_project_id
from holdfast.text import compute_max_chars, estimate_tokens

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["sessions"])

SessionId = Annotated[str, Path(min_length=1, max_length=200)]
if TYPE_CHECKING:
    FactKind = str
    SearchKind = str
else:
    FactKind = Literal["", *KINDS]
    SearchKind = Literal["", "message", *KINDS]
# Which project's, where several have a session of one id; else the one that was there first.
ProjectIdQuery = Annotated[str, Query(max_length=200)]
MAX_FIRST_PROMPT_CHARS = 200

FactStatus = Literal["", "open", "done", "cancelled", "superseded", "resolved"]


class SessionResponse(ResponseModel):
    id: str
    project_id: str
    project: str
    client: str
    worktree: str
    cwd: str
    branch: str
    title: str
    started: str
    updated: str
    ended: str
    first_words: str = Field(
        "", description="First words of the user, if requested and the session has no title"
    )
    user: str = Field("", description="In a list: the name of the token that first wrote to it")


class SessionPage(ResponseModel):
    sessions: list[SessionResponse]
    next_offset: int | None


class FactResponse(ResponseModel):
    id: str
    kind: str
    text: str
    status: str
    detail: str
    time: str = Field(validation_alias=AliasPath("at", "time"))
    row: str = Field(validation_alias=AliasPath("at", "row"))
    agent: str = Field(validation_alias=AliasPath("at", "agent"))


class FactList(ResponseModel):
    facts: list[FactResponse]


class CheckpointResponse(ResponseModel):
    id: int
    epoch: int
    cause: str
    time: str
    offset: int = Field(validation_alias=AliasPath("revision", 1))


class CheckpointList(ResponseModel):
    checkpoints: list[CheckpointResponse]


class CompactionResponse(ResponseModel):
    session_id: str
    epoch: int
    time: str
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    summary: str
    kept: list[str]
    lost: list[str]


class CompactionList(ResponseModel):
    compactions: list[CompactionResponse]


class BriefResponse(ResponseModel):
    text: str
    facts: list[str]
    role: str
    saved_at: str
    tokens: int


class HitResponse(ResponseModel):
    session_id: str
    score: float
    snippet: str
    fact: FactResponse | None
    row: str
    who: str
    time: str


class HitPage(ResponseModel):
    query: str
    hits: list[HitResponse]
    next_offset: int | None
    lacks_words: bool = Field(description="No hit has every word; these are the closest")


@router.get("/sessions")
def get_sessions(
    request: ReadRequest,
    project_id: TextQuery = "",
    words: Annotated[
        bool, Query(description="Include the first words of sessions without a title")
    ] = (False),
    limit: Limit = 50,
    offset: Offset = 0,
) -> SessionPage:
    """Latest first."""
    project = request.get_project_path(project_id)
    with request.scoped_store() as scoped_store:
        found, store = scoped_store.sessions(project, limit, offset), scoped_store.store
        asked = [
            store.facts(one.id, kind="request") if words and not one.title else () for one in found
        ]
    users = _name_users(request, [one.id for one in found])
    answers = [
        session_response(one, facts, users.get((one.project, one.id), ""))
        for one, facts in zip(found, asked, strict=True)
    ]
    return SessionPage(sessions=answers, next_offset=next_offset_after(found, limit, offset))


@router.get("/sessions/{session_id}")
def get_session(
    request: ReadRequest, session_id: SessionId, project_id: ProjectIdQuery = ""
) -> SessionResponse:
    """Ids are unique per project: the first match, unless `project_id` is given."""
    with request.scoped_store(project_id=project_id) as scoped_store:
        return session_response(require_session(scoped_store.session(session_id)))


@router.get("/sessions/{session_id}/facts")
def get_facts(
    request: ReadRequest,
    session_id: SessionId,
    kind: Annotated[FactKind, Query()] = "",
    status: Annotated[FactStatus, Query()] = "",
    project_id: ProjectIdQuery = "",
) -> FactList:
    """In the order of the transcript."""
    with request.scoped_store(project_id=project_id) as scoped_store:
        require_session(scoped_store.session(session_id))
        found = scoped_store.store.facts(session_id, kind=kind, status=status)
    return FactList(facts=[FactResponse.model_validate(fact) for fact in found])


@router.get("/sessions/{session_id}/checkpoints")
def get_checkpoints(
    request: ReadRequest, session_id: SessionId, project_id: ProjectIdQuery = ""
) -> CheckpointList:
    """Latest first."""
    with request.scoped_store(project_id=project_id) as scoped_store:
        require_session(scoped_store.session(session_id))
        found = scoped_store.store.checkpoints(session_id)
    return CheckpointList(checkpoints=[CheckpointResponse.model_validate(made) for made in found])


@router.get("/sessions/{session_id}/brief")
def get_brief(
    request: ReadRequest,
    session_id: SessionId,
    role: TextQuery = "main",
    max_tokens: Annotated[int, Query(ge=50, le=100_000)] = 2000,
    project_id: ProjectIdQuery = "",
) -> BriefResponse:
    """The brief that an agent in this role would be given now."""
    reader = request.find_role(role)
    with request.scoped_store(project_id=project_id) as scoped_store:
        saved = scoped_store.store.load(session_id)
    if saved is None:
        raise NotFound("This session is unknown")
    state = read_state(saved.state)
    if state is None:
        raise NotFound("Its state has another version; it will be rebuilt")
    made = compose(state, compute_max_chars(max_tokens), role=reader)
    return BriefResponse(
        text=made.text,
        facts=list(made.fact_ids),
        role=reader.name,
        saved_at=saved.session.updated,
        tokens=estimate_tokens(len(made.text)),
    )


@router.get("/compactions")
def get_compactions(
    request: ReadRequest, session_id: TextQuery = "", limit: Limit = 50
) -> CompactionList:
    """Latest first: what each summary kept and lost."""
    with request.scoped_store() as scoped_store:
        found = scoped_store.compactions(session_id, limit)
    return CompactionList(compactions=[CompactionResponse.model_validate(one) for one in found])


@router.get("/search")
def search_sessions(
    request: ReadRequest,
    q: Annotated[str, Query(min_length=1, max_length=500, description="A person's words")],
    session_id: TextQuery = "",
    project_id: TextQuery = "",
    kind: Annotated[SearchKind, Query()] = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> HitPage:
    """Best match first; facts that are still valid rank higher."""
    project = request.get_project_path(project_id)
    with request.scoped_store() as scoped_store:
        found = scoped_store.search(
            q, session_id=session_id, project=project, kind=kind, limit=limit, offset=offset
        )
    return HitPage(
        query=q,
        hits=[_hit_response(hit) for hit in found],
        next_offset=next_offset_after(found, limit, offset),
        lacks_words=bool(found) and not _has_all_words(found[0], q),
    )


def _has_all_words(hit: Hit, query: str) -> bool:
    fact, message = hit.fact, hit.message
    text = f"{fact.text} {fact.detail}" if fact else message.text if message else ""
    return all(word in text.casefold() for word in re.findall(r"\w{2,}", query.casefold()))


def _name_users(request: ReadRequest, sessions: list[str]) -> dict[tuple[str, str], str]:
    with request.records_transaction() as transaction:
        owners = tokens.list_session_owners(transaction, sessions)
    if not owners:
        return {}
    with request.app_state.backend.records.transaction(None) as transaction:
        names = {token.id: token.name for token in tokens.list_tokens(transaction)}
    return {key: names.get(caller, "") for key, caller in owners.items()}


def require_session(found: Session | None) -> Session:
    if found is None:
        raise NotFound("No such session")
    return found


def session_response(one: Session, facts: Sequence[Fact] = (), user: str = "") -> SessionResponse:
    """With the first request among the facts, where the session has no title."""
    fields = one._asdict()
    del fields["transcript"]  # a path on somebody's machine
    asked = (fact.text for fact in facts if fact.kind == "request")
    first = "" if one.title else next(asked, "")[:MAX_FIRST_PROMPT_CHARS]
    return SessionResponse(
        project_id=make_project_id(one.project), first_words=first, user=user, **fields
    )


def _hit_response(hit: Hit) -> HitResponse:
    message = hit.message
    return HitResponse(
        session_id=hit.session_id,
        score=hit.score,
        snippet=hit.snippet,
        fact=FactResponse.model_validate(hit.fact) if hit.fact else None,
        row=message.row if message else "",
        who=message.speaker if message else "",
        time=message.time if message else (hit.fact.at.time if hit.fact else ""),
    )
