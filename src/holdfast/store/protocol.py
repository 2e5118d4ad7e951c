"""What a store keeps, and its errors.

Times are ISO 8601 strings in UTC, given by the caller. States travel as JSON-able documents
(`state.codec`), so that a store never needs to know what is in them.
"""

from holdfast.records import Any, NamedTuple
from holdfast.state.facts import Fact


class StoreError(Exception):
    """The root of what a store raises.

    StoreError
    ├── StoreBusy       another process held the store for too long; try again
    ├── StoreDamaged    the file is not a database we can read
    ├── StoreTooNew     another version of Holdfast has written it; this one must not touch it
    └── StoreUnwritable no place, no permission
        └── StoreFull   no space on its disk
    """

    next_step = ""  # what the user can do about it


class StoreBusy(StoreError):
    next_step = "Another Holdfast process is writing: try again in a moment"


class StoreDamaged(StoreError):
    next_step = (
        "`holdfast doctor --fix` moves it aside (nothing is deleted), "
        "`holdfast session ingest` builds it again from the transcripts"
    )


class StoreTooNew(StoreError):
    next_step = "Use the version of Holdfast that wrote it"

    @classmethod
    def of_schema(cls, where: str, found: int, known: int) -> "StoreTooNew":
        writer = "a newer" if found > known else "an older"
        return cls(
            f"{where} has schema {found}, this Holdfast supports {known}: it was written by"
            f" {writer} Holdfast"
        )


class StoreUnwritable(StoreError):
    next_step = "Free disk space or grant write access, or choose another folder with --home"


class StoreFull(StoreUnwritable):
    pass


# What a session is known by: its project, to which its id belongs, and the id.
SessionKey = tuple[str, str]


class Session(NamedTuple):
    """Who a state belongs to. `project` and `worktree` are folders; two worktrees differ."""

    id: str
    client: str = ""
    project: str = ""
    worktree: str = ""
    cwd: str = ""
    branch: str = ""
    title: str = ""
    transcript: str = ""
    started: str = ""
    updated: str = ""
    ended: str = ""  # "" while it may go on

    @property
    def key(self) -> SessionKey:
        return self.project, self.id


class SavedState(NamedTuple):
    """A state with the place in the transcript it was folded up to.

    `revision` orders saves of one session: (generation, offset). A transcript that was replaced
    starts a new generation; within one, the offset only grows.
    """

    session: Session
    revision: tuple[int, int]
    state: dict[str, Any]
    position: dict[str, Any]


class FoundSession(NamedTuple):
    """What a store has of a session before a save."""

    known: Session | None = None
    owner: Any = None  # whose its rows are: `queries.Owner`
    revision: tuple[int, int] | None = None  # None while there is no state

    def is_newer_than(self, saved: SavedState) -> bool:
        """Whether it is a later state, or any where this one is empty."""
        return self.revision is not None and (
            self.revision > tuple(saved.revision) or not saved.state
        )


class Message(NamedTuple):
    """Words that were said, or what was run with its outcome, kept to be found again."""

    row: str
    # "user" | "agent" | "summary" | "subagent" | "plan" | "task" | "ran" | "failed" | "edited"
    speaker: str
    text: str
    time: str
    start: int = 0
    end: int = 0


class Checkpoint(NamedTuple):
    id: int
    session_id: str
    epoch: int
    cause: str
    time: str
    revision: tuple[int, int]


class PartialState(NamedTuple):
    """Some of the state of a checkpoint."""

    session_id: str
    state: dict[str, Any]


class Compaction(NamedTuple):
    """One compaction: what the client did, and what we did about it."""

    session_id: str
    epoch: int  # the epoch that it ended: 0 for the first compaction
    time: str
    trigger: str
    row: str = ""  # the boundary row, "" until it has been seen in the transcript
    tokens_before: int | None = None
    tokens_after: int | None = None
    summary: str = ""
    kept: tuple[str, ...] = ()  # ids of facts the summary contains
    lost: tuple[str, ...] = ()  # ids of facts it does not


class Delivery(NamedTuple):
    """Text that was handed to the client; at most one of each `kind` per epoch."""

    session_id: str
    epoch: int
    kind: str  # "brief" | "gap" | "rules" | "steering" | "handoff" | "notice"
    channel: str  # the hook that delivered it
    time: str
    text: str
    facts: tuple[str, ...] = ()


class Hit(NamedTuple):
    """One search result; `fact` or `message` is set. A higher score is a better one, and
    scores compare within one search only."""

    session_id: str
    score: float
    snippet: str
    fact: Fact | None = None
    message: Message | None = None
