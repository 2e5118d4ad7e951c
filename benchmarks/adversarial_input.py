"""What made-up sessions cost that are meant to be slow: four times the input, how many times the
processor time.

Each is a whole transcript, read and folded as a hook does it. Linear growth gives 4, quadratic
16; the fixed part of a pass gives less than 4.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.fold_speed import Row
from holdfast.samples import SESSION_FILE
from holdfast.session.follow import follow_transcript

MAX_GROWTH = 8.0
_LONG = 60_000  # characters of one text
_MANY = 400  # rows


def run() -> list[Row]:
    follow_transcript(SESSION_FILE)  # patterns are compiled when they are first used
    with tempfile.TemporaryDirectory() as folder:
        return [_measured(what, made, Path(folder)) for what, made in CASES.items()]


def _measured(what: str, made: Callable[[int], str], folder: Path) -> Row:
    paths = []
    for times in (1, 4):
        path = folder / f"{times}.jsonl"
        path.write_text(made(times))
        paths.append(str(path))
    # Once: the second time, texts would be known to the caches of the fold.
    short, long = map(_seconds, paths)
    # Below two milliseconds the clock itself decides the ratio.
    return Row(f"hostile: {what}", long / max(short, 0.002), long * 1000, MAX_GROWTH, 1)


def _seconds(path: str) -> float:
    start = time.process_time()
    follow_transcript(path)
    return time.process_time() - start


def _rows(bodies: Iterator[dict[str, Any]]) -> str:
    common = {"sessionId": "s", "cwd": "/r", "gitBranch": "main", "version": "2.1.325"}
    return "".join(
        json.dumps(
            {
                "uuid": f"{number:036d}",
                "parentUuid": f"{number - 1:036d}" if number else None,
                "timestamp": f"2026-02-01T00:00:00.{number:06d}Z",
                **common,
                **body,
            }
        )
        + "\n"
        for number, body in enumerate(bodies)
    )


def _prompt(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def _answer(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}}


def _said(text: str) -> dict[str, Any]:
    return _answer({"type": "text", "text": text})


def _ran(command: str, output: str, ok: bool, number: int = 0) -> Iterator[dict[str, Any]]:
    call = f"call{number}"
    asked = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": not ok}
    yield _answer(asked)
    yield {"type": "user", "message": {"role": "user", "content": [result]}}


def _read(path: str, text: str) -> Iterator[dict[str, Any]]:
    asked = {"type": "tool_use", "id": "r", "name": "Read", "input": {"file_path": path}}
    yield _answer(asked)
    result = {"type": "tool_result", "tool_use_id": "r", "content": text}
    yield {"type": "user", "message": {"role": "user", "content": [result]}}


def _lines(line: str) -> Callable[[int], str]:
    return lambda times: f"{line}\n" * (times * 100_000 // (len(line) + 1))


def _long_words(piece: str) -> Callable[[int], str]:
    return lambda times: _rows(iter([_said(piece * (times * _LONG // len(piece)))]))


def _long_prompt(piece: str) -> Callable[[int], str]:
    return lambda times: _rows(iter([_prompt(piece * (times * _LONG // len(piece)))]))


def _many(body: Callable[[int], dict[str, Any]]) -> Callable[[int], str]:
    return lambda times: _rows(body(number) for number in range(times * _MANY))


def _output(piece: str, command: str = "ruff check && pytest -q") -> Callable[[int], str]:
    """Many runs of a check that fails; of one output only so much is read."""
    return lambda times: _rows(
        row
        for number in range(4)
        for row in _ran(command, piece * (times * 4000 // len(piece)), False, number)
    )


def _chain(times: int) -> str:
    command = " && ".join(f"make part{number}" for number in range(times * 90))
    return _rows(row for number in range(8) for row in _ran(command, "\n" * 8000, True, number))


CASES: dict[str, Callable[[int], str]] = {
    "empty lines": _lines(""),
    "lines that are no JSON": _lines("{"),
    "prompts that rule": _many(lambda number: _prompt(f"Never touch area{number}. Build it.")),
    "agent text with many cues": _long_words("because of this\n"),
    "agent text with cues in one line": _long_words("instead of this "),
    "decisions in one text": _long_words("I decided to use this one instead of that.\n"),
    "open fences": _long_words("```\n"),
    "white space": _long_words(" \n"),
    "a prompt of newlines": _long_prompt("\n"),
    "a prompt of tags": _long_prompt("<system-reminder>"),
    "chained checks, blank output": _output("\n"),
    "one long line of a summary": _output("= 1 failed ="),
    "a chain of many checks": _chain,
    "a path of many folders": lambda times: _rows(_read("/a" * (times * 20_000), "x")),
    "a command of quotes": lambda times: _rows(_ran("'\"\\" * (times * 5000), "x", False)),
    "a command of here-documents": lambda times: _rows(_ran("<<A\n" * (times * 5000), "", True)),
}
