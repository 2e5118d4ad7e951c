"""Chat messages as events: the adapter of sessions held in memory.

A row is a `ChatMessage` (`to_row`), or the row of a
client's transcript, which a session store was handed: that is left to the client's own adapter.
Knows by the names that libraries give their tools what a call does. Must not do I/O and never
raises on a message.
"""

import hashlib
from collections.abc import Mapping, Sequence

from holdfast import clients
from holdfast.clients.json_fields import as_object
from holdfast.clients.messages.own_text import remove_own_text
from holdfast.clients.messages.shapes import Answer, ChatMessage, exit_code
from holdfast.clients.session_rows import RowsAdapter, RowsState
from holdfast.clients.tool_calls import KIND_OF, KINDS, ToolCall, run_tool
from holdfast.events import AgentSaid, Event, Origin, SummaryGiven, UserSaid
from holdfast.records import Any
from holdfast.transcript.reader import Row

ROW_FIELD = "holdfast-message"
# What a caller may say of a tool of their own.
TOOL_KINDS = ("command", "read", "write", "edit", "search", "todos")
# Anthropic's editor is one tool with a command inside.
_EDITORS = frozenset(("str_replace_based_edit_tool", "str_replace_editor"))
_EDITOR_KINDS = {"view": "read", "create": "write", "str_replace": "edit", "insert": "edit"}


def to_row(message: ChatMessage, own_id: str, time: str) -> dict[str, Any]:
    """A message as a row; `own_id` is its alone, `time` is when it came.

    Row ids are remembered by their last characters, so they are made of random ones.
    """
    row_id = hashlib.blake2s(own_id.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return {ROW_FIELD: message, "id": row_id, "time": time}


class MessagesAdapter(RowsAdapter[RowsState]):
    """`owner` is the chat whose marked texts are ours; `tools` says of what
    kind tools of the caller's are.
    """

    STATE = RowsState
    id_keys: tuple[str, ...] = ("rows", "transcript_ids")

    def __init__(
        self,
        parser_state: object = None,
        *,
        newest: str = "",
        owner: str = "",
        tools: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(parser_state, newest=newest)
        saved = as_object(parser_state)
        before = as_object(saved.get("transcript")) | as_object(saved.get("transcript_ids"))
        self._transcript = clients.default().adapter(before or None, newest=newest)
        self._owner = owner
        self._tools = tools or {}

    @property
    def unknown_rows(self) -> int:
        return self._transcript.unknown_rows

    def parser_state(self) -> dict[str, Any]:
        inside = self._transcript.parser_state()
        ids = {key: inside.pop(key) for key in self._transcript.id_keys}
        return {**super().parser_state(), "transcript": inside, "transcript_ids": ids}

    def remembers(self, row_id: str) -> bool:
        return super().remembers(row_id) or self._transcript.remembers(row_id)

    def forget_positions(self) -> None:
        super().forget_positions()
        self._transcript.forget_positions()

    def events(self, row: Row) -> list[Event]:
        message = row.data.get(ROW_FIELD)
        if not isinstance(message, ChatMessage):
            return self._transcript.events(row._replace(data=self._without_own_text(row.data)))
        row_id = str(row.data.get("id", ""))
        if not self._state.add_row(row_id, row.start):
            return []
        time = self._plausible(message.time or str(row.data.get("time", "")))
        at = Origin(row_id, row.start, row.end, time)
        out: list[Event] = []
        text = remove_own_text(message.text, self._owner).strip()
        if message.role == "assistant":
            self._measure_usage(at, message.model, (message.context, 0), 0, out)
            out += [AgentSaid(at, text)] if text else []
            for call in message.calls:
                self._begin_call(at, call.id, call.name, call.input)
        for answer in message.answers:  # in an assistant's message of tools that the server ran
            out += self._read_answered(answer, at)
        if text and message.role == "user":
            out.append(SummaryGiven(at, text) if message.is_summary else UserSaid(at, text))
        return out

    def _read_answered(self, answer: Answer, at: Origin) -> list[Event]:
        asked = self._state.take_call(answer.id)
        if asked is None:
            return []
        kind = self._tools.get(asked.name) or _find_kind(asked.name, asked.input)
        call = ToolCall(asked.id, asked.name, asked.input, answer.text, not answer.failed)
        if kind == "command":
            call = call._replace(code=exit_code(answer.text))
        return KINDS[kind](at, call) if kind in TOOL_KINDS else run_tool(at, call)

    def _without_own_text(self, data: dict[str, Any]) -> dict[str, Any]:
        """A row of the user without what we put before or in place of their words."""
        message = data.get("message")
        if data.get("type") != "user" or not isinstance(message, dict):
            return data
        content = message.get("content")
        cleaned = self._clean(content)
        return data if cleaned == content else {**data, "message": {**message, "content": cleaned}}

    def _clean(self, content: Any) -> Any:
        """A text, blocks, or one of them."""
        if isinstance(content, str):
            return remove_own_text(content, self._owner)
        if isinstance(content, list):
            return [self._clean(block) for block in content]
        if isinstance(content, dict) and isinstance(content.get("text"), str):
            return {**content, "text": self._clean(content["text"])}
        return content


def _find_kind(name: str, given: Mapping[str, Any]) -> str:
    if name in _EDITORS:
        return _EDITOR_KINDS.get(str(given.get("command")), "")
    name = name.lower().replace("-", "_")
    # mcp__files__read_file, functions.read_file
    return KIND_OF.get(name) or KIND_OF.get(name.rpartition("__")[2].rpartition(".")[2], "")


MAX_KEYS = 256  # heard last, that are remembered


def find_new(heard: Sequence[str], keys: Sequence[str]) -> list[int]:
    """The places of the messages that were not heard yet.

    First as a history that went on: all that was heard is at its beginning, whatever is said
    again behind it; or what was heard last is in it. Then as one that lost messages: where most
    of it is known, whatever is there in the same order is. Else all are new: the same words
    said again later are said again.
    """
    if heard and list(keys[: len(heard)]) == list(heard):
        return list(range(len(heard), len(keys)))
    end = _end_of_overlap(heard, keys)
    if end:
        return list(range(end, len(keys)))
    known = set(heard)
    if len(keys) > 2 and sum(key in known for key in keys) * 2 > len(keys):
        return _not_in_order(heard, keys)
    return list(range(len(keys)))


def _end_of_overlap(heard: Sequence[str], keys: Sequence[str]) -> int:
    """The longest start of `keys` that ends with the end of `heard`."""
    for end in range(len(keys) if heard else 0, 0, -1):
        start = max(0, end - len(heard))
        if keys[end - 1] == heard[-1] and list(keys[start:end]) == list(heard[-end:]):
            return end
    return 0


def _not_in_order(heard: Sequence[str], keys: Sequence[str]) -> list[int]:
    new: list[int] = []
    position = 0
    for place, key in enumerate(keys):
        try:
            position = heard.index(key, position) + 1
        except ValueError:
            new.append(place)
    return new
