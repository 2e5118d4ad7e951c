"""Kills `holdfast session ingest` at random moments and looks at what is left.

Run as a program of its own, with one thread, so that it can fork: the command is loaded once
and every run of it is a fork of this process, which makes 200 kills affordable. Arguments:
the folder of transcripts, a folder for the stores, the number of kills, a seed. Prints a
JSON document with what went wrong (nothing) and what was seen.
"""

import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

import holdfast.cli.ingest  # noqa: F401  loaded once, before the forks
from holdfast.cli.main import main
from holdfast.paths import store_path
from holdfast.session import ingest as ingesting
from holdfast.store.sqlite.store import SqliteStore

# Small stretches: many commits, so many moments between two of them.
ingesting.STEP_BYTES = 20_000


def start(home: Path, transcripts: Path) -> tuple[int, int]:
    """Fork a process that runs the command; its id and the pipe it prints to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 1)
        try:
            main(["--home", str(home), "session", "ingest", str(transcripts), "--json"])
        except SystemExit as ended:
            os._exit(int(ended.code or 0))
        finally:
            os._exit(99)
    os.close(writing)
    return child, reading


def finish(child: int, reading: int, after: float | None) -> tuple[bool, list[dict[str, Any]]]:
    """Wait for it, or kill it after so many seconds; whether it was killed, what it told."""
    heard = b""
    deadline = None if after is None else time.monotonic() + after
    killed = False
    while True:
        left = None if deadline is None or killed else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([reading], [], [], left)
        if not ready:
            os.kill(child, signal.SIGKILL)
            killed = True
            continue
        part = os.read(reading, 65536)
        if not part:
            break
        heard += part
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if not killed and os.waitstatus_to_exitcode(status) != 0:
        raise AssertionError(f"ingest ended with {status}")
    lines = heard[: heard.rfind(b"\n") + 1].splitlines()
    told = [json.loads(line) for line in lines]
    return killed, [line for line in told if "session_id" in line]


def contents(home: Path) -> dict[str, Any]:
    """Everything that matters in a store, to be compared."""
    store = SqliteStore(store_path(str(home)))
    try:
        health = store.health()
        sessions = sorted(session.id for session in store.sessions(limit=1000))
        facts = {
            session: sorted(tuple(map(str, fact)) for fact in store.facts(session))
            for session in sessions
        }
        states = {}
        for session in sessions:
            saved = store.load(session)
            states[session] = None if saved is None else [list(saved.revision), saved.state]
        compactions = sorted(
            (one.session_id, one.epoch, one.row, one.summary)
            for one in store.compactions(limit=1000)
        )
        checkpoints = sorted(
            (session, one.epoch, one.revision) for session in sessions
            for one in store.checkpoints(session)
        )  # fmt: skip
    finally:
        store.close()
    return {
        "integrity": health["integrity"],
        "messages": health["counts"]["messages"],
        "facts": facts,
        "states": states,
        "compactions": compactions,
        "checkpoints": checkpoints,
    }


def lost(home: Path, told: list[dict[str, Any]], whole: dict[str, Any]) -> list[str]:
    """What was reported as stored and is not there."""
    if not os.path.exists(store_path(str(home))):
        return [line["session_id"] for line in told]
    found = contents(home)
    problems = [] if found["integrity"] == "ok" else [found["integrity"]]
    for line in told:
        session = line["session_id"]
        problems += [
            f"{what} of {session}"
            for what in ("facts", "states")
            if found[what].get(session) != whole[what][session]
        ]
        for what in ("compactions", "checkpoints"):
            mine = [one for one in found[what] if one[0] == session]
            if mine != [one for one in whole[what] if one[0] == session]:
                problems.append(f"{what} of {session}")
    return problems


def run(transcripts: Path, homes: Path, kills: int, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    began = time.monotonic()
    finish(*start(homes / "whole", transcripts), None)
    takes = longest = time.monotonic() - began
    whole = contents(homes / "whole")
    problems: list[str] = []
    done = rounds = acknowledged = 0
    while done < kills:
        rounds += 1
        home = homes / f"round-{rounds}"
        told: dict[str, dict[str, Any]] = {}
        for _ in range(chance.randint(1, 6)):
            killed, lines = finish(*start(home, transcripts), chance.uniform(0, takes * 0.9))
            done += killed
            # The first run may have been a slow one: the kills must keep coming in time.
            takes = min(longest, takes * 1.05) if killed else takes * 0.85
            told.update({line["session_id"]: line for line in lines})
            problems += lost(home, list(told.values()), whole)
        acknowledged += len(told)
        finish(*start(home, transcripts), None)
        if contents(home) != whole:
            problems.append(f"round {rounds} is not complete after a full run")
    return {
        "problems": problems,
        "kills": done,
        "rounds": rounds,
        "acknowledged": acknowledged,
        "sessions": len(whole["states"]),
    }


if __name__ == "__main__":
    folder, stores, kills, seed = sys.argv[1:]
    result = run(Path(folder), Path(stores), int(kills), int(seed))
    sys.stdout.write(json.dumps(result) + "\n")
