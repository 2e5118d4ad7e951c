"""Rows written by hand, in the shape of Claude Code's, for what a recording cannot show.

Interactive moments (refusals, questions, plans, rewinds by key) and older clients' rows are
here; everything else is in `recorded/`, which the real client 2.1.325 wrote.
"""

import itertools
import json
from pathlib import Path
from typing import Any

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.events import Event
from holdfast.transcript.reader import Row

RECORDED = Path(__file__).parent / "recorded"
TIME = "2026-01-01T00:00:00.000Z"


class Transcript:
    """Builds a chain of rows; each hangs on the one before unless told otherwise."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.last: str | None = None
        self._ids = itertools.count(1)
        self._offset = 0

    def add(self, **data: Any) -> str:
        """Any row; gives it an id and a place in the chain if it has a type that needs one."""
        row_id = f"row-{next(self._ids):06d}"
        if data.get("type") in ("user", "assistant", "system", "attachment"):
            data.setdefault("uuid", row_id)
            data.setdefault("parentUuid", self.last)
            self.last = data["uuid"]
        data.setdefault("timestamp", TIME)
        size = len(json.dumps(data)) + 1
        self.rows.append(Row(data, self._offset, self._offset + size))
        self._offset += size
        return str(data.get("uuid", row_id))

    def prompt(self, words: Any, **more: Any) -> str:
        message = {"role": "user", "content": words}
        return self.add(type="user", message=message, **more)

    def says(self, words: str, **more: Any) -> str:
        message = {"role": "assistant", "content": [{"type": "text", "text": words}]}
        return self.add(type="assistant", message=message, **more)

    def calls(self, name: str, call: str = "toolu_1", **arguments: Any) -> str:
        block = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        message = {"role": "assistant", "content": [block]}
        return self.add(type="assistant", message=message)

    def result(
        self,
        shown: Any = "",
        call: str = "toolu_1",
        *,
        error: bool = False,
        structured: Any = None,
        **more: Any,
    ) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": shown, "is_error": error}
        extra = {} if structured is None else {"toolUseResult": structured}
        message = {"role": "user", "content": [block]}
        return self.add(type="user", message=message, **extra, **more)

    def tool(self, name: str, shown: Any = "", structured: Any = None, **arguments: Any) -> str:
        self.calls(name, **arguments)
        return self.result(shown, structured=structured)

    def events(self) -> list[Event]:
        return events_of(self.rows)


def events_of(rows: list[Row]) -> list[Event]:
    adapter = ClaudeCodeAdapter()
    return [event for row in rows for event in adapter.events(row)]


def events_in_pieces(rows: list[Row], size: int) -> list[Event]:
    """As list_events, with the memory saved as JSON and restored after every `size` rows."""
    parser_state: object = None
    found: list[Event] = []
    for at in range(0, len(rows), size):
        adapter = ClaudeCodeAdapter(parser_state)
        for row in rows[at : at + size]:
            found += adapter.events(row)
        parser_state = json.loads(json.dumps(adapter.parser_state()))
    return found


def only(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def bare(events: list[Any]) -> list[tuple[Any, ...]]:
    """Events without their origin."""
    return [tuple(event[1:]) for event in events]
