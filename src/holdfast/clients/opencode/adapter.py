"""The rows of an OpenCode session as events.

A row is a finished message with its parts, calls of tools among them, as the plugin handed it over
(`session_file`), or says that a message was removed when the user went back. Must not do I/O, and
never raises on a row.
"""

import re

from holdfast.clients import tool_calls
from holdfast.clients.adapter_base import list_work
from holdfast.clients.client_protocol import LeftInContext, RowProbe, UserText
from holdfast.clients.json_fields import as_count, as_object, as_objects, as_text, compact_json
from holdfast.clients.session_rows import Place, RowsAdapter, RowsState, iterate_tails, parse_rows
from holdfast.clients.tool_calls import ToolCall, parse_diff
from holdfast.clock import format_timestamp
from holdfast.events import (
    AgentSaid,
    CommandInvoked,
    Event,
    Origin,
    Rewound,
    TitleSet,
    TurnEnded,
    UserSaid,
)
from holdfast.records import Any
from holdfast.transcript.reader import Row


class OpenCodeText(UserText):
    """Only our own texts are known by their words; the client frames no summary."""

    def extract_user_text(self, text: str) -> str:
        return super().extract_user_text(_strip_quotes(text.strip()))


def _strip_quotes(text: str) -> str:
    """`opencode run "go on"` hands on the words with quotation marks around them."""
    inside = text[1:-1].replace('\\"', "")
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in inside:
        return text[1:-1].replace('\\"', '"').strip()
    return text


_ID = re.compile(rb'^\{(?:"[a-z]+":\d+,)?"row":"([^"\\]{1,200})"')


class OpenCodeRows(RowProbe):
    """A compaction leaves its summary and the newest messages before it, from `tail_start_id` on.
    Rows say whose words a text is (`synthetic`).
    """

    ID_FIELDS = ("row",)
    BOUNDARY_MARK = b'"summary":true'

    def is_boundary(self, data: dict[str, Any]) -> bool:
        """Whether this row is the summary of a compaction of the main session."""
        info = as_object(data.get("info"))
        return (
            data.get("type") == "message"
            and info.get("role") == "assistant"
            and info.get("summary") is True
            and not info.get("error")
            and not data.get("agent")
        )

    def list_row_ids(self, line: bytes) -> list[str]:
        """The row's own id, which is at its beginning."""
        found = _ID.match(line)
        return [found[1].decode("utf-8", "replace")] if found else []

    def compaction_seconds(self, boundary: dict[str, Any]) -> float | None:
        """From when the summary was asked for to when it was there."""
        time = as_object(as_object(boundary.get("info")).get("time"))
        begun, ended = time.get("created"), time.get("completed")
        if type(begun) is int and type(ended) is int and ended >= begun:
            return (ended - begun) / 1000
        return None

    def last_compaction(self, path: str) -> LeftInContext | None:
        for lines, is_whole in iterate_tails(path):
            rows = list(parse_rows(lines))
            place = max((n for n, row in enumerate(rows) if self.is_boundary(row)), default=-1)
            if place >= 0 and (is_whole or _has_tail(rows[:place])):
                left = list_in_context(rows[: place + 1])
                summary = join_texts(as_objects(left[0].get("parts")))
                return LeftInContext(summary, tuple(map(_join_all, left[1:])))
        return None


ROW_PROBE, USER_TEXT = OpenCodeRows(), OpenCodeText()


def list_typed(parts: list[dict[str, Any]]) -> list[str]:
    """The texts of a user's message that the client did not put there itself."""
    return [
        as_text(part.get("text"))
        for part in parts
        if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
    ]


def join_texts(parts: list[dict[str, Any]]) -> str:
    texts = (as_text(part.get("text")) for part in parts if part.get("type") == "text")
    return "\n".join(filter(None, texts)).strip()


def list_in_context(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that a request would carry, the summary first."""
    found: list[dict[str, Any]] = []
    for data in rows:
        if data.get("type") == "removed":
            ids = [ROW_PROBE.row_id(message) for message in found]
            id_ = as_text(data.get("id"))
            found = found[: ids.index(id_)] if id_ in ids else found
        elif data.get("type") == "message" and not data.get("agent"):
            found = [data, *_list_kept(found)] if ROW_PROBE.is_boundary(data) else [*found, data]
    return found


def _list_kept(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What stays word for word of the messages before a summary."""
    first, asking = "", None
    for message in messages:
        for part in as_objects(message.get("parts")):
            if part.get("type") == "compaction":
                first, asking = as_text(part.get("tail_start_id")), message
    ids = [ROW_PROBE.row_id(message) for message in messages]
    if not first or first not in ids:
        return []
    return [message for message in messages[ids.index(first) :] if message is not asking]


def _has_tail(rows: list[dict[str, Any]]) -> bool:
    return bool(_list_kept(rows)) or not any(
        as_text(part.get("tail_start_id"))
        for row in rows[-3:]
        for part in as_objects(row.get("parts"))
    )


def _join_all(message: dict[str, Any]) -> str:
    """All the words of a message, those of its calls and answers too."""
    words = []
    for part in as_objects(message.get("parts")):
        state = as_object(part.get("state"))
        words += [as_text(part.get("text")), as_text(state.get("output"))]
        if part.get("type") == "tool":
            words.append(compact_json(state.get("input")))
    return "\n".join(filter(None, words))


_OURS = "holdfast_"  # how the client names the tools of a server: its name, then the tool's
_REFUSED = ("The user rejected permission", "The user dismissed this question")
_ABORTED = "Tool execution aborted"
# What the client writes around what a tool gave: no output, the lines of a file, a task's result.
_FRAMES = {
    "bash": re.compile(r"\A\(no output\)\Z"),
    "read": re.compile(
        r"<(?:path|type)>[^\n]*</(?:path|type)>\n|</?(?:file|content)>\n?|^\s*\d+(?:: |\| ?)"
        r"|\n*^\((?:End of file|Showing lines|Output capped|File has more)[^\n]*\)\n?",
        re.MULTILINE,
    ),
    "task": re.compile(r"</?task(?:_result)?(?: [^>\n]*)?>\n?"),
}
FORKS = ("kilo",)  # write the same rows, and name themselves in the first
_MAX_MILLISECONDS = 4_000_000_000_000  # in the year 2096


class OpenCodeAdapter(RowsAdapter[RowsState]):
    STATE = RowsState

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        data, at = row.data, self._read_origin(row)
        kind = as_text(data.get("type"))
        read = {
            "session": self._read_session,
            "title": self._read_title,
            "message": self._read_message,
        }.get(kind)
        if kind == "removed":
            start = self._state.remove_row(as_text(data.get("id")))
            out += [Rewound(at, start)] if start is not None else []
        elif read is None:
            self._state.unknown += 1
        elif at.row and self._state.add_row(at.row, row.start):
            read(data, at, out)
        return list_work(out) if at.agent else out

    def _read_origin(self, row: Row) -> Origin:
        time = as_object(as_object(row.data.get("info")).get("time"))
        written = _format_time(time.get("completed")) or _format_time(time.get("created"))
        agent, written = as_text(row.data.get("agent")), self._plausible(written)
        return Origin(ROW_PROBE.row_id(row.data), row.start, row.end, written, agent)

    def _read_session(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        self.CLIENT = next((fork for fork in FORKS if fork in data), "opencode")
        cwd, version = as_text(data.get("cwd")), as_text(data.get("version"))
        self._announce_session(at, Place(at.row, cwd, "", version), out)

    def _read_title(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        title = as_text(data.get("title"))[:500]
        if title and title != self._state.title:
            self._state.title = title
            out.append(TitleSet(at, title))

    def _read_message(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        info, parts = as_object(data.get("info")), as_objects(data.get("parts"))
        if info.get("role") == "user":
            self._read_user(data, parts, at, out)
        elif ROW_PROBE.is_boundary(data):
            self._tell_compaction(at, self._state.trigger, join_texts(parts), out)
        elif info.get("role") == "assistant":
            self._read_assistant(data, info, at, out)

    def _read_user(
        self, data: dict[str, Any], parts: list[dict[str, Any]], at: Origin, out: list[Event]
    ) -> None:
        for part in parts:
            if part.get("type") == "compaction":
                self._state.trigger = "manual" if part.get("auto") is False else "auto"
        said = "\n".join(filter(None, map(USER_TEXT.extract_user_text, list_typed(parts))))
        command = as_object(data.get("command"))
        name = as_text(command.get("name"))
        if name:
            asked = as_text(command.get("arguments"))
            out.append(CommandInvoked(at, name, asked, "user"))
            said = asked.strip()
        if said:
            out.append(UserSaid(at, said))

    def _read_assistant(
        self, data: dict[str, Any], info: dict[str, Any], at: Origin, out: list[Event]
    ) -> None:
        folder = as_text(as_object(info.get("path")).get("cwd")) or self._state.place.cwd
        for part in as_objects(data.get("parts")):
            if part.get("type") == "tool":
                out += list_tool_events(at, part, folder)
            elif part.get("type") == "text" and as_text(part.get("text")).strip():
                out.append(AgentSaid(at, as_text(part.get("text"))))
        tokens = as_object(info.get("tokens"))
        counted = count_tokens(tokens), as_count(tokens.get("output"))
        window = as_count(data.get("window"))
        self._measure_usage(at, as_text(info.get("modelID")), counted, window, out)
        finish = as_text(info.get("finish"))
        if info.get("error") or (finish and finish != "tool-calls"):
            out.append(TurnEnded(at))


def count_tokens(tokens: dict[str, Any]) -> int:
    """What is in context after an answer, as the client counts it."""
    cache = as_object(tokens.get("cache"))
    parts = (tokens.get("input"), tokens.get("output"), cache.get("read"), cache.get("write"))
    return as_count(tokens.get("total")) or sum(map(as_count, parts))


def _format_time(milliseconds: object) -> str:
    if type(milliseconds) is not int or not 0 < milliseconds < _MAX_MILLISECONDS:
        return ""
    return f"{format_timestamp(milliseconds // 1000)[:-1]}.{milliseconds % 1000:03d}Z"


def list_tool_events(at: Origin, part: dict[str, Any], folder: str) -> list[Event]:
    """The events of a call; none for one that has not ended."""
    state = as_object(part.get("state"))
    status, shown = state.get("status"), as_object(state.get("metadata"))
    if status not in ("completed", "error"):
        return []
    tool, code = as_text(part.get("tool")), shown.get("exit")
    output = as_text(state.get("output")) or as_text(state.get("error"))
    if tool in _FRAMES and (status == "completed" or tool == "task"):
        output = _FRAMES[tool].sub("", output)
    call = ToolCall(
        as_text(part.get("callID")),
        tool_calls.unprefix_ours(tool, _OURS),
        as_object(state.get("input")),
        output.strip() if tool == "task" else output,
        status == "completed",
        folder,
        code=code if type(code) is int else None,
        interrupted=output.startswith(_ABORTED),
        is_new=shown.get("exists") is not True,
        hunks=parse_diff(as_text(shown.get("diff"))),
        agent=as_text(shown.get("sessionId")),
    )
    if not call.ok and call.output.startswith(_REFUSED):
        return tool_calls.refuse(at, call)
    return tool_calls.list_events(at, call, {"list": tool_calls.search})


ADAPTER = OpenCodeAdapter
