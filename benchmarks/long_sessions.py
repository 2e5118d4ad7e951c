"""What each hook costs behind long histories of real work, in processor time.

A history is made of the rows of many recorded sessions, one behind the other as one session: its
state is full of different work, which is harder than any one session and than a sample repeated.
Ratios of medians to `python -I -S -c pass`, each run in turns with it. What runs on after a hook
has returned is waited for and not counted. Without $CORPUS or $HOLDFAST_CORPUS (a folder of
transcripts) there is nothing to measure, and no row.

    python -m benchmarks.long_sessions [MEGABYTES ...]
"""

import ctypes
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.hook_latency import (
    IDLE_COMMAND,
    MEGABYTE,
    HookSandbox,
    Row,
    make_sandbox,
    read_offset,
)

HISTORIES = (1, 40, 200)  # megabytes
ROUNDS = 12
BATCH_BYTES = 10_000
SUMMARY_CHARS = 12_000
PR_SET_CHILD_SUBREAPER = 36

# What a hook may cost behind each of HISTORIES.
LIMITS = {
    "PreCompact, 1 MB new": (10, 11, 12),
    "SubagentStop with a real summary": (10, 12, 15),
    "SessionStart(compact), prepared": (2.5, 2.5, 2.5),
    "PostCompact": (8, 8, 8),
    "PreCompact, nothing new": (7, 7, 7),
    "PostToolBatch, 10 KB new": (11, 11, 11),
    "Stop, 10 KB new": (11, 11, 11),
    "a prompt": (1.8, 1.8, 1.8),
    "status line": (1.8, 1.8, 1.8),
}


def run(histories: tuple[int, ...] = HISTORIES) -> list[Row]:
    corpus = os.environ.get("CORPUS") or os.environ.get("HOLDFAST_CORPUS")
    if not corpus:
        return []
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in histories:
            session = LongSession(make_sandbox(Path(folder) / str(megabytes)), Path(corpus))
            session.live_through(megabytes * MEGABYTE)
            session.measure()
            step = min(HISTORIES.index(megabytes), 2) if megabytes in HISTORIES else 2
            rows += session.report(f"behind {megabytes} MB", step)
            session.place.transcript.unlink()
    return rows


class LongSession:
    def __init__(self, place: HookSandbox, corpus: Path) -> None:
        self.place = place
        self._rows = join_sessions(corpus, place.session_id)
        self._summary = find_summary(corpus)
        self._spent: dict[str, list[float]] = {}

    def live_through(self, size: int) -> None:
        self._grow(size)
        for _ in range(20):  # a hook reads for less than a minute, and the next goes on
            self._call("Stop")
            if read_offset(self.place) >= self.place.transcript.stat().st_size:
                return
        self._call("PreCompact", trigger="auto")

    def measure(self) -> None:
        for _ in range(ROUNDS + 1):  # the first is to warm up
            self._grow(MEGABYTE)
            self._time("PreCompact, 1 MB new", "PreCompact", trigger="auto")
            self._time(
                "SubagentStop with a real summary",
                "SubagentStop",
                agent_id="compact",
                agent_type="",
                last_assistant_message=self._summary,
            )
            self._time("SessionStart(compact), prepared", "SessionStart", source="compact")
            self._time("PostCompact", "PostCompact", trigger="auto", summary=self._summary)
            self._time("PreCompact, nothing new", "PreCompact", trigger="auto")
            for latch in Path(self.place.data).rglob("*"):
                if latch.name.startswith(("verified.", "delivered.")):
                    latch.unlink()
            self._grow(BATCH_BYTES)
            self._time("PostToolBatch, 10 KB new", "PostToolBatch")
            self._grow(BATCH_BYTES)
            self._time("Stop, 10 KB new", "Stop")
            self._time("a prompt", "UserPromptSubmit", prompt="Please go on, and run the tests.")
            self._time("status line", "statusline", context_window={"used_percentage": 40})

    def report(self, where: str, step: int) -> Iterator[Row]:
        idle = statistics.median(self._spent["idle"][1:])
        for what, limits in LIMITS.items():
            spent = statistics.median(self._spent[what][1:])
            yield Row(f"{what}, {where}", spent / idle, spent * 1000, limits[step], ROUNDS)

    def _grow(self, size: int) -> None:
        with self.place.transcript.open("ab") as transcript:
            while size > 0:
                size -= transcript.write(next(self._rows))

    def _time(self, what: str, event: str, **fields: object) -> None:
        self._spent.setdefault("idle", []).append(_processor_time(IDLE_COMMAND, b"", ""))
        self._spent.setdefault(what, []).append(self._call(event, **fields))

    def _call(self, event: str, **fields: object) -> float:
        words, stdin = self.place.compose_call(event, **fields)
        spent = _processor_time(words, stdin, self.place.data)
        while True:  # what it left running
            try:
                os.wait()
            except ChildProcessError:
                return spent


def join_sessions(corpus: Path, session_id: str) -> Iterator[bytes]:
    """The main threads of all, each after the one before, without an end."""
    last, begins = "", datetime(2026, 1, 1)
    while True:
        for path in sorted(corpus.glob("*.jsonl*")):
            shift: timedelta | None = None
            for row in _read_rows(path):
                moment = datetime.fromisoformat(row["timestamp"].rstrip("Z"))
                shift = begins - moment if shift is None else shift
                ends = moment + shift
                row.update(
                    sessionId=session_id, timestamp=f"{ends.isoformat('T', 'milliseconds')}Z"
                )
                row["uuid"] = str(uuid.uuid4())
                is_boundary = row.get("subtype") == "compact_boundary"
                row["parentUuid"] = None if is_boundary else last or None
                if is_boundary:
                    row["logicalParentUuid"] = last
                last = row["uuid"]
                yield json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
            begins = max(begins, ends) + timedelta(minutes=1) if shift is not None else begins


def _read_rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for line in lines:
            row = json.loads(line)
            if "uuid" in row and "timestamp" in row and not row.get("isSidechain"):
                yield row


def find_summary(corpus: Path) -> str:
    """A summary that a client wrote, of about the usual length."""
    for path in sorted(corpus.glob("*.jsonl*")):
        for row in _read_rows(path):
            said = row.get("message", {}).get("content") if row.get("isCompactSummary") else ""
            if isinstance(said, str) and SUMMARY_CHARS <= len(said) < SUMMARY_CHARS * 5 // 4:
                return said
    raise LookupError(f"no summary of {SUMMARY_CHARS} characters in {corpus}")


def _processor_time(words: list[str], stdin: bytes, data: str) -> float:
    """Of the process and of those it waited for."""
    environment = {"PATH": os.defpath, "HOLDFAST_HOME": data}
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(
            words,
            stdin=given,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    console = Console(width=110)
    for row in run(tuple(map(int, sys.argv[1:])) or HISTORIES):
        held = "" if row.ratio <= row.limit else "  missed"
        aim = f"at most {row.limit:g}{held}"
        text = f"{row.what:55} {row.ratio:6.2f}x  {row.milliseconds:7.1f} ms  {aim}"
        console.print(text, highlight=False)
