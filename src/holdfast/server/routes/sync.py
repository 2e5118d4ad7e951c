"""Sync from a machine's local store: what its sync worker posts.

Safe to repeat, key or no key: the same state, checkpoint, compaction or delivery twice is one, and
an older state changes nothing.
"""

from functools import lru_cache
from typing import Annotated, Any, Literal, get_type_hints

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from holdfast.events import Origin
from holdfast.server import schemas
from holdfast.server.api_request import WriteRequest
from holdfast.server.problems import Unprocessable, describe_error
from holdfast.server.records import Transaction, maintenance, projects, tokens
from holdfast.server.routes.sessions import SessionId
from holdfast.server.routing import StrictRoute
from holdfast.state import State, UnreadableState, decode_state, model
from holdfast.state.codec import STATE_VERSION
from holdfast.state.facts import Fact
from holdfast.state.timestamps import find_invalid_timestamp
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.replace_text import spell_forms

# As far as JSON's readers agree on whole numbers, and a database has room for them.
MAX_JSON_INT = 2**53

router = APIRouter(prefix="/api/sessions", route_class=StrictRoute, tags=["arriving"])

Ids = Annotated[tuple[schemas.OptionalName, ...], Field(max_length=5000, strict=False)]


class OriginRow(schemas.RequestModel):
    row: schemas.OptionalName = ""
    start: schemas.NonNegativeInt = 0
    end: schemas.NonNegativeInt = 0
    time: schemas.Timestamp = ""
    agent: schemas.OptionalName = ""


class FactRow(schemas.RequestModel):
    id: schemas.Name
    kind: schemas.Name
    text: Annotated[str, Field(max_length=100_000)]
    status: schemas.Name
    detail: Annotated[str, Field(max_length=100_000)] = ""
    at: OriginRow = Field(default_factory=OriginRow)


class MessageRow(schemas.RequestModel):
    row: schemas.OptionalName
    speaker: Literal["user", "agent", "summary"] = Field(alias="who")
    text: Annotated[str, Field(max_length=100_000)]
    time: schemas.Timestamp = ""
    start: schemas.NonNegativeInt = 0
    end: schemas.NonNegativeInt = 0


class SessionRow(schemas.RequestModel):
    client: schemas.OptionalName = ""
    project: schemas.Folder = ""
    worktree: schemas.Folder = ""
    cwd: schemas.Folder = ""
    branch: Annotated[str, Field(max_length=500)] = ""
    title: Annotated[str, Field(max_length=2000)] = ""
    transcript: Annotated[str, Field(max_length=2000)] = ""
    started: schemas.Timestamp = ""
    updated: schemas.Timestamp = ""
    ended: schemas.Timestamp = ""


class CompactionRow(schemas.RequestModel):
    epoch: schemas.NonNegativeInt
    time: schemas.Timestamp
    trigger: schemas.OptionalName = ""
    row: schemas.OptionalName = ""
    tokens_before: schemas.NonNegativeInt | None = None
    tokens_after: schemas.NonNegativeInt | None = None
    summary: Annotated[str, Field(max_length=1_000_000)] = ""
    kept: Ids = ()
    lost: Ids = ()


class DeliveryRow(schemas.RequestModel):
    epoch: schemas.NonNegativeInt = 0
    kind: schemas.Name = Field(alias="what")
    channel: schemas.OptionalName = ""
    time: schemas.Timestamp
    text: Annotated[str, Field(max_length=100_000)] = ""
    facts: Ids = ()


class StateRequest(schemas.RequestModel):
    """A session's state from a machine's local store, with what is new of the session."""

    session: SessionRow
    path: schemas.Folder = Field("", description="Path of the project on the sending machine")
    machine: schemas.OptionalName = Field("", description="Name of the sending machine")
    generation: schemas.NonNegativeInt = 0
    offset: schemas.NonNegativeInt
    state: schemas.JsonObject
    position: schemas.JsonObject = Field(default_factory=dict)
    facts: list[FactRow] = Field(default_factory=list, max_length=5000)
    messages: list[MessageRow] = Field(default_factory=list, max_length=5000)
    whole: bool = Field(False, description="Whether `facts` are all: the session's others go")
    checkpoint: schemas.OptionalName = Field(
        "", description="If set, also creates a checkpoint with this cause, however old the state"
    )
    epoch: schemas.NonNegativeInt = Field(0, description="The checkpoint's")
    time: schemas.Timestamp | None = Field(None, description="The checkpoint's; now if omitted")
    compactions: list[CompactionRow] = Field(
        default_factory=list,
        max_length=5000,
        description="Fill in what is not known of them, and change nothing that is",
    )
    deliveries: list[DeliveryRow] = Field(
        default_factory=list,
        max_length=5000,
        description="Texts given to the client: the first of a kind in an epoch is kept",
    )


class StateResponse(schemas.ResponseModel):
    saved: bool = Field(description="False if the store already has a newer state")
    generation: int
    offset: int


@router.post("/{session_id}/state")
def save_state(request: WriteRequest, session_id: SessionId, body: StateRequest) -> StateResponse:
    """Sync a session from a machine's local store. Repeating it has no effect, and an older state
    changes nothing. The latest state decides whether the session has ended."""
    # As the machine says: a folder of that name on another machine is another project's.
    project = request.resolve_project(
        path=body.session.project, cwd=body.session.cwd, session=session_id, verbatim_path=True
    )
    check_state(body.state)
    session = Session(session_id, **{**body.session.model_dump(), "project": project})
    saved = SavedState(session, (body.generation, body.offset), body.state, body.position)
    facts = [Fact(**{**dict(row), "at": Origin(**dict(row.at))}) for row in body.facts]
    messages = [Message(**dict(row)) for row in body.messages]

    def effect(transaction: Transaction) -> StateResponse:
        # Its own machine alone writes into it.
        request.claim_session(transaction, project, session_id)
        if project and body.path and body.path != project:
            folder = projects.ProjectFolder(project, body.path, body.machine)
            projects.save_folder(transaction, folder, request.now, request.caller.projects)
        with request.scoped_store(transaction) as scoped_store:
            store = scoped_store.store
            is_news = store.save(saved, facts, messages, whole=body.whole)
            known = scoped_store.session(session_id)
            if is_news and known is not None and known.ended != session.ended:
                store.end_session(session_id, session.ended)
            if body.checkpoint:
                time = request.now if body.time is None else body.time
                store.checkpoint(saved, body.checkpoint, body.epoch, time)
            for compaction in body.compactions:
                store.record_compaction(Compaction(session_id, **dict(compaction)))
            for delivery in body.deliveries:
                store.record_delivery(Delivery(session_id, **dict(delivery)))
            there = saved if is_news else store.load(session_id)
        generation, offset = there.revision if there else (0, 0)
        return StateResponse(saved=is_news, generation=generation, offset=offset)

    return request.run_idempotent(
        effect, what="saved", project=project, session=session_id, body=body
    )


class ForgetRequest(schemas.RequestModel):
    project: schemas.Folder = Field("", description="Of the session, as its machine names it")
    phrase: Annotated[str, Field(max_length=10_000)] = Field(
        "", description="If set, the session stays and this text is taken out of it"
    )


class ForgetResponse(schemas.ResponseModel):
    removed: int = Field(description="Rows that were deleted or changed")


@router.post("/{session_id}/forget")
def forget_session(
    request: WriteRequest, session_id: SessionId, body: ForgetRequest
) -> ForgetResponse:
    """Delete a session with all that was posted of it, for good: no machine can sync it again.
    Or take a text out of it. Only its own token and `admin` can."""
    project = request.resolve_project(path=body.project, session=session_id, verbatim_path=True)
    if "[redacted:" in body.phrase:
        raise Unprocessable("This text holds a secret, which was removed before it came here")

    def effect(transaction: Transaction) -> ForgetResponse:
        if tokens.get_session_owner(transaction, project, session_id) == tokens.FORGOTTEN:
            return ForgetResponse(removed=0)
        request.claim_session(transaction, project, session_id)
        phrases = spell_forms(body.phrase) if body.phrase else ()
        removed = maintenance.forget_session(transaction, project, session_id, phrases)
        with request.scoped_store(transaction) as scoped_store:
            store = scoped_store.store
            if body.phrase:
                changed = store.forget_phrase(body.phrase, session_id)
            else:
                changed = store.delete_session(session_id)
                tokens.mark_forgotten(transaction, project, session_id)
        request.app_state.compaction_outcomes.clear()
        return ForgetResponse(removed=removed + sum(changed.values()))

    return request.run_idempotent(
        effect, what="forgotten", project=project, session=session_id, body=body
    )


def check_state(document: dict[str, Any]) -> None:
    """Raises Unprocessable for what says it is a state of this version and is none: readers rely
    on its types, and a page of a project reads the states of all its sessions. Those of another
    version are kept as they are, because they are not read here."""
    if document.get("version") != STATE_VERSION:
        return
    try:
        state = decode_state(document)
        _state_schema().model_validate(state._asdict())
    except UnreadableState as error:
        raise Unprocessable("Invalid state") from error
    except ValidationError as error:
        where = "/".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise _invalid_field(where, "has the wrong type", "wrong type") from error
    if not _has_valid_counters(state):
        raise Unprocessable("Invalid state: a counter is negative or refers to a future step")
    if where := find_invalid_timestamp(document):
        raise _invalid_field(where, "is not a valid timestamp", schemas.INVALID_TIMESTAMP)


def _invalid_field(where: str, problem: str, advice: str) -> Unprocessable:
    errors = [describe_error(("body", "state", where), advice)]
    return Unprocessable(f"Invalid state: {where[:200]} {problem}", errors=errors)


def _has_valid_counters(state: State) -> bool:
    """Whether what is reckoned with when a brief is made can be."""
    step = state.position.step
    return (
        all(0 <= number <= MAX_JSON_INT for number in state.position)
        and all(min(one.changed, one.read) >= 0 for one in state.files.values())
        and all(one.times >= 0 for one in state.commands.values())
        and all(min(one.typed, one.seen) >= 0 for one in state.identifiers.values())
        and all(min(heat) >= 0 and heat[-1] <= step for heat in state.symbols.values())
    )


@lru_cache(maxsize=1)
def _state_schema() -> type[BaseModel]:
    """The fields of a state with their types: not read in the class, where the fields hide the
    modules after which they are named."""
    hints = get_type_hints(State, vars(model), {})
    fields: dict[str, Any] = {name: (hints[name], ...) for name in State._fields}
    shape: type[BaseModel] = create_model("_State", __config__=ConfigDict(strict=True), **fields)
    return shape
