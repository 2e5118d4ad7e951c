"""What a store must do, whichever engine is behind it.

`testing.store_conformance`, a numbered suite, holds every implementation to this. A store
keeps what it is given: it does not fold, rank, redact or read the clock. Times are ISO 8601
strings in UTC, given by the caller. States travel as JSON-able documents (`state.codec`),
so that a store never needs to know what is in them.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from holdfast.state.facts import Fact


class StoreError(Exception):
    """The root of what a store raises.

    StoreError
    ├── StoreBusy       another process held the store for too long; try again
    ├── StoreDamaged    the file is not a database we can read
    ├── StoreTooNew     a newer Holdfast has written it; this one must not touch it
    └── StoreUnwritable no place, no permission
        └── StoreFull   no space on its disk
    """


class StoreBusy(StoreError):
    pass


class StoreDamaged(StoreError):
    pass


class StoreTooNew(StoreError):
    pass


class StoreUnwritable(StoreError):
    pass


class StoreFull(StoreUnwritable):
    pass


class SessionKey(NamedTuple):
    """What a session is known by: its id belongs to its project."""

    project: str
    id: str


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
        return SessionKey(self.project, self.id)


class SavedState(NamedTuple):
    """A state with the place in the transcript it was folded up to.

    `revision` orders saves of one session: (generation, offset). A transcript that was replaced
    starts a new generation; within one, the offset only grows.
    """

    session: Session
    revision: tuple[int, int]
    state: dict[str, Any]
    position: dict[str, Any]


class Message(NamedTuple):
    """Words of the user or the agent, kept for search."""

    row: str
    speaker: str  # "user" | "agent" | "summary"
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
    kind: str  # "brief" | "gap" | "steering" | "handoff" | "notice"
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


class Store(Protocol):
    """An id belongs to its project: two projects can have a session of the same id. Where a store
    sees several, a bare id means the one that was there first; one that is bound to a project
    (`scoped_to`, `projects`) sees that project's alone."""

    def load(self, session_id: str) -> SavedState | None: ...

    def save(
        self,
        saved: SavedState,
        facts: Iterable[Fact] = (),
        messages: Iterable[Message] = (),
        *,
        whole: bool = False,
    ) -> bool:
        """Keep the state with its changed facts and new messages, all or nothing.

        False, and nothing changed, when the store already knows more: it has a later
        `revision`, or it has a state and this one is empty. At the same `revision` the last save
        wins. The same save twice is one. An empty field of `saved.session` never replaces a
        known one; `started` keeps the earliest word and `updated` the latest.

        `whole` says that `facts` are all there are, as after a rewind: the session's other
        facts go. Messages stay, because they were said.
        """

    def checkpoint(self, saved: SavedState, cause: str, epoch: int, time: str) -> Checkpoint:
        """Save the state at a moment. The same state again answers the existing checkpoint.

        `load` answers this state too, where the store did not know more.
        """

    def checkpoints(
        self, session_id: str = "", *, project: str = "", limit: int = -1, offset: int = 0
    ) -> Sequence[Checkpoint]:
        """Latest first; of one session, of a project's, or of all. Below 0 is no limit."""

    def load_checkpoint(self, checkpoint_id: int) -> SavedState | None:
        """The state as it was then, with the session as it was then."""

    def partial_states(
        self, sessions: Sequence[Session], names: Collection[str]
    ) -> dict[SessionKey, dict[str, Any]]:
        """By session, what its state says under these names: a fraction of the cost of `load`
        where they are few. Sessions without a state are left out."""

    def partial_checkpoint_states(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, PartialState]:
        """The same of checkpoints, by id; those that are not there are left out."""

    def session(self, session_id: str) -> Session | None:
        """By full id, or by a prefix that names exactly one."""

    def session_projects(self, session_id: str) -> Sequence[str]:
        """The projects that have a session of this id, the first one first."""

    def sessions(self, *, project: str = "", limit: int = 50, offset: int = 0) -> Sequence[Session]:
        """Latest first."""

    def end_session(self, session_id: str, time: str) -> None:
        """An empty time takes the end back: a session can be resumed."""

    def pin(self, session_id: str, pinned: bool = True) -> bool:
        """Hold a session back from pruning, or let it go. False when it is not known."""

    def pinned_sessions(self) -> Sequence[str]:
        """Ids of the sessions held back."""

    def facts(self, session_id: str, *, kind: str = "", status: str = "") -> Sequence[Fact]:
        """In the order of the transcript."""

    def fact(self, session_id: str, fact_id: str) -> Fact | None: ...

    def search(
        self,
        query: str,
        *,
        session_id: str = "",
        project: str = "",
        kind: str = "",
        limit: int = 20,
        offset: int = 0,
    ) -> Sequence[Hit]:
        """Best first; what still stands before what does not. `query` is a person's words:
        never a syntax error. `kind` is a kind of fact, or "message" for words alone."""

    def record_compaction(self, compaction: Compaction) -> None:
        """By (session, epoch); later calls fill in what earlier ones did not know, and change
        nothing that they did. `kept` and `lost` are set together."""

    def compactions(self, session_id: str = "", limit: int = 50) -> Sequence[Compaction]:
        """Latest first."""

    def record_delivery(self, delivery: Delivery) -> bool:
        """False when this epoch already has one of this kind: it must not be given again."""

    def deliveries(self, session_id: str = "", limit: int = 50) -> Sequence[Delivery]:
        """Latest first."""

    def archive(
        self, session_id: str, generation: int, start: int, end: int, rows: bytes, time: str
    ) -> None:
        """Keep raw rows of a byte range, compressed. Ranges already kept are not kept twice.

        Rows that were rewritten on the way (redacted) are not `end - start` bytes long and
        cannot be cut: such a range takes the place of the ranges it holds, and one that only
        overlaps others is kept whole, because losing rows is worse than having them twice.
        """

    def read_archive(self, session_id: str) -> Iterable[tuple[int, int, int, bytes]]:
        """(generation, start, end, rows), in order."""

    def archived_until(self, session_id: str, generation: int) -> int:
        """Where the first gap begins: everything before this offset is kept."""

    def old_sessions(self, before: str) -> list[str]:
        """The ids of the sessions that `prune` would delete: without a sign of life since, and not
        pinned."""

    def prune(
        self, *, before: str, keep: int, held: Collection[str] = (), dry_run: bool = False
    ) -> dict[str, int]:
        """Drop checkpoints that are older than `before` and also beyond the `keep` latest of
        their session, and sessions wholly older than `before`; the latest checkpoint of each
        remaining session always stays, and sessions that are pinned, or `held` back this time,
        lose nothing. Answers what was (or would be) dropped, by table."""

    def delete_session(self, session_id: str) -> dict[str, int]:
        """Drop everything about one session, pinned or not. Answers what was dropped."""

    def health(self) -> dict[str, Any]:
        """What doctor wants to know: schema version, integrity, sizes, counts."""

    def close(self) -> None: ...
