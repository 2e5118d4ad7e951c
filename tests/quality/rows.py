"""Transcript rows written by hand, in the shapes that the client writes."""

import itertools
from typing import Any

Row = dict[str, Any]
_numbers = itertools.count(1)


def _row(kind: str, content: Any, **more: Any) -> Row:
    return {
        "type": kind,
        "uuid": f"{next(_numbers):08x}-0000-4000-8000-000000000000",
        "sessionId": "5e551011",
        "cwd": "/home/ann/shop",
        "gitBranch": "till",
        "message": {"role": kind, "content": content},
        **more,
    }


def typed(text: str, **more: Any) -> Row:
    return _row("user", text, **more)


def said(text: str) -> Row:
    return _row("assistant", [{"type": "text", "text": text}])


def called(tool: str, number: str, **given: Any) -> Row:
    return _row("assistant", [{"type": "tool_use", "id": number, "name": tool, "input": given}])


def answered(number: str, text: str, *, bad: bool = False, **more: Any) -> Row:
    block = {"type": "tool_result", "tool_use_id": number, "content": text, "is_error": bad}
    return _row("user", [block], **more)


def ran(command: str, output: str = "", *, bad: bool = False) -> list[Row]:
    number = f"toolu_{next(_numbers)}"
    return [called("Bash", number, command=command), answered(number, output, bad=bad)]


def boundary() -> Row:
    return {**_row("system", None), "subtype": "compact_boundary"}


def summary(text: str) -> Row:
    return typed(text, isCompactSummary=True, isVisibleInTranscriptOnly=True)
