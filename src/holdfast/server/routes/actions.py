"""Actions: reported by agents, and seen in the sessions themselves."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from holdfast.server import routing, schemas
from holdfast.server.api_request import ApiRequest, ReadRequest, WriteRequest
from holdfast.server.backend import read_state
from holdfast.server.records.transactions import RecordTable, match_given
from holdfast.server.server_settings import count_milliseconds
from holdfast.state.calls import Call
from holdfast.store.protocol import Message, Session


class Action(schemas.ProjectRecord):
    session: str = Field(serialization_alias="session_id")
    agent: str = Field(default="", serialization_alias="agent_id")
    tool: str = Field(serialization_alias="tool_name")
    tool_type: str = "builtin"
    files: list[str] = Field(serialization_alias="file_paths")
    exit_code: int | None
    duration_ms: int | None = None
    note: str
    origin: schemas.Origin = "posted"


ACTIONS = RecordTable("actions", Action)

router = APIRouter(prefix="/api/actions", route_class=routing.StrictRoute, tags=["actions"])

_STATE_FIELDS = frozenset(("version", "calls"))


class ActionRequest(schemas.ProjectRequest):
    session_id: schemas.NullableName = ""
    agent: schemas.NullableName = Field("", alias="agent_id")
    tool: schemas.Name = Field(alias="tool_name")
    tool_type: schemas.OptionalName = "builtin"
    files: list[schemas.Folder] = Field(default_factory=list, max_length=500, alias="file_paths")
    exit_code: (
        Annotated[int, Field(ge=-(2**31), le=2**31), schemas.ACCEPT_INTEGRAL_FLOAT] | None
    ) = None
    duration_ms: schemas.NonNegativeInt | None = None
    note: Annotated[str, Field(max_length=2000)] = ""


class ActionPage(schemas.ResponseModel):
    actions: list[Action]
    next_offset: int | None


@router.get("")
def get_actions(
    request: ReadRequest,
    session_id: routing.TextQuery = "",
    agent_id: routing.TextQuery = "",
    tool_name: routing.TextQuery = "",
    project_id: routing.TextQuery = "",
    limit: routing.Limit = 100,
    offset: routing.Offset = 0,
) -> ActionPage:
    """Latest first: tool calls with file, exit code and duration as far as they were seen."""
    project = request.get_project_path(project_id)
    # Two sorted lists are merged: each has to give as many as the page may hold.
    most = limit + offset
    with request.records_transaction() as transaction:
        found = ACTIONS.select(
            transaction,
            f"{match_given('project', 'session', 'agent', 'tool')}"
            " ORDER BY created DESC, seq DESC LIMIT :limit",
            project=project,
            session=session_id,
            agent=agent_id,
            tool=tool_name,
            limit=most,
        )
    found += [
        seen
        for seen in _list_observed(request, project, session_id, most)
        if tool_name in ("", seen.tool) and agent_id in ("", seen.agent)
    ]
    found.sort(key=lambda action: action.created, reverse=True)
    page = found[offset:most]
    return ActionPage(actions=page, next_offset=routing.next_offset_after(page, limit, offset))


@router.post("", status_code=201)
def post_action(request: WriteRequest, body: ActionRequest) -> Action:
    """Record a tool call that is in no transcript."""
    project = request.resolve_body_project(body, body.session_id)

    action = request.build_record(Action, project, body, session=body.session_id)
    return request.post_record(ACTIONS, action, action.session, what="action", body=body)


def _list_observed(request: ApiRequest, project: str, session_id: str, most: int) -> list[Action]:
    with request.scoped_store() as scoped_store:
        sessions = scoped_store.find_sessions(session_id, project)
        documents = scoped_store.store.partial_states(sessions, _STATE_FIELDS)
        found: list[Action] = []
        for session in sessions:
            state = read_state(documents.get(session.key))
            calls = state.calls if state else {}
            kept = scoped_store.store.messages(session.id, _MESSAGES_PER_CALL * most)
            run = [message for message in kept if message.speaker in _CALLS]
            notes = {(message.row, message.start): message.text for message in run}
            # Older ones, and those of clients that do not report each call.
            since = min((call.start for call in calls.values()), default=None)
            found += [
                _observed_call(session, one) for one in run if since is None or one.start < since
            ]
            found += [
                _known_call(session, key, call, notes.get((call.row, call.start), ""))
                for key, call in calls.items()
            ]
        return found


def _known_call(session: Session, key: str, call: Call, note: str) -> Action:
    return Action(
        id=f"{session.id}:{key}",
        project=session.project,
        session=session.id,
        tool=call.tool,
        tool_type="mcp" if call.tool.startswith("mcp__") else "builtin",
        files=[call.file] if call.file else [],
        exit_code=call.code,
        duration_ms=count_milliseconds(call.began, call.time),
        note=note[:2000],
        created=call.time,
        origin="observed",
    )


# What was run, as the store keeps it to be found again (`session.messages`).
_CALLS = ("ran", "failed", "edited")
_MESSAGES_PER_CALL = 3  # words are kept between the calls


def _observed_call(session: Session, message: Message) -> Action:
    head = message.text.partition("\n")[0]
    first, _, rest = head.partition(" ")
    tool, files = first, []
    if first == "$":
        tool = "Bash"
    elif message.speaker == "edited":
        tool, files = "Edit", [head.partition(": ")[0]]
    elif first in ("created", "changed", "read") and message.speaker == "failed":
        tool, files = "Read" if first == "read" else "Edit", [rest.partition(": ")[0]]
    return Action(
        id=f"{session.id}:{message.row}:{message.start}",
        project=session.project,
        session=session.id,
        tool=tool,
        files=files,
        exit_code=int(message.speaker == "failed"),
        note=message.text[:2000],
        created=message.time,
        origin="observed",
    )
