"""Rows as pieces of text: who said it, and for tools what was called with what outcome.

Owns the view of a row that every later step shares. Thinking is left out: it is not visible
text, and the client drops it. It extracts no entities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from holdfast.measure.session_files import Row, content_blocks

USER, ASSISTANT, INPUT, RESULT, SUMMARY, ATTACHED = (
    "user",
    "assistant",
    "input",
    "result",
    "summary",
    "attached",
)

_READ_NUMBER = re.compile(r"^ *\d+(?:→|\t)", re.MULTILINE)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)

# Inputs that choose among a tool's modes: `files_with_matches` is nobody's identifier.
_SETTINGS = frozenset({"output_mode", "status", "subagent_type", "model", "type", "taskId"})


@dataclass(slots=True)
class Call:
    """One tool call and, once seen, its result."""

    id: str
    tool: str
    input: dict[str, Any]
    row: int
    result: str | None = None
    error: bool = False
    details: Any = None


@dataclass(slots=True)
class Piece:
    """One stretch of text in a row."""

    row: int
    source: str
    text: str
    call: Call | None = None


@dataclass(slots=True)
class SessionPieces:
    """A run of rows as pieces and calls, both in file order."""

    pieces: list[Piece] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


def list_strings(value: Any) -> list[str]:
    """Every string inside a JSON value, in order. Numbers and keys are not text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for v in value.values() for s in list_strings(v)]
    if isinstance(value, list):
        return [s for v in value for s in list_strings(v)]
    return []


def read_pieces(rows: list[Row], start: int, end: int) -> SessionPieces:
    """The pieces of rows[start:end]; results find calls inside the same stretch only."""
    reading = SessionPieces()
    by_id: dict[str, Call] = {}
    for i in range(start, end):
        row = rows[i]
        kind = row.get("type")
        if kind == "assistant":
            _assistant(row, i, reading, by_id)
        elif kind == "user":
            _user(row, i, reading, by_id)
        elif kind == "attachment":
            _attachment(row, i, reading)
    return reading


def _assistant(row: Row, i: int, reading: SessionPieces, by_id: dict[str, Call]) -> None:
    for block in content_blocks(row):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            reading.pieces.append(Piece(i, ASSISTANT, block["text"]))
        elif block.get("type") == "tool_use":
            given = block.get("input")
            call = Call(
                id=str(block.get("id", "")),
                tool=str(block.get("name", "")),
                input=given if isinstance(given, dict) else {},
                row=i,
            )
            by_id[call.id] = call
            reading.calls.append(call)
            told = {k: v for k, v in call.input.items() if k not in _SETTINGS}
            reading.pieces.append(Piece(i, INPUT, "\n".join(list_strings(told)), call))


def _user(row: Row, i: int, reading: SessionPieces, by_id: dict[str, Call]) -> None:
    if row.get("isCompactSummary"):
        text = "\n".join(str(b.get("text", "")) for b in content_blocks(row))
        reading.pieces.append(Piece(i, SUMMARY, text))
        return
    for block in content_blocks(row):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            text = _REMINDER.sub("", block["text"])
            if text.strip():
                reading.pieces.append(Piece(i, USER, text))
        elif block.get("type") == "tool_result":
            text = _result_text(block.get("content"))
            call = by_id.get(str(block.get("tool_use_id", "")))
            if call is not None:
                if call.tool == "Read":
                    text = _READ_NUMBER.sub("", text)
                call.result = text
                call.error = bool(block.get("is_error"))
                call.details = row.get("toolUseResult")
            reading.pieces.append(Piece(i, RESULT, text, call))


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return _REMINDER.sub("", content)
    if isinstance(content, list):
        texts = [
            b["text"] for b in content if isinstance(b, dict) and isinstance(b.get("text"), str)
        ]
        return _REMINDER.sub("", "\n".join(texts))
    return ""


def _attachment(row: Row, i: int, reading: SessionPieces) -> None:
    attachment = row.get("attachment")
    if not isinstance(attachment, dict):
        return
    source = USER if attachment.get("type") == "queued_command" else ATTACHED
    text = "\n".join(list_strings({k: v for k, v in attachment.items() if k != "type"}))
    if text:
        reading.pieces.append(Piece(i, source, text))
