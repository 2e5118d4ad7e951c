"""What a client is: where its sessions are read, how it is spoken to, where it is installed.

Owns the protocols that each folder of `clients` fulfils, with defaults for those that inherit them,
and the values that cross them. Must not know any client's format, and does no I/O. What the
docstrings here promise is held by `tests/support/client_conformance.py`.

    Client
      open_transcript, load_cursor   rows from a position on        RowSource, SourceCursor
      adapter                        rows to events                 adapter_base.AdapterBase
      row_probe, user_text           single rows, single texts      RowProbe, UserText
      paths                          where it keeps things          ClientPaths
      context_window                 when it compacts               ContextWindow
      hook_io                        what hooks are given and print hook_base.HookClient
      installer                      where its Installer is         holdfast.install

A position is a number that orders the rows of one session and stays theirs while the session
grows: a byte for a file that is only appended to, bytes counted through where a session goes on
in a second file, a sequence number in a database. Only the client computes with it beyond
comparing, and `load_cursor` alone knows what else it needs to go on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping

from holdfast.clients import load_module
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.paths import home_from
from holdfast.records import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from holdfast.clients.adapter_base import AdapterBase
    from holdfast.clients.hook_base import HookClient
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
        """What was read and is not a row."""

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
        """Why the cursor did not fit, so that reading began again; "" where it did."""

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


class RowProbe:
    """What a row shows without being turned into events.

    The marks are in every such row as it is written, and by chance in few others: what is asked
    before parsing.
    """

    ID_FIELDS: tuple[str, ...] = ("id",)
    """Under which a row has ids; the first is its own."""
    BOUNDARY_MARK: bytes

    def is_boundary(self, data: dict[str, Any]) -> bool:
        """Whether this row of the main thread proves a compaction."""
        raise NotImplementedError

    def row_id(self, data: dict[str, Any]) -> str:
        """The client's id of the row, "" where it has none."""
        found = data.get(self.ID_FIELDS[0])
        return found if isinstance(found, str) else ""

    def list_row_ids(self, line: bytes) -> list[str]:
        """The ids in a row, its own among them, without parsing it."""
        pattern = rb'"(?:%s)": ?"([^"\\]{1,200})"' % "|".join(self.ID_FIELDS).encode()
        return [found.decode("utf-8", "replace") for found in re.findall(pattern, line)]

    def compaction_seconds(self, boundary: dict[str, Any]) -> float | None:
        """How long the compaction took, where the client says so."""
        return None

    def is_unread(self, line: bytes) -> bool:
        """Whether no event comes of this row, by how it is written; what is not surely one of
        these is parsed.
        """
        return False

    def row_filter(self, loads: Loads) -> Loads:
        """`loads` that passes over rows of which no event comes."""
        from holdfast.transcript.reader import SKIPPED_ROW

        if type(self).is_unread is RowProbe.is_unread:
            return loads
        return lambda line: SKIPPED_ROW if self.is_unread(line) else loads(line)

    def last_compaction(self, path: str) -> LeftInContext | None:
        """What the last compaction left in context, where the session says so before the hooks
        that follow it run; None where it does not: then hooks learn it.
        """
        return None


class UserText:
    """Telling the user's own words from everything else in a user's message."""

    CLIENT_OPENINGS: tuple[str, ...] = ()
    """A text that begins so was written by the client."""

    def extract_user_text(self, text: str) -> str:
        """What the user typed in this text; "" when all of it is the client's or ours."""
        return text.strip() if self.is_typed_opening(text.strip()) else ""

    def strip_summary_frame(self, text: str) -> str:
        """A summary without what the client wrote around it."""
        return text.strip()

    def is_typed_opening(self, opening: str) -> bool:
        """Whether a user's message that begins so can hold words of the user."""
        return not opening.startswith((*HOLDFAST_OPENINGS, *self.CLIENT_OPENINGS))


class ClientPaths:
    """Where the client keeps things; for most a table. Reads no environment by itself."""

    FOLDER: str = ""
    """Of the user's configuration, below the home; and the variable that says otherwise."""
    FOLDER_VARIABLE: str = ""
    PROJECT_VARIABLE: str = ""
    """Names the client's idea of the project; and the next, the session whose agent runs us."""
    SESSION_VARIABLE: str = ""
    SESSIONS: str = ""
    """Below the client's folder; and below that, where the file of a session SESSION is."""
    TRANSCRIPTS: str = "SESSION.jsonl"
    OWN_NAME: str = ""
    """How the path of a session's file ends, where no other client's does: a pattern."""
    IS_NAMED_BY_FOLDER: bool = False
    """Whether a session's id is the name of the folder that its file is in."""

    def config_dir(self, environ: Mapping[str, str], home: str) -> str:
        """The folder of the user's configuration; "" where neither says."""
        moved = environ.get(self.FOLDER_VARIABLE)
        return moved or (os.path.join(home, self.FOLDER) if home else "")

    def find_setting(
        self, environ: Mapping[str, str], home: str, project: str, name: str
    ) -> tuple[Any, str]:
        """A value of the client's settings.json by its dotted name, and its file, the project's
        before the user's; (None, "") where no file has one.
        """
        from holdfast.clients.json_fields import read_settings, read_value

        own = os.path.join(project, self.FOLDER) if project else ""
        for folder in filter(None, (own, self.config_dir(environ, home))):
            path = os.path.join(folder, "settings.json")
            value = read_value(read_settings(path), name)
            if value is not None:
                return value, path
        return None, ""

    def list_plugins(self, config: str) -> list[tuple[str, str]]:
        """Name and folder of each plugin that the client has installed."""
        return []

    def project_dir(self, environ: Mapping[str, str], cwd: str) -> str:
        """The client's idea of the project: where it was started."""
        return environ.get(self.PROJECT_VARIABLE) or cwd

    def agent_session_id(self, environ: Mapping[str, str]) -> str:
        """The session whose agent runs this process, "" outside of one."""
        return environ.get(self.SESSION_VARIABLE, "")

    def is_headless(self, environ: Mapping[str, str]) -> bool:
        """Whether the client that runs this process has no user in front of it."""
        return False

    def screen_columns(self, environ: Mapping[str, str]) -> int:
        """How wide the terminal is that shows what PreCompact prints; 0: none does."""
        return 0

    def sessions_dir(self, config: str, data: str) -> str:
        """The folder below which the transcripts of all projects are; below `data`, our own
        folder, where we write them down ourselves.
        """
        return os.path.join(config, self.SESSIONS)

    def find_transcript(self, config: str, session: str, data: str) -> str | None:
        """The newest file of this session, in whichever project."""
        found = self.list_transcripts(config, session, data)
        return max(found, key=os.path.getmtime, default=None)

    def list_transcripts(self, config: str, session: str, data: str) -> list[str]:
        """The files that are named as those of this session are."""
        import glob

        if not session or session != os.path.basename(session):
            return []
        below = self.TRANSCRIPTS.replace("SESSION", glob.escape(session))
        return glob.glob(os.path.join(glob.escape(self.sessions_dir(config, data)), below))

    def has_own_name(self, path: str) -> bool:
        """Whether a file is named as no other client names its own."""
        ending = rf"(?:^|/){self.OWN_NAME}\.jsonl(?:\.gz)?\Z"
        return bool(self.OWN_NAME and re.search(ending, path.replace("\\", "/")))

    def is_transcript(self, path: str) -> bool:
        """Whether this is a session's file, not a subagent's. Looks at no more than its head."""
        return self.has_own_name(path)

    def transcript_session_id(self, transcript: str) -> str:
        """What the file's name says."""
        if self.IS_NAMED_BY_FOLDER:
            return os.path.basename(os.path.dirname(transcript))
        return os.path.basename(transcript).removesuffix(".gz").removesuffix(".jsonl")


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
    summarises: bool = True  # False where the client empties its window and writes no summary


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


class RunningModel(NamedTuple):
    """What is known of the model that runs."""

    name: str = ""
    window: int = 0  # that the client itself named; 0 where it names none
    used: int = 0  # what once fitted in
    is_requested: bool = False  # the name is the one that was asked for


class ContextWindow:
    """When the client compacts: at a share of its window, which it names with its answers."""

    DEFAULT_TOKENS: int = 200_000
    """The window, as long as the client names none."""
    SHARE: float = 1.0
    SHARE_SETTING: str = ""
    """Names another share in the client's settings.json."""

    def __init__(self, paths: ClientPaths) -> None:
        self._paths = paths

    def read_window_config(self, environ: Mapping[str, str], project: str) -> WindowConfig:
        """What the user's settings say."""
        if not self.SHARE_SETTING:
            return WindowConfig()
        home = home_from(environ)
        share, _ = self._paths.find_setting(environ, home, project, self.SHARE_SETTING)
        usable = type(share) in (int, float) and 0 < share <= 1
        return WindowConfig(percent=100.0 * share if usable else 0.0)

    def compaction_point(self, chosen: WindowConfig, model: RunningModel) -> CompactionPoint:
        """Pure."""
        window = model.window or self.DEFAULT_TOKENS
        point = int(window * (chosen.percent / 100 or self.SHARE))
        certain = bool(model.window)
        return CompactionPoint(max(point, 1), window, chosen.auto_compact, is_certain=certain)


class ConversationMessage(NamedTuple):
    """One message of the conversation."""

    role: str  # "user" | "assistant"
    size: int  # characters
    is_prompt: bool  # words of the user: begins a turn
    calls: tuple[str, ...] = ()  # ids of the calls it makes
    answers: tuple[str, ...] = ()  # ids of the calls it answers
    is_holdfast_text: bool = False  # text that an earlier compaction placed


class LeftInContext(NamedTuple):
    """What a compaction left, as the client wrote it down."""

    summary: str  # "" where it is encrypted, or none was made
    kept: tuple[str, ...] = ()  # the user's messages that stay word for word
    was_summarised: bool = True  # False where the client emptied its window and wrote nothing


class Resumable(RowProbe):
    """Rows that can be written as another session, which the client can resume: a file that is
    named by its id.
    """

    RESUME_COMMAND: str
    """What a person types before the new session's id."""
    OUTPUT_KEY: str
    """Under which a part of a row has a tool's output."""

    def name_file(self, transcript: str, old: str, new: str) -> str:
        """Where the client looks for the new session, by where it keeps the old one."""
        raise NotImplementedError

    def rename_session(self, line: bytes, old: str, new: str) -> bytes:
        """The row, as one of the new session; empty where it is left out."""
        raise NotImplementedError

    def list_outputs(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """The parts of a row with output of tools, which the model gets with it."""
        raise NotImplementedError

    def is_of_compaction(self, row: dict[str, Any], boundary: dict[str, Any]) -> bool:
        """Whether a row shortly before a compaction's is the summariser's own answer."""
        return False

    def title_row(self, session: str, title: str) -> bytes:
        """What a list of sessions shows; empty where rows have no titles."""
        return b""


class Client:
    """One coding agent. A class of its own inherits what nearly every client does: a session is
    one file that is appended to, its hooks learn of compactions, and its parts are modules of
    the folder that the class is in, each imported when it is asked for.
    """

    name: str
    """What SessionSeen.client begins with."""
    title: str
    """What a user calls it."""
    installer: str
    """Where its installer is, as `package.module:NAME`: see `holdfast.install`."""
    paths: ClientPaths
    context_window: ContextWindow
    opening: bytes = b""
    """How a session's file begins; and what its first line holds besides."""
    opening_holds: bytes = b""
    prefix: str = ""
    """How the names of a fork's parts begin, where it has some of its own in another's folder."""

    @property
    def resumable(self) -> Resumable | None:
        """None where a session cannot be written for the client to resume."""
        return probe if isinstance(probe := self.row_probe, Resumable) else None

    @property
    def row_probe(self) -> RowProbe:
        found: RowProbe = self._part("adapter", "ROW_PROBE")
        return found

    @property
    def user_text(self) -> UserText:
        found: UserText = self._part("adapter", "USER_TEXT")
        return found

    @property
    def hook_io(self) -> HookClient:
        """What hooks are given and what they print."""
        found: HookClient = self._part("hooks", "HOOKS")
        return found

    @property
    def folder(self) -> str:
        """The package that the parts are in."""
        return type(self).__module__.rpartition(".")[0]

    def _part(self, module: str, name: str = "") -> Any:
        """An object of one of the folder's modules, or the module, which can be a part as well."""
        found = load_module(f"{self.folder}.{module}")
        return getattr(found, self.prefix + name, None) or getattr(found, name, found)

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins so is a session of this client."""
        line = head.partition(b"\n")[0][:400]
        named = bool(self.opening) and line.startswith(self.opening)
        return named and self.opening_holds in line

    def adapter(self, parser_state: object = None, *, newest: str = "") -> AdapterBase[Any]:
        """`newest` is the latest time that a row can have; one that claims a later has none."""
        made: AdapterBase[Any] = self._part("adapter", "ADAPTER")(parser_state, newest=newest)
        return made

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
        from holdfast.transcript.reader import START_CURSOR, Cursor, TranscriptReader

        start = cursor if isinstance(cursor, Cursor) else START_CURSOR
        return TranscriptReader(path, start, loads=loads, limit_bytes=limit, stop=stop, final=final)

    def load_cursor(self, saved: object) -> SourceCursor:
        """What `to_json` gave; anything that cannot be a cursor starts over."""
        from holdfast.transcript.reader import Cursor

        return Cursor.from_json(saved)

    def cursor_at(self, position: int) -> SourceCursor:
        """To look at the row that once stood there; whether it still does is seen from the row."""
        from holdfast.transcript.reader import Cursor

        return Cursor(position)

    def recent_prompt_ids(self, parser_state: object) -> frozenset[str]:
        """The ids of the newest prompts that an adapter of this state has read rows of; none where
        a prompt's row is there before its hook is asked.
        """
        found = parser_state.get("prompt_ids") if isinstance(parser_state, dict) else None
        return frozenset(one for one in found if type(one) is str) if found else frozenset()
