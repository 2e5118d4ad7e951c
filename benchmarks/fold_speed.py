"""How fast the engine reads: against the bare parser, and against the length of the file.

Ratios within one run, the sides taken in turns, medians. A corpus is named by $CORPUS or
$HOLDFAST_CORPUS (a folder of transcripts); without one the bundled sample stands in.
"""

import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orjson

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.events import Event
from holdfast.samples import SESSION_FILE
from holdfast.session.follow import FollowState, follow_transcript, from_saved, to_saved
from holdfast.state import fold_all
from holdfast.state.redaction_gate import redact_events
from holdfast.transcript.reader import TranscriptReader

ROUNDS = 5
CATCH_UPS = 31
MEGABYTE = 1_000_000
HISTORIES = (MEGABYTE, 100 * MEGABYTE)
NEW_ROWS = 100_000


class Row(NamedTuple):
    what: str
    ratio: float
    milliseconds: float  # 0 where time is not what was measured
    limit: float  # what the ratio may be at most; 0 where it only informs
    runs: int


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return [*_fold_the_corpus(Path(folder)), *_behind_histories(Path(folder))]


def _fold_the_corpus(folder: Path) -> list[Row]:
    """Read and fold everything, against `orjson.loads` over the same lines; and its parts.

    The parts are timed by themselves and parse every row; the whole passes over what tells
    nothing, which is why it takes less than they do together.
    """
    parsing = reading = adapting = folding = gating = whole = 0.0
    for path in _plain_files(folder):
        lines = path.read_bytes().splitlines()
        name = str(path)
        events = _events(name)
        clean = redact_events(events)
        sides: tuple[Callable[[], object], ...] = (
            lambda lines=lines: _parsed(lines),  # type: ignore[misc]
            lambda name=name: _rows(name),  # type: ignore[misc]
            lambda name=name: _events(name),  # type: ignore[misc]
            lambda clean=clean: fold_all(clean),  # type: ignore[misc]
            lambda events=events: redact_events(events),  # type: ignore[misc]
            lambda name=name: follow_transcript(name, final=True),  # type: ignore[misc]
        )
        rounds = [[_timed(side) for side in sides] for _ in range(ROUNDS)]
        parse, read, adapt, fold, gate, all_of_it = map(
            statistics.median, zip(*rounds, strict=True)
        )
        parsing, gating, whole = parsing + parse, gating + gate, whole + all_of_it
        reading, adapting, folding = reading + read - parse, adapting + adapt - read, folding + fold
    folded = whole - gating

    def row(what: str, spent: float, limit: float = 0) -> Row:
        return Row(what, spent / parsing, spent * 1e3, limit, ROUNDS)

    return [
        row("read and fold the corpus / orjson.loads", folded, 5.0),
        row("  of which splitting lines, keeping the place", reading),
        row("  of which rows into events", adapting),
        row("  of which events into the state", folding),
        row("and no secret in what may be written", whole),
    ]


def _plain_files(folder: Path) -> list[Path]:
    corpus = os.environ.get("CORPUS") or os.environ.get("HOLDFAST_CORPUS")
    if not corpus:
        return [Path(SESSION_FILE)]
    found = []
    for path in sorted(Path(corpus).glob("*.jsonl*")):
        data = path.read_bytes()
        plain = folder / path.name.removesuffix(".gz")
        plain.write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
        found.append(plain)
    return found


def _parsed(lines: list[bytes]) -> None:
    for line in lines:
        orjson.loads(line)


def _rows(path: str) -> None:
    with TranscriptReader(path, final=True) as reader:
        for _ in reader.rows():
            pass


def _events(path: str) -> list[Event]:
    adapter = ClaudeCodeAdapter()
    events: list[Event] = []
    with TranscriptReader(path, final=True) as reader:
        for row in reader.rows():
            events += adapter.events(row)
    return events


def _behind_histories(folder: Path) -> list[Row]:
    """The same state, the same new rows; only the file before them is longer."""
    prepared = [_with_history(folder, size) for size in HISTORIES]
    times: list[list[float]] = [[], []]
    for _ in range(CATCH_UPS):
        for side, (path, before) in zip(times, prepared, strict=True):
            side.append(_timed(lambda path=path, before=before: _catch_up(path, before)))  # type: ignore[misc]
    short, long = (statistics.median(side) for side in times)
    memory = [_peak_memory(path) for path, _ in prepared]
    grown, megabytes = memory[1] / memory[0], memory[1] / 1e3
    return [
        Row(
            "100 KB of new rows behind 100 MB / behind 1 MB",
            long / short,
            long * 1e3,
            1.2,
            CATCH_UPS,
        ),
        Row(f"peak memory of 100 MB ({megabytes:.0f} MB) / of 1 MB", grown, 0, 1.2, 1),
    ]


def _catch_up(path: str, before: str) -> FollowState:
    return follow_transcript(path, from_saved(*json.loads(before)))


def _with_history(folder: Path, size: int) -> tuple[str, str]:
    """A transcript of this size and what was saved of it, with new rows behind that."""
    lines = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)
    padding = json.dumps({"type": "progress", "data": "x" * 2000}).encode() + b"\n"
    path = folder / f"history-{size}.jsonl"
    new: list[bytes] = []
    while sum(map(len, new)) < NEW_ROWS:
        new.insert(0, lines.pop())
    with path.open("wb") as file:
        file.writelines(lines)
        block = padding * 500
        while file.tell() + len(block) < size:
            file.write(block)
    saved = json.dumps(to_saved(follow_transcript(str(path))))
    with path.open("ab") as file:
        file.writelines(new)
    return str(path), saved


def _peak_memory(path: str) -> float:
    """Kilobytes at the most, of a process that reads and folds the whole file."""
    words = [sys.executable, "-m", "benchmarks.fold_speed", path]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def _timed(action: Callable[[], object]) -> float:
    """In the processor's own time: what else the machine does is not in it."""
    began = time.process_time()
    action()
    return time.process_time() - began


if __name__ == "__main__":
    follow_transcript(sys.argv[1], final=True)
    sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
