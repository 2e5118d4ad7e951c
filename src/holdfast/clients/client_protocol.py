"""What a client is: where its sessions are read, how it is spoken to, where it is installed.

Owns the protocols that each folder of `clients` fulfils and the values that cross them. Must not
know any client's format, and does no I/O. `testing.client_conformance` holds a client to what
the docstrings here promise.

    Client
      open_transcript, load_cursor   rows from a position on        RowSource, SourceCursor
      adapter                        rows to events                 Adapter
      row_probe, user_text           single rows, single texts      RowProbe, UserText
      paths                          where it keeps things          ClientPaths
      context_window                 when it compacts               ContextWindow
      hook_io                        what hooks are given and print HookIO
      installer                      hooks put in and taken out     installation.Installer

A position is a number that orders the rows of one session and stays theirs while the session
grows: a byte for a file that is only appended to, bytes counted through where a session goes on
in a second file, a sequence number in a database. Nobody but the client computes with it beyond
comparing, and `load_cursor` alone knows what else it needs to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from holdfast.clients.installation import Installer
    from holdfast.events import Event
    from holdfast.transcript.reader import Loads, Row


class SourceCursor(Protocol):
    """How far a session was read. Saved as JSON in between, and read back by `load_cursor`.

    Names no path: a session may move, and what was read is recognised by itself.
    """

    @property
    def position(self) -> int:
        """Behind the last row that was handed out; 0 before the first."""

    @property
    def rows(self) -> int: ...

    @property
    def bad(self) -> int:
        """What was read and is no row."""

    @property
    def oversized(self) -> int:
        """Rows too large to hold."""

    def to_json(self) -> list[Any]: ...


class RowSource(Protocol):
    """One pass over what is new in a session, in order. Use as a context manager.

    A session that goes on in another file, or that points into one (a fork), is one source: the
    rows of all its files, with positions that go on counting.
    """

    @property
    def reset(self) -> str:
        """Why the cursor did not fit, so that reading began anew; "" where it did."""

    @property
    def stopped(self) -> bool:
        """Whether a limit ended the pass and not the session's end."""

    @property
    def cursor(self) -> SourceCursor:
        """Where to go on; valid at any time."""

    @property
    def row_number(self) -> int:
        """Of the row handed out last, counted from 1: what an editor shows as its line."""

    def rows(self) -> Iterator[Row]: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...


class Adapter(Protocol):
    """Turns one client's rows into events.

    An adapter is made from the parser state that an earlier one gave (or from None) and promises:
    rows fed in any pieces, with the state saved and restored in between, give exactly the events
    that they give at once; a row that stands there twice is told once; no row, however strange,
    raises; the parser state is JSON-able and bounded, however long the session.
    """

    # Keys of the parser state that hold ids alone and need no redaction.
    id_keys: tuple[str, ...]

    @property
    def unknown_rows(self) -> int:
        """Rows of a type this adapter has never heard of, since the session's start."""

    def events(self, row: Row) -> list[Event]: ...

    def parser_state(self) -> dict[str, Any]: ...

    def remembers(self, row_id: str) -> bool:
        """Whether a row of this id was read lately."""

    def forget_positions(self) -> None:
        """The rows read so far stand elsewhere now: the session was written anew."""


class RowProbe(Protocol):
    """What can be told of a row without turning it into events.

    The marks stand in every such row as it is written, and by chance in few others: what is asked
    before parsing.
    """

    @property
    def BOUNDARY_MARK(self) -> bytes: ...

    @property
    def AGENT_SETTING_MARK(self) -> bytes: ...

    def is_boundary(self, data: dict[str, Any]) -> bool:
        """Whether this row of the main thread proves a compaction."""

    def row_id(self, data: dict[str, Any]) -> str:
        """The client's id of the row, "" where it has none."""

    def list_row_ids(self, line: bytes) -> list[str]:
        """The ids that stand in a row, its own among them, without parsing it."""

    def agent_type_in_row(self, data: Any) -> str | None:
        """The agent's type, "" where it was unset; None for a row that does not speak of it."""

    def compaction_seconds(self, boundary: dict[str, Any]) -> float | None:
        """How long the compaction took, where the client says so."""


class UserText(Protocol):
    """Telling the user's own words from everything else that stands in a user's message."""

    def extract_user_text(self, text: str) -> str:
        """What the user typed in this text; "" when all of it is the client's."""

    def strip_summary_frame(self, text: str) -> str:
        """A summary without what the client wrote around it."""

    def is_typed_opening(self, opening: str) -> bool:
        """Whether a user's message that begins so can hold words of the user."""


class ClientPaths(Protocol):
    """Where the client keeps things. Reads no environment by itself."""

    def config_dir(self, environ: Mapping[str, str], home: str) -> str:
        """The folder of the user's configuration; "" where neither says."""

    def project_dir(self, environ: Mapping[str, str], cwd: str) -> str:
        """The client's idea of the project: where it was started."""

    def agent_session_id(self, environ: Mapping[str, str]) -> str:
        """The session whose agent runs this process, "" outside of one."""

    def sessions_dir(self, config: str, data: str) -> str:
        """The folder below which the transcripts of all projects are; below `data`, our own
        folder, where we write them down ourselves.
        """

    def find_transcript(self, config: str, session: str, data: str) -> str | None: ...

    def has_own_name(self, path: str) -> bool:
        """Whether a file is named as no other client names its own."""

    def is_transcript(self, path: str) -> bool:
        """Whether this is a session's file, not a subagent's. Looks at no more than its head."""

    def transcript_session_id(self, transcript: str) -> str: ...


class WindowConfig(NamedTuple):
    """What the user's settings and environment say of the window; 0 where they say nothing."""

    window: int = 0
    window_by_model: tuple[tuple[str, int], ...] = ()
    percent: float = 0.0
    model_window: int = 0
    max_output_tokens: int = 0
    auto_compact: bool = True
    is_from_environment: bool = False  # the window is: then no model has one of its own
    long_window_disabled: bool = False  # every model has the usual window


class CompactionPoint(NamedTuple):
    """Where a compaction comes. `auto_compact` is False when only the user compacts."""

    tokens: int
    window: int
    auto_compact: bool = True
    is_lower_bound: bool = False  # it may come later: the client waits for the API to refuse
    is_certain: bool = True  # else the window is a guess by the model's name


def percent_left(used: int, point: CompactionPoint) -> int:
    """Percent of the way to the compaction that is left; 0 to 100."""
    return max(0, min(100, round(100 * (point.tokens - used) / point.tokens)))


class ContextWindow(Protocol):
    """When the client compacts."""

    def read_window_config(self, environ: Mapping[str, str], project: str) -> WindowConfig: ...

    def compaction_point(
        self,
        chosen: WindowConfig,
        model: str,
        *,
        seen: int = 0,
        used: int = 0,
        requested: bool = False,
    ) -> CompactionPoint:
        """Pure. `seen` is the window that the client itself named, 0 where it names none; `used`
        what once fitted in; `requested` says that the name is the one asked for.
        """


class HookPayload(Protocol):
    """One hook call, read. A field that the client did not send is ""."""

    event: str
    session_id: str
    transcript_path: str
    cwd: str
    agent_id: str
    agent_type: str
    source: str
    trigger: str
    reason: str
    prompt: str
    prompt_id: str
    command: str
    command_arguments: str
    summary: str
    instructions: str  # what the summariser is told already
    last_message: str
    is_summariser: bool
    tool: str  # the tool that ran or is about to
    request: bytes  # what goes to the model, where the client asks before it does
    compaction_key: str  # tells the compaction before that request from others
    client: HookClient  # who calls; set by the hook's entry


class HookClient(Protocol):
    """What the hooks ask of the client that called them: `clients.<name>.fastpath.hook_client`."""

    @property
    def NAME(self) -> str: ...

    @property
    def MAX_OUTPUT_CHARS(self) -> int:
        """Of what one hook may say to the agent."""

    @property
    def STARTS_WITH_CONTEXT(self) -> bool:
        """Whether SessionStart may speak, and names the session's file; else both wait for the
        hook of the first prompt.
        """

    @property
    def DETACHES_WORK(self) -> bool:
        """Whether the work of a tool's or a turn's hook goes on in a process of its own: where the
        agent waits for the hook, or the client ends it with itself.
        """

    def leaves_to_others(self, environ: Mapping[str, str]) -> bool:
        """Whether another install of ours answers this event."""

    def parse_payload(self, raw: bytes, event: str) -> HookPayload | None:
        """None for anything that is not a call of this client for us."""

    def receive(self, payload: HookPayload, data: str) -> None:
        """Writes down what the call brought of the session, where the client leaves that to us."""

    def is_subagents_own(self, payload: HookPayload, data: str) -> bool:
        """Whether the event is of a subagent's own context, which is none of ours."""

    def find_process(self, environ: Mapping[str, str]) -> int:
        """The client's process."""

    def format_context(self, event: str, text: str, message: str = "") -> str: ...

    def read_request(self, request: bytes, /) -> tuple[str, list[str]] | None:
        """The summary that stands in a request, and the texts behind it; None where none does."""

    def format_request(self, request: bytes, text: str, /) -> str:
        """What a hook prints to send the request with this text as its last message."""

    def is_bookkeeping(self, rows: bytes) -> bool:
        """Whether these rows of the transcript tell nothing."""


class HookIO(Protocol):
    """What hooks are told and what they print; the fast hooks import the same functions by name."""

    @property
    def STEERS(self) -> bool:
        """Whether what PreCompact prints reaches the summariser."""

    @property
    def SHOWS_STEERING(self) -> bool:
        """Whether the user sees it under a compaction of their own."""

    @property
    def COMPACT_COMMAND(self) -> str:
        """What a user types to compact; a focus may follow where it ends with a space."""

    def format_context(self, event: str, text: str, message: str = "") -> str: ...

    def format_instructions(self, text: str) -> str:
        """What a hook prints to steer the summary, "" where the client takes nothing."""

    def extract_summary(self, answer: str) -> str:
        """The part of the summariser's answer that stays in context."""

    def check_output(self, event: str, stdout: str) -> list[str]:
        """What the client would refuse of this output, a line each."""


class ConversationMessage(NamedTuple):
    """One message of the conversation."""

    role: str  # "user" | "assistant"
    size: int  # characters
    is_prompt: bool  # words of the user: begins a turn
    calls: tuple[str, ...] = ()  # ids of the calls it makes
    answers: tuple[str, ...] = ()  # ids of the calls it answers
    is_holdfast_text: bool = False  # text that an earlier compaction placed


class TranscriptMessage(NamedTuple):
    """A message as it stands in the transcript, and its redacted text behind who said it."""

    message: ConversationMessage
    text: str


class LeftInContext(NamedTuple):
    """What a compaction left, as the client wrote it down."""

    summary: str  # "" where it is encrypted, or none was made
    kept: tuple[str, ...] = ()  # the user's messages that stay word for word


class Client(Protocol):
    """One coding agent. Its parts are loaded when they are first asked for."""

    @property
    def name(self) -> str:
        """What SessionSeen.client begins with."""

    @property
    def title(self) -> str:
        """What a user calls it."""

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins so is a session of this client."""

    def open_transcript(
        self,
        path: str,
        cursor: SourceCursor | None = None,
        *,
        loads: Loads | None = None,
        limit: int | None = None,
        stop: Callable[[], bool] | None = None,
        final: bool = False,
    ) -> RowSource:
        """The rows behind the cursor, or all. Raises TranscriptError.

        `loads` parses one row. `limit` ends the pass after the row that takes it so many positions
        on, `stop` soon after it answers True. `final` says that nothing more will be written.
        """

    def load_cursor(self, saved: object) -> SourceCursor:
        """What `to_json` gave; anything that cannot be a cursor starts anew."""

    def cursor_at(self, position: int) -> SourceCursor:
        """To look at the row that once stood there; whether it still does is seen from the row."""

    def adapter(self, parser_state: object = None, *, newest: str = "") -> Adapter:
        """`newest` is the latest time that a row can have; one that claims a later has none."""

    def recent_prompt_ids(self, parser_state: object) -> frozenset[str]:
        """The ids of the newest prompts that an adapter of this state has read rows of."""

    def row_filter(self, loads: Loads) -> Loads:
        """`loads` that passes over rows of which no event comes."""

    def read_messages(self, rows: Iterable[Row]) -> list[TranscriptMessage]:
        """The messages that are in context at the end of these rows."""

    def last_compaction(self, path: str) -> LeftInContext | None:
        """What the last compaction left in context, where the session says so before the hooks
        that follow it run; None where it does not: then hooks are told.
        """

    @property
    def row_probe(self) -> RowProbe: ...

    @property
    def user_text(self) -> UserText: ...

    @property
    def paths(self) -> ClientPaths: ...

    @property
    def context_window(self) -> ContextWindow: ...

    @property
    def hook_io(self) -> HookIO: ...

    @property
    def installer(self) -> Installer: ...
