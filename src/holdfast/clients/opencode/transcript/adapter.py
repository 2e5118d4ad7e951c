"""The rows of an OpenCode session as events.

A row is a finished message with its parts, as the plugin handed it over (`session_file`), or says
that a message was removed when the user went back. Must not do I/O, and never raises on a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.clients.json_fields import as_count, as_object, as_objects, as_text
from holdfast.clients.opencode.transcript import row_probe, work
from holdfast.clients.opencode.transcript.parser_state import ParserState, Place
from holdfast.clients.opencode.transcript.user_text import extract_user_text
from holdfast.clock import format_timestamp
from holdfast.events import (
    AgentSaid,
    CommandInvoked,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    Origin,
    Rewound,
    Searched,
    SessionSeen,
    SummaryGiven,
    TitleSet,
    ToolRan,
    TurnEnded,
    UsageMeasured,
    UserSaid,
)
from holdfast.transcript.reader import Row

_NO_LIMIT = "\U0010ffff"  # sorts behind any time
_MAX_MILLISECONDS = 4_000_000_000_000  # in the year 2096
# Of a subagent: what it did counts, what it was told and said does not.
_DONE_BY_SUBAGENTS = (CommandRan, FileTouched, Searched, ToolRan)

Handler = Callable[[dict[str, Any], Origin, list[Event]], None]


class OpenCodeAdapter:
    """See `holdfast.clients.client_protocol.Adapter` for what is promised."""

    id_keys: tuple[str, ...] = ("rows",)

    def __init__(self, parser_state: object = None, *, newest: str = "") -> None:
        self._state = ParserState.from_json(parser_state)
        self._newest = newest or _NO_LIMIT
        self._rows: dict[str, Handler] = {
            "session": self._session,
            "title": self._title,
            "message": self._message,
        }

    @property
    def unknown_rows(self) -> int:
        return self._state.unknown

    def parser_state(self) -> dict[str, Any]:
        return self._state.to_json()

    def remembers(self, row_id: str) -> bool:
        return row_id in self._state.rows

    def forget_positions(self) -> None:
        self._state.forget_places()

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        data, at = row.data, self._origin(row)
        if data.get("type") == "removed":
            self._removed(data, at, out)
            return out
        handler = self._rows.get(as_text(data.get("type")))
        if handler is None:
            self._state.unknown += 1
        elif at.row and self._state.add_row(at.row, row.start):
            handler(data, at, out)
        if at.agent:
            return [event for event in out if isinstance(event, _DONE_BY_SUBAGENTS)]
        return out

    def _origin(self, row: Row) -> Origin:
        time = as_object(as_object(row.data.get("info")).get("time"))
        written = _format_time(time.get("completed")) or _format_time(time.get("created"))
        agent = as_text(row.data.get("agent"))
        written = "" if written > self._newest else written
        return Origin(row_probe.row_id(row.data), row.start, row.end, written, agent)

    def _removed(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        start = self._state.remove_row(as_text(data.get("id")))
        if start is not None:
            out.append(Rewound(at, start))

    def _session(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        place = Place(at.row, as_text(data.get("cwd"))[:4096], as_text(data.get("version"))[:100])
        if place != self._state.place:
            self._state.place = place
            client = f"opencode {place.version}".rstrip()
            out.append(SessionSeen(at, place.session, place.cwd, "", client))

    def _title(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        title = as_text(data.get("title"))[:500]
        if title and title != self._state.title:
            self._state.title = title
            out.append(TitleSet(at, title))

    def _message(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        info, parts = as_object(data.get("info")), as_objects(data.get("parts"))
        if info.get("role") == "user":
            self._user(data, parts, at, out)
        elif row_probe.is_boundary(data):
            self._compacted(parts, at, out)
        elif info.get("role") == "assistant":
            self._assistant(data, info, parts, at, out)

    def _user(
        self, data: dict[str, Any], parts: list[dict[str, Any]], at: Origin, out: list[Event]
    ) -> None:
        for part in parts:
            if part.get("type") == "compaction":
                self._state.trigger = "manual" if part.get("auto") is False else "auto"
        said = "\n".join(filter(None, map(extract_user_text, list_typed(parts))))
        command = as_object(data.get("command"))
        name = as_text(command.get("name"))
        if name:
            asked = as_text(command.get("arguments"))
            out.append(CommandInvoked(at, name, asked, "user", said))
            said = asked.strip()
        if said:
            out.append(UserSaid(at, said))

    def _compacted(self, parts: list[dict[str, Any]], at: Origin, out: list[Event]) -> None:
        out.append(Compacted(at, self._state.trigger, self._state.used or None, None, ()))
        summary = join_texts(parts)
        if summary:
            out.append(SummaryGiven(at, summary))

    def _assistant(
        self,
        data: dict[str, Any],
        info: dict[str, Any],
        parts: list[dict[str, Any]],
        at: Origin,
        out: list[Event],
    ) -> None:
        folder = as_text(as_object(info.get("path")).get("cwd")) or self._state.place.cwd
        for part in parts:
            if part.get("type") == "tool":
                out += work.list_tool_events(at, part, folder)
            elif part.get("type") == "text" and as_text(part.get("text")).strip():
                out.append(AgentSaid(at, as_text(part.get("text"))))
        tokens = as_object(info.get("tokens"))
        context = count_tokens(tokens)
        if context and not at.agent:
            self._state.used = context
            window, model = as_count(data.get("window")), as_text(info.get("modelID"))[:200]
            output = as_count(tokens.get("output"))
            out.append(UsageMeasured(at, model, context, output, window=window))
        finish = as_text(info.get("finish"))
        if info.get("error") or (finish and finish != "tool-calls"):
            out.append(TurnEnded(at))


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


def count_tokens(tokens: dict[str, Any]) -> int:
    """What stands in context after an answer, as the client counts it."""
    cache = as_object(tokens.get("cache"))
    parts = (tokens.get("input"), tokens.get("output"), cache.get("read"), cache.get("write"))
    return as_count(tokens.get("total")) or sum(map(as_count, parts))


def _format_time(milliseconds: object) -> str:
    if type(milliseconds) is not int or not 0 < milliseconds < _MAX_MILLISECONDS:
        return ""
    return f"{format_timestamp(milliseconds // 1000)[:-1]}.{milliseconds % 1000:03d}Z"
