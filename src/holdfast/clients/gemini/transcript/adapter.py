"""Gemini CLI's rows as events.

The file is a log of edits: a message is stated, and stated again when its calls have ended; a list
of messages takes the place of all before it. What was told is known by its id, a call by the
call's. Of a list only a compression is told: the messages that it keeps get new ids and are
those that were told before. Must not do I/O, and never raises on a row.
"""

from __future__ import annotations

from typing import Any

from holdfast.clients.gemini.transcript import work
from holdfast.clients.gemini.transcript.history import (
    MESSAGE_TYPES,
    find_summary,
    list_replaced,
    read_text,
    read_typed,
    read_workspace,
)
from holdfast.clients.gemini.transcript.parser_state import ParserState, Prompt
from holdfast.clients.gemini.transcript.row_probe import row_id
from holdfast.clients.gemini.transcript.user_text import strip_summary_frame
from holdfast.clients.json_fields import as_count, as_object, as_objects, as_text
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    Origin,
    Rewound,
    Searched,
    SessionSeen,
    SummaryGiven,
    ToolRan,
    UsageMeasured,
    UserSaid,
)
from holdfast.transcript.reader import Row

_NO_LIMIT = "\U0010ffff"  # sorts behind any time
# A subagent's own thread: what it did counts, what it was told and said does not.
_DONE_BY_SUBAGENTS = (CommandRan, FileTouched, Searched, ToolRan)
# Rows of these types are known and tell nothing: what the client showed on the screen.
_BOOKKEEPING = frozenset(("info", "error", "warning"))


class GeminiAdapter:
    """See `holdfast.clients.client_protocol.Adapter` for what is promised."""

    id_keys: tuple[str, ...] = ("told",)

    def __init__(self, parser_state: object = None, *, newest: str = "") -> None:
        self._state = ParserState.from_json(parser_state)
        self._newest = newest or _NO_LIMIT

    @property
    def unknown_rows(self) -> int:
        return self._state.unknown

    def parser_state(self) -> dict[str, Any]:
        return self._state.to_json()

    def remembers(self, row_id: str) -> bool:
        return row_id in self._state.told

    def forget_positions(self) -> None:
        self._state.prompts.clear()

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        data = row.data
        replaced = list_replaced(data)
        if replaced is not None:
            self._history_replaced(replaced, self._origin(row), out)
        elif data.get("type") in MESSAGE_TYPES:
            at = self._origin(row)
            self._announce(at, out)
            self._message(data, at, out)
        elif isinstance(data.get("$rewindTo"), str):
            self._rewound(data["$rewindTo"], self._origin(row), out)
        elif isinstance(data.get("sessionId"), str):
            self._header(data)
        elif "$set" not in data and as_text(data.get("type")) not in _BOOKKEEPING:
            self._state.unknown += 1
        if self._state.agent:
            return [event for event in out if isinstance(event, _DONE_BY_SUBAGENTS)]
        return out

    def _origin(self, row: Row) -> Origin:
        changed = as_object(row.data.get("$set"))
        time = as_text(row.data.get("timestamp")) or as_text(changed.get("lastUpdated"))
        time = "" if time > self._newest else time
        return Origin(row_id(row.data), row.start, row.end, time, self._state.agent)

    # ---- the session

    def _header(self, header: dict[str, Any]) -> None:
        session = as_text(header["sessionId"])[:200]
        is_subagent = header.get("kind") == "subagent"
        self._state.agent = session or "subagent" if is_subagent else ""
        self._state.place = self._state.place._replace(session=session)

    def _announce(self, at: Origin, out: list[Event]) -> None:
        place = self._state.place
        if place != self._state.announced:
            self._state.announced = place
            out.append(SessionSeen(at, place.session, place.cwd, "", "gemini"))

    # ---- edits

    def _rewound(self, id_: str, at: Origin, out: list[Event]) -> None:
        """To before this message. One that is not known was left out already, or long ago."""
        prompt = self._state.go_back(id_)
        if prompt is not None:
            out.append(Rewound(at, prompt.start))

    def _history_replaced(
        self, messages: list[dict[str, Any]], at: Origin, out: list[Event]
    ) -> None:
        workspace = next(
            (found for m in messages[:1] if (found := read_workspace(read_text(m)))), ""
        )
        if workspace:
            # To go back to it is to go back to before the first prompt.
            if not self._state.start.id:
                self._state.start = Prompt(_message_id(messages[0]), at.end)
            self._state.place = self._state.place._replace(cwd=workspace[:4096])
            self._announce(at, out)
        summary = find_summary(messages)
        if summary is not None:
            if self._state.told.add(summary.id):
                self._compressed(summary.text, summary.kept, at, out)
        elif not self._state.told:
            # A session that begins with the history of another.
            for message in messages:
                self._message(message, at, out)

    def _compressed(
        self, summary: str, kept: list[dict[str, Any]], at: Origin, out: list[Event]
    ) -> None:
        ids = [_message_id(message) for message in kept]
        for id_ in filter(None, ids):
            self._state.told.add(id_)
        typed = [_message_id(m) for m in kept if m.get("type") == "user" and read_typed(m)]
        self._state.rename_prompts(typed)
        before = self._state.context or None
        # Which trigger it was is not written down.
        out.append(Compacted(at, "", before, None, tuple(filter(None, ids))))
        text = strip_summary_frame(summary)
        if text:
            out.append(SummaryGiven(at, text))

    # ---- messages

    def _message(self, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if message.get("type") == "user":
            self._user(message, at, out)
        elif message.get("type") == "gemini":
            self._answer(message, at, out)

    def _user(self, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        id_, said = _message_id(message), read_typed(message)
        if said and self._state.told.add(id_ or f"{at.time}{len(said)}u"):
            self._state.add_prompt(Prompt(id_, at.start))
            out.append(UserSaid(at, said))

    def _answer(self, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        id_, said = _message_id(message), read_text(message)
        if said.strip() and self._state.told.add(id_ or f"{at.time}{len(said)}a"):
            out.append(AgentSaid(at, said))
        self._usage(id_, message, at, out)
        for written in as_objects(message.get("toolCalls")):
            call = work.read_call(written)
            if call is not None and self._state.told.add(call.id):
                out += work.list_events(at, call, written.get("status"))

    def _usage(self, id_: str, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        tokens = as_object(message.get("tokens"))
        context = as_count(tokens.get("input"))
        if not context or self._state.measured == id_:
            return
        self._state.measured, self._state.context = id_, context
        model = as_text(message.get("model"))[:200]
        out.append(UsageMeasured(at, model, context, as_count(tokens.get("output"))))


def _message_id(message: dict[str, Any]) -> str:
    return as_text(message.get("id"))[:100]
