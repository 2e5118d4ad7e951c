"""The agent type of a session's main thread, from its transcript."""

from __future__ import annotations

from typing import Any

from holdfast.clients.claude_code.transcript.agent_setting import (
    AGENT_SETTING_MARK,
    agent_type_in_row,
)
from holdfast.transcript.reader import Loads, TranscriptReader, parse_line


class AgentTypeParser:
    """A parser of rows that remembers the last word on the agent type: for use as `loads`."""

    __slots__ = ("_loads", "_only", "agent_type")

    def __init__(self, loads: Loads | None = None, *, only: bool = False) -> None:
        self._loads, self._only = loads or parse_line, only
        self.agent_type = ""

    def __call__(self, line: bytes) -> Any:
        if AGENT_SETTING_MARK not in line:
            return {} if self._only else self._loads(line)
        data = self._loads(line)
        heard = agent_type_in_row(data)
        if heard is not None:
            self.agent_type = heard
        return data


def scan_agent_type(path: str, *, loads: Loads | None = None, until: int | None = None) -> str:
    """ "" for an ordinary session. `until` stops at the row that starts at that byte."""
    heard = AgentTypeParser(loads, only=True)
    with TranscriptReader(path, loads=heard, final=True, limit_bytes=until) as reader:
        for _ in reader.rows():
            pass
    return heard.agent_type
