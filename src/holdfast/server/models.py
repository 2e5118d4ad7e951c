"""The shapes of requests and answers; the OpenAPI document is made from them.

Requests are strict: a number in quotes is no number. What agents send as they like (payloads,
snapshots) is bounded in depth and otherwise kept as it came.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

DEEPEST = 32


def _bounded(value: dict[str, Any]) -> dict[str, Any]:
    def depth(item: Any, left: int) -> None:
        if left == 0:
            raise ValueError(f"nested more than {DEEPEST} deep")
        if isinstance(item, dict):
            for inner in item.values():
                depth(inner, left - 1)
        elif isinstance(item, list):
            for inner in item:
                depth(inner, left - 1)

    depth(value, DEEPEST)
    return value


def _integral(value: Any) -> Any:
    """In JSON Schema 10.0 is an integer, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Last in line, or the bounds would not reach the OpenAPI document.
INTEGRAL = BeforeValidator(_integral)
Name = Annotated[str, Field(min_length=1, max_length=200)]
MaybeName = Annotated[str, Field(max_length=200)]
Folder = Annotated[str, Field(max_length=1000)]
Document = Annotated[dict[str, Any], AfterValidator(_bounded)]
Whole = Annotated[int, Field(ge=0, le=2**53), INTEGRAL]


class Request(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Answer(BaseModel):
    pass


class About(Request):
    """Which project a write is about: any one of these; a known session is enough."""

    project_id: MaybeName = ""
    project: Folder = Field("", description="The project's folder")
    cwd: Folder = ""


class SaveRequest(BaseModel):
    """A snapshot around a compaction. Fields beyond those named here are kept with it."""

    model_config = ConfigDict(strict=True, extra="allow")

    session_id: Name
    project_id: MaybeName = ""
    project: Folder = ""
    cwd: Folder = ""
    trigger: MaybeName = "manual"
    context_summary: Annotated[str, Field(max_length=100_000)] = ""
    snapshot_data: Document = Field(default_factory=dict)


class SaveAnswer(Answer):
    id: str
    saved_at: str
    session_id: str
    project_id: str
    richness: int = Field(description="Characters of content, read back from the store")
    checkpoint: int | None = Field(
        None, description="The checkpoint of the session's own state, where one is known"
    )


class RestoreRequest(Request):
    session_id: Name
    agent_id: MaybeName = ""
    agent_type: MaybeName = ""
    role: MaybeName = Field("", description="The reader's role; else it follows the agent type")
    max_tokens: Annotated[int, Field(ge=50, le=100_000), INTEGRAL] = 2000


class Source(Answer):
    kind: Literal["state", "snapshot", "none"]
    id: str = ""
    saved_at: str = ""
    age_seconds: int | None = None


class RestoreAnswer(Answer):
    additionalContext: str
    tokens: int = Field(description="Estimated, never above what was asked")
    role: str
    source: Source
    facts: list[str] = Field(description="Ids of what it tells")
    messages: list[str] = Field(description="Ids of the messages delivered with it")


class ProjectAnswer(Answer):
    id: str
    name: str
    path: str


class Projects(Answer):
    projects: list[ProjectAnswer]


class Subtask(Answer):
    id: str
    agent_id: str
    agent_type: str
    description: str
    status: Literal["running", "completed", "failed"]
    result: str
    files: list[str]
    session_id: str


class Task(Answer):
    id: str
    name: str
    description: str
    status: str
    wave_number: int | None = Field(description="Open tasks: 0 can run now; none when finished")
    blocked_by: list[str]
    owner: str
    session_id: str
    subtasks: list[Subtask]


class RequestNode(Answer):
    id: str
    prompt: str
    status: Literal["active", "completed"]
    session_id: str
    created_at: str
    tasks: list[Task]
    subtasks: list[Subtask] = Field(description="Those that belong to none of the tasks")


class Wave(Answer):
    session_id: str
    number: int
    tasks: list[str]
    status: Literal["ready", "blocked"]


class Hierarchy(Answer):
    project: ProjectAnswer
    requests: list[RequestNode]
    waves: list[Wave]
    circles: list[list[str]] = Field(description="Tasks that wait for each other")


class ContextRequest(About):
    session_id: MaybeName = ""
    agent_id: Name
    agent_type: Name
    role_context: Document = Field(default_factory=dict)
    skills_to_restore: list[MaybeName] = Field(default_factory=list, max_length=200)
    tools_used: list[MaybeName] = Field(default_factory=list, max_length=200)


class ContextAnswer(Answer):
    id: str
    project_id: str
    session_id: str
    agent_id: str
    agent_type: str
    role_context: dict[str, Any]
    skills_to_restore: list[str]
    tools_used: list[str]
    last_updated: str
    origin: Literal["posted", "observed"]


class Contexts(Answer):
    contexts: list[ContextAnswer]
    next_offset: int | None


class MessageRequest(About):
    from_agent_id: Name
    to_agent_id: MaybeName = Field("", description="One agent; with to_role empty too: everybody")
    to_role: MaybeName = ""
    topic: Name
    payload: Document = Field(default_factory=dict)
    priority: Annotated[int, Field(ge=0, le=10), INTEGRAL] = 5


class MessageAnswer(Answer):
    id: str
    project_id: str
    from_agent_id: str
    to_agent_id: str
    to_role: str
    topic: str
    payload: dict[str, Any]
    priority: int
    created_at: str


class Messages(Answer):
    messages: list[MessageAnswer]
    next_offset: int | None


class DeliverRequest(About):
    agent_id: Name
    role: MaybeName = ""
    session_id: MaybeName = ""
    limit: Annotated[int, Field(ge=1, le=100), INTEGRAL] = 20


class AcknowledgeRequest(Request):
    agent_id: Name


class Reading(Answer):
    reader: str
    delivered_at: str
    acknowledged_at: str


class Readings(Answer):
    id: str
    readers: list[Reading]


class ActionRequest(About):
    session_id: MaybeName = ""
    agent_id: MaybeName = ""
    tool_name: Name
    tool_type: MaybeName = "builtin"
    file_paths: list[Folder] = Field(default_factory=list, max_length=500)
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31), INTEGRAL] | None = None
    duration_ms: Whole | None = None
    note: Annotated[str, Field(max_length=2000)] = ""


class ActionAnswer(Answer):
    id: str
    project_id: str
    session_id: str
    agent_id: str
    tool_name: str
    tool_type: str
    file_paths: list[str]
    exit_code: int | None
    duration_ms: int | None
    note: str
    created_at: str
    origin: Literal["posted", "observed"]


class Actions(Answer):
    actions: list[ActionAnswer]
    next_offset: int | None


class SessionAnswer(Answer):
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


class Sessions(Answer):
    sessions: list[SessionAnswer]
    next_offset: int | None


class FactAnswer(Answer):
    id: str
    kind: str
    text: str
    standing: str
    detail: str
    time: str
    row: str
    agent: str


class Facts(Answer):
    facts: list[FactAnswer]


class CheckpointAnswer(Answer):
    id: int
    epoch: int
    cause: str
    time: str
    offset: int


class Checkpoints(Answer):
    checkpoints: list[CheckpointAnswer]


class CompactionAnswer(Answer):
    session_id: str
    epoch: int
    time: str
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    summary: str
    kept: list[str]
    lost: list[str]


class Compactions(Answer):
    compactions: list[CompactionAnswer]


class BriefAnswer(Answer):
    text: str
    facts: list[str]
    role: str
    saved_at: str
    tokens: int


class HitAnswer(Answer):
    session_id: str
    score: float
    snippet: str
    fact: FactAnswer | None
    row: str
    who: str
    time: str


class Hits(Answer):
    query: str
    hits: list[HitAnswer]
    next_offset: int | None


class OriginRow(Request):
    row: MaybeName = ""
    start: Whole = 0
    end: Whole = 0
    time: MaybeName = ""
    agent: MaybeName = ""


class FactRow(Request):
    id: Name
    kind: Name
    text: Annotated[str, Field(max_length=100_000)]
    standing: Name
    detail: Annotated[str, Field(max_length=100_000)] = ""
    at: OriginRow = Field(default_factory=OriginRow)


class SaidRow(Request):
    row: MaybeName
    who: Literal["user", "agent", "summary"]
    text: Annotated[str, Field(max_length=100_000)]
    time: MaybeName = ""
    start: Whole = 0
    end: Whole = 0


class SessionRow(Request):
    client: MaybeName = ""
    project: Folder = ""
    worktree: Folder = ""
    cwd: Folder = ""
    branch: Annotated[str, Field(max_length=500)] = ""
    title: Annotated[str, Field(max_length=2000)] = ""
    transcript: Annotated[str, Field(max_length=2000)] = ""
    started: MaybeName = ""
    updated: MaybeName = ""
    ended: MaybeName = ""


class StateRequest(Request):
    """A state as a machine's own store has it: what carries local work up to the team's."""

    session: SessionRow
    generation: Whole = 0
    offset: Whole
    state: dict[str, Any]
    position: dict[str, Any] = Field(default_factory=dict)
    facts: list[FactRow] = Field(default_factory=list, max_length=5000)
    messages: list[SaidRow] = Field(default_factory=list, max_length=5000)
    whole: bool = False
    checkpoint: MaybeName = Field("", description="The cause, to make a checkpoint as well")
    epoch: Whole = 0


class StateAnswer(Answer):
    saved: bool = Field(description="False when the store already knows more")
    generation: int
    offset: int


class CompactionRequest(Request):
    epoch: Whole
    time: Name
    trigger: MaybeName = ""
    row: MaybeName = ""
    tokens_before: Whole | None = None
    tokens_after: Whole | None = None
    summary: Annotated[str, Field(max_length=1_000_000)] = ""
    kept: list[MaybeName] = Field(default_factory=list, max_length=5000)
    lost: list[MaybeName] = Field(default_factory=list, max_length=5000)


class Done(Answer):
    done: bool = True


class Health(Answer):
    status: Literal["ok", "unavailable"]
    version: str


class StepAnswer(Answer):
    at: str
    caller: str
    what: str
    project: str
    session: str
    status: int


class Trail(Answer):
    steps: list[StepAnswer]
    next_offset: int | None
