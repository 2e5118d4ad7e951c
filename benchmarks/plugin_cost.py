"""What the plugin costs: its launcher, the native module's questions, recall on a million facts.

Ratios to what each stands beside, in the same run: the launcher to the interpreter alone, the
module's two questions to the client's own compaction with an instant summary (the real one takes
a minute), a search in a million facts to the same search in a thousand.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import NamedTuple

from holdfast.events import Origin
from holdfast.paths import store_path
from holdfast.recall import queries
from holdfast.recall.queries import RecallScope
from holdfast.samples import SESSION_FILE
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import SavedState, Session
from holdfast.store.sqlite.store import SqliteStore

ROUNDS = 20
PLUGIN = Path(__file__).resolve().parent.parent / "plugin"
LAUNCHER = ["/bin/sh", str(PLUGIN / "bin" / "holdfast-run"), "hook"]
INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
IDLE_COMMAND = [INTERPRETER, "-I", "-S", "-c", "pass"]
FEW, MANY = 1_000, 1_000_000
SESSIONS = 200
# The shortest summary a real model writes takes several seconds; this many is generous to it.
SUMMARY_SECONDS = 10.0


class Row(NamedTuple):
    what: str
    ratio: float
    milliseconds: float
    limit: float
    runs: int


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return [*_launcher(Path(folder) / "home"), *_module(Path(folder) / "m"), *_recall(folder)]


def _launcher(home: Path) -> list[Row]:
    home.mkdir()
    payload = {
        "session_id": str(uuid.uuid4()),
        "transcript_path": str(home / "none.jsonl"),
        "cwd": str(home),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "go on",
    }
    words = [*LAUNCHER, "UserPromptSubmit"]
    ours, nothing = _in_turns(words, json.dumps(payload), home)
    return [
        Row(
            "plugin's UserPromptSubmit, to an idle Python", ours / nothing, ours * 1000, 3.0, ROUNDS
        )
    ]


def _module(home: Path) -> list[Row]:
    home.mkdir()
    transcript = home / "session.jsonl"
    transcript.write_bytes(Path(SESSION_FILE).read_bytes())
    question = {"cwd": str(home), "transcript": str(transcript), "trigger": "auto"}
    rows = []
    spent = 0.0
    begin: dict[str, object] = {"messages": []}
    for what, more in (("begin", begin), ("augment", {})):
        asked = json.dumps(
            {"session_id": "11111111-2222-4333-8444-555555555555", **question, **more}
        )
        ours, nothing = _in_turns([*LAUNCHER, f"native-{what}"], asked, home)
        spent += ours
        rows.append(
            Row(f"native module: {what}, to an idle Python", ours / nothing, ours * 1000, 0, ROUNDS)
        )
    share = (SUMMARY_SECONDS + spent) / SUMMARY_SECONDS
    rows.append(
        Row("a compaction of 10 s with the module, to without", share, spent * 1000, 1.1, ROUNDS)
    )
    return rows


def _recall(folder: str) -> list[Row]:
    times: dict[tuple[str, int], float] = {}
    for count in (FEW, MANY):
        data = os.path.join(folder, str(count))
        os.mkdir(data)
        store = SqliteStore(store_path(data))
        _fill(store, count)
        for what, words in (("a rare word", "zq{}"), ("words that all of them have", "gasket {}")):
            taken = []
            for n in range(ROUNDS):
                start = time.perf_counter()
                text = queries.search_memory(
                    store, RecallScope("/work/shop"), words.format(n * 37 % count)
                )
                taken.append(time.perf_counter() - start)
                assert "[" in text, text
            times[what, count] = sorted(taken)[len(taken) // 2]
        store.close()
    return [
        Row(
            f"recall of {what} in a million facts, to a thousand",
            times[what, MANY] / times[what, FEW],
            times[what, MANY] * 1000,
            0,
            ROUNDS,
        )
        for what in ("a rare word", "words that all of them have")
    ]


def _fill(store: SqliteStore, count: int) -> None:
    per_session = max(1, count // SESSIONS)
    number = 0
    for index in range(-(-count // per_session)):
        session = Session(f"{index:08d}-0000-4000-8000-000000000000", project="/work/shop")
        facts = []
        for _ in range(min(per_session, count - number)):
            at = Origin(f"row-{number}", number, number + 1, "2026-01-01T00:00:00Z")
            text = f"part zq{number} sits behind the gasket near valve {number % 977}"
            facts.append(Fact(f"i{number}", "identifier", text, OPEN, at))
            number += 1
        store.save(SavedState(session, (0, 1), {"n": index}, {}), facts)


def _in_turns(words: list[str], stdin: str, home: Path) -> tuple[float, float]:
    """(ours, doing nothing): the best of each, taken in turns."""
    _timed(words, stdin, home)
    ours, nothing = [], []
    for _ in range(ROUNDS):
        nothing.append(_timed(IDLE_COMMAND, "", home))
        ours.append(_timed(words, stdin, home))
    return min(ours), min(nothing)


def _timed(words: list[str], stdin: str, home: Path) -> float:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HOLDFAST_HOME": str(home / "data"),
    }
    start = time.perf_counter()
    subprocess.run(
        words, input=stdin.encode(), env=environment, capture_output=True, check=True, cwd=home
    )
    return time.perf_counter() - start
