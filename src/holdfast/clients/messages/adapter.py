"""Chat messages and rows of Claude Code as events: the adapter of sessions held in memory.

Fulfils `clients.client_protocol.Adapter`. A row is a `ChatMessage` (`to_row`) or a transcript row,
which is left to Claude Code's adapter. Must not do I/O and never raises on a message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from holdfast.clients.claude_code.transcript.adapter import ClaudeCodeAdapter
from holdfast.clients.claude_code.transcript.parser_state import (
    MAX_CALLS,
    SeenRows,
    ToolCall,
    bound_input,
)
from holdfast.clients.claude_code.transcript.tools import Result, list_events
from holdfast.clients.messages.own_text import remove_own_text
from holdfast.clients.messages.shapes import Answer, Call, ChatMessage, exit_code
from holdfast.clients.messages.tool_names import translate_call
from holdfast.events import AgentSaid, Event, Origin, SummaryGiven, UsageMeasured, UserSaid
from holdfast.transcript.reader import Row

FORMAT_VERSION = 1
ROW_FIELD = "holdfast-message"
MAX_CALL_CHARS = 64_000


def to_row(message: ChatMessage, own_id: str, time: str) -> dict[str, Any]:
    """A message as a row; `own_id` tells it from all others, `time` is when it was heard.

    Row ids are remembered by their last characters, so they are made of random ones.
    """
    row_id = hashlib.blake2s(own_id.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return {ROW_FIELD: message, "id": row_id, "time": time}


class MessagesAdapter:
    """`owner` is the chat whose marked texts are ours; `tools` are kinds of the caller's tools."""

    id_keys: tuple[str, ...] = ("seen", "messages_seen")

    def __init__(
        self,
        parser_state: object = None,
        *,
        newest: str = "",
        owner: str = "",
        tools: Mapping[str, str] | None = None,
    ) -> None:
        saved = parser_state if isinstance(parser_state, dict) else {}
        self._rows = ClaudeCodeAdapter(saved or None, newest=newest)
        self._newest = newest
        self._owner = owner
        self._tools = tools or {}
        self._seen = SeenRows()
        self._calls: dict[str, Call] = {}
        self._restore(saved.get("messages_seen"), saved.get("messages"))

    @property
    def unknown_rows(self) -> int:
        return self._rows.unknown_rows

    def parser_state(self) -> dict[str, Any]:
        return {
            **self._rows.parser_state(),
            "messages_seen": self._seen.to_json(),
            "messages": {
                "format": FORMAT_VERSION,
                "calls": [list(call) for call in self._calls.values()],
            },
        }

    def remembers(self, row_id: str) -> bool:
        return self._seen.turn_of(row_id) is not None or self._rows.remembers(row_id)

    def forget_positions(self) -> None:
        self._rows.forget_positions()

    def events(self, row: Row) -> list[Event]:
        message = row.data.get(ROW_FIELD)
        if not isinstance(message, ChatMessage):
            return self._rows.events(row._replace(data=self._without_own_text(row.data)))
        row_id = str(row.data.get("id", ""))
        if not self._seen.add(row_id, 0):
            return []
        time = message.time or str(row.data.get("time", ""))
        if self._newest and time > self._newest:
            time = ""
        at = Origin(row_id, row.start, row.end, time)
        if message.role == "assistant":
            return self._assistant(message, at)
        out: list[Event] = []
        for answer in message.answers:
            out += self._answered(answer, at)
        text = remove_own_text(message.text, self._owner).strip()
        if text and message.role == "user":
            out.append(SummaryGiven(at, text) if message.is_summary else UserSaid(at, text))
        return out

    def _assistant(self, message: ChatMessage, at: Origin) -> list[Event]:
        out: list[Event] = []
        if message.context:
            out.append(UsageMeasured(at, message.model, message.context, 0))
        text = remove_own_text(message.text, self._owner).strip()
        if text:
            out.append(AgentSaid(at, text))
        for call in message.calls:
            given, _ = bound_input(call.input, MAX_CALL_CHARS + 1)
            self._calls[call.id] = Call(call.id, call.name, given)
            if len(self._calls) > MAX_CALLS:
                del self._calls[next(iter(self._calls))]
        for answer in message.answers:  # tools that the server ran
            out += self._answered(answer, at)
        return out

    def _answered(self, answer: Answer, at: Origin) -> list[Event]:
        call = self._calls.pop(answer.id, None)
        if call is None:
            return []
        call = translate_call(call, self._tools)
        text, failed = answer.text, answer.failed
        code = exit_code(text) if call.name == "Bash" else None
        if failed and code is not None and not text.startswith("Exit code "):
            text = f"Exit code {code}\n{text}"
        asked = ToolCall(call.id, call.name, call.input, at.start, "", 0)
        return list_events(at, asked, Result(text, {}, failed))

    def _without_own_text(self, data: dict[str, Any]) -> dict[str, Any]:
        """A row of the user without what we put before or in place of their words."""
        message = data.get("message")
        if data.get("type") != "user" or not isinstance(message, dict):
            return data
        content = message.get("content")
        if isinstance(content, str):
            cleaned: Any = remove_own_text(content, self._owner)
        elif isinstance(content, list):
            cleaned = [self._clean_block(block) for block in content]
        else:
            return data
        return data if cleaned == content else {**data, "message": {**message, "content": cleaned}}

    def _clean_block(self, block: Any) -> Any:
        if not isinstance(block, dict) or not isinstance(block.get("text"), str):
            return block
        return {**block, "text": remove_own_text(block["text"], self._owner)}

    def _restore(self, seen: object, saved: object) -> None:
        if not isinstance(saved, dict) or saved.get("format") != FORMAT_VERSION:
            return
        try:
            self._seen = SeenRows.from_json(seen)
            for id_, name, given in saved["calls"]:
                if isinstance(given, dict):
                    self._calls[str(id_)] = Call(str(id_), str(name), given)
        except (KeyError, TypeError, ValueError):
            self._seen, self._calls = SeenRows(), {}
