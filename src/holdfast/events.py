"""What happened, in our own words: the neutral vocabulary between clients and state.

A client's adapter turns its rows into these events, and nothing to the right of it
knows a vendor's field name. Events are immutable, carry their origin, and hold text
exactly as the client wrote it. Secrets go before any fact hears them (`state.redaction_gate`);
bounding is the business of the code that keeps it.
"""

from holdfast.records import NamedTuple


class Origin(NamedTuple):
    """Where an event came from, exactly enough to find it again."""

    row: str  # the client's id of the row
    start: int  # byte range of the row in the transcript; [start, end)
    end: int
    time: str  # ISO 8601 as the client wrote it, "" where it wrote none
    agent: str = ""  # "" for the main thread, else the subagent's id


class SessionSeen(NamedTuple):
    """Where the session runs. Emitted when any of these first appears or changes."""

    at: Origin
    session_id: str
    cwd: str
    branch: str
    client: str  # client name and version, e.g. "claude-code 2.1.325"


class ModeSet(NamedTuple):
    """What the client lets the agent do without asking, in the client's word for it."""

    at: Origin
    mode: str


class TitleSet(NamedTuple):
    at: Origin
    title: str


class UserSaid(NamedTuple):
    """Words the user typed, and nothing else: no hook text, no reminders, no summaries."""

    at: Origin
    text: str
    # "prompt", "queued" (typed while the agent worked), "answer" (to a question the agent
    # asked), "refusal" (said while turning down a tool call); "lead" and "peer" are not the
    # user's: the instructions of a teammate's lead, and what another teammate said
    source: str = "prompt"
    about: str = ""  # the question answered, the tool call refused, or the teammate's name


class CommandInvoked(NamedTuple):
    """A slash command or a skill began; by the user or by the agent."""

    at: Origin
    name: str  # without the leading slash
    arguments: str
    by: str  # "user" | "agent"


class AgentSaid(NamedTuple):
    """Visible text of the agent. Thinking is not an event."""

    at: Origin
    text: str


class CommandRan(NamedTuple):
    at: Origin
    command: str
    output: str  # stdout and stderr as the agent saw them
    ok: bool
    code: int | None  # exit code where it is known
    about: str = ""  # the agent's own description
    interrupted: bool = False


class Hunk(NamedTuple):
    """A changed stretch of a file; lines start with " ", "+" or "-"."""

    start: int  # first line in the new file
    lines: tuple[str, ...]


class FileTouched(NamedTuple):
    at: Origin
    path: str  # absolute where the client gave it so
    action: str  # "read" | "changed" | "created"
    ok: bool
    text: str = ""  # read: what was shown; created: the content; changed: the new text
    before: str = ""  # changed: the text that was replaced
    hunks: tuple[Hunk, ...] = ()
    error: str = ""


class Searched(NamedTuple):
    at: Origin
    pattern: str
    where: str  # folder, file or glob, "" for everywhere
    output: str
    ok: bool


class ToolRan(NamedTuple):
    """Any other tool: web, MCP, notebooks, tools we have never heard of."""

    at: Origin
    tool: str
    input: str  # the input, as compact JSON
    output: str
    ok: bool


class ToolCalled(NamedTuple):
    """Any tool call that was answered, beside what it did."""

    at: Origin
    tool: str
    file: str
    code: int | None  # exit code; 0 or 1 for tools that have none; None: it goes on
    began: str
    number: int = 0  # among those that one row answers


class ToolRefused(NamedTuple):
    """The user turned a tool call down. What they said, if anything, is also a UserSaid."""

    at: Origin
    tool: str
    asked: str  # what would have been done, in short: the command, the path, the plan


class TaskCreated(NamedTuple):
    at: Origin
    task: str  # id within the session
    subject: str
    description: str = ""


class TaskChanged(NamedTuple):
    """None means: not said, so unchanged."""

    at: Origin
    task: str
    status: str | None = None  # "pending" | "in_progress" | "completed" | "deleted"
    subject: str | None = None
    description: str | None = None
    owner: str | None = None
    blocks: tuple[str, ...] = ()  # added
    blocked_by: tuple[str, ...] = ()  # added


class Todo(NamedTuple):
    content: str
    status: str  # "pending" | "in_progress" | "completed"


class TodosSet(NamedTuple):
    """The whole list at once, as TodoWrite gives it; what is gone from it was dropped."""

    at: Origin
    todos: tuple[Todo, ...]


class TasksListed(NamedTuple):
    """The client's own word on all tasks (a list call, or task files on disk)."""

    at: Origin
    tasks: tuple[TaskChanged, ...]


class PlanSet(NamedTuple):
    at: Origin
    text: str
    path: str
    status: str  # "proposed" | "approved" | "refused"


class SubagentStarted(NamedTuple):
    at: Origin
    agent: str  # id where known, else the tool call's id
    role: str  # agent type
    about: str  # short description
    prompt: str


class SubagentEnded(NamedTuple):
    at: Origin
    agent: str
    ok: bool
    result: str
    tools: tuple[str, ...] = ()  # names of the tools it used, where the client tells


class JobStarted(NamedTuple):
    """A command put in the background."""

    at: Origin
    job: str
    command: str


class JobEnded(NamedTuple):
    at: Origin
    job: str
    ok: bool | None  # None: ended, outcome unknown
    output: str


class LinkSeen(NamedTuple):
    """A link the client itself recorded, such as the session's pull request."""

    at: Origin
    label: str
    url: str


class UsageMeasured(NamedTuple):
    """Tokens of one answer of the main thread, counted once per answer."""

    at: Origin
    model: str
    context: int  # all that stands in context, cached or not
    output: int
    requested: str = ""  # the model that was asked for, as the client names it; "": it does not
    window: int = 0  # the size of the context, where the client tells it with the usage


class TurnEnded(NamedTuple):
    at: Origin


class Compacted(NamedTuple):
    """The boundary row: the proof that a compaction happened."""

    at: Origin
    trigger: str  # "manual" | "auto" | whatever the client says
    tokens_before: int | None
    tokens_after: int | None
    kept: tuple[str, ...]  # row ids that stayed in context verbatim


class SummaryGiven(NamedTuple):
    """The client's summary: never the user's words."""

    at: Origin
    text: str


class NoteTaken(NamedTuple):
    """The agent asked us to keep something: its own words, never the user's."""

    at: Origin
    kind: str  # "decision" | "rule" | "dead_end" | "next_step"
    text: str


class Rewound(NamedTuple):
    """The user went back: the rows in [start, at.start) are no longer part of the session.

    Not for `fold`: its caller folds again without those rows (session.follow).
    """

    at: Origin
    start: int


Event = (
    SessionSeen
    | ModeSet
    | TitleSet
    | UserSaid
    | CommandInvoked
    | AgentSaid
    | CommandRan
    | FileTouched
    | Searched
    | ToolRan
    | ToolCalled
    | ToolRefused
    | TaskCreated
    | TaskChanged
    | TodosSet
    | TasksListed
    | PlanSet
    | SubagentStarted
    | SubagentEnded
    | JobStarted
    | JobEnded
    | LinkSeen
    | UsageMeasured
    | TurnEnded
    | Compacted
    | SummaryGiven
    | NoteTaken
    | Rewound
)
