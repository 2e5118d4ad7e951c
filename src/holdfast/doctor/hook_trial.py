"""Runs every hook for real, the way the client would, on a recorded session.

In a temporary folder, with a home and a data folder of its own: nothing of the user's is read or
written. What a hook printed is held against the client's contract.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, NamedTuple

from holdfast import clients
from holdfast.clients.installation import HookEntry
from holdfast.doctor.check_hooks import list_plugin_entries, may_run
from holdfast.doctor.environment import FAIL, OK, WARN, Environment, Finding, read_settings_sources
from holdfast.files import make_private_dir, write_output
from holdfast.hooks import hook_log
from holdfast.paths import STORE_FILE
from holdfast.samples import SESSION_FILE
from holdfast.store.protocol import StoreError
from holdfast.store.sqlite.store import SqliteStore

CHECK = "trial"
SESSION_ID = "00000000-d0c7-4000-8000-000000000001"
# A hook that holds up the agent takes a tenth of this on a machine that is well.
SLOW_SECONDS = 2.0
DETACHED_TIMEOUT_SECONDS = 10.0

_BOUNDARY = b'"compact_boundary"'
# The end of a turn waits for these to stand in the transcript: they do, in the sample.
_LAST_WORDS = "test_view_shows_the_discount is still red"
# The events of a session, in their order, with what the client would say at each.
STEPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "go on"}),
    ("UserPromptExpansion", {"command_name": "greet", "prompt": "/greet"}),
    ("PostToolBatch", {"tool_calls": []}),
    ("Stop", {"stop_hook_active": False, "last_assistant_message": _LAST_WORDS}),
    ("SubagentStop", {"agent_id": "a1", "agent_type": "general-purpose"}),
    ("PreCompact", {"trigger": "auto", "custom_instructions": None}),
    (
        "SubagentStop",
        {
            "agent_id": "a2",
            "agent_type": "",
            "last_assistant_message": "<summary>The work goes on.</summary>",
        },
    ),
    ("SessionStart", {"source": "compact"}),
    ("PostCompact", {"trigger": "auto", "compact_summary": "The work goes on."}),
    ("SessionEnd", {"reason": "other"}),
)
# At these a session with something to tell must be heard.
STEPS_WITH_OUTPUT = ("PreCompact", "SessionStart compact")


class HookRun(NamedTuple):
    """One hook's run."""

    step: str
    code: int
    seconds: float
    out: str
    problems: tuple[str, ...]


def check_trial(around: Environment) -> list[Finding]:
    """Every set of hooks that is installed; or this copy's own, where none is."""
    installer = clients.default().installer
    sets: dict[str, list[HookEntry]] = {}
    for source in read_settings_sources(around):
        found = installer.parse_entries(source.text) if source.usable else []
        if found and all(may_run(around, source, entry) for entry in found):
            sets[f"the {source.scope} settings' hooks"] = found
    for plugin, brought in list_plugin_entries(around).items():
        if brought:
            sets[f"the plugin {plugin.name}'s hooks"] = brought
    if not sets:
        sets["this copy's hooks"] = installer.build_direct_entries(
            around.interpreter, around.script
        )
    findings, tried = [], set()
    for whose, found in sets.items():
        program = tuple(sorted(entry.argv for entry in found))
        if program not in tried:
            tried.add(program)
            try:
                findings.append(judge_runs(whose, *run_all_hooks(found)))
            except OSError as error:
                findings.append(report_untried(whose, error))
    return findings


def report_untried(whose: str, error: OSError) -> Finding:
    """The trial needs room for a sample session, and the machine has none."""
    seen = f"{whose} could not be run in the temporary folder: {error.strerror or error}"
    return Finding(CHECK, WARN, seen, "Free disk space, or set TMPDIR to another folder")


def judge_runs(whose: str, runs: Sequence[HookRun], errors: Sequence[str]) -> Finding:
    """Pure: what these runs mean."""
    details = [f"{run.step}: {1000 * run.seconds:.0f} ms" for run in runs]
    bad = [f"{run.step}: {problem}" for run in runs for problem in run.problems]
    bad += [f"logged: {line}" for line in errors]
    if bad:
        seen = f"{whose} failed on a sample session: {bad[0]}"
        next_step = "Run `holdfast doctor --fix`; if it persists, reinstall Holdfast"
        return Finding(CHECK, FAIL, seen, next_step, (*bad[1:], *details))
    slowest = max(runs, key=lambda run: run.seconds, default=None)
    if slowest is None:
        return Finding(CHECK, WARN, f"{whose}: none to run")
    said = f"slowest {slowest.step}, {1000 * slowest.seconds:.0f} ms"
    if slowest.seconds > SLOW_SECONDS:
        next_step = "The machine may be busy: run it again"
        return Finding(CHECK, WARN, f"{whose} work, but slowly: {said}", next_step, tuple(details))
    seen = f"{whose} handled {len(runs)} events of a sample session correctly; {said}"
    return Finding(CHECK, OK, seen, details=tuple(details))


def run_all_hooks(found: Iterable[HookEntry]) -> tuple[list[HookRun], list[str]]:
    """Each event in turn; and what the hooks logged meanwhile."""
    by_event = {entry.event: entry for entry in found}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = os.path.realpath(folder)
        transcript = _create_sample(place)
        runs = [
            _run(by_event[event], place, transcript, fields)
            for event, fields in STEPS
            if event in by_event
        ]
        done = {run.step for run in runs if not run.problems}
        _wait_for_the_detached(os.path.join(place, "data"), done & set(DETACHED_STEPS))
        return runs, _logged(os.path.join(place, "data"))


def run_one_hook(found: Iterable[HookEntry], event: str = "PreCompact") -> list[str]:
    """One event alone, for a quick look; answers its problems."""
    wanted = [entry for entry in found if entry.event == event]
    runs, errors = run_all_hooks(wanted)
    return [problem for run in runs for problem in run.problems] + errors


def _create_sample(folder: str) -> str:
    """The sample session, as far as its first compaction."""
    make_private_dir(os.path.join(folder, "home"))
    with open(SESSION_FILE, "rb") as sample:
        rows = sample.readlines()
    before = next((n for n, row in enumerate(rows) if _BOUNDARY in row), len(rows))
    transcript = os.path.join(folder, f"{SESSION_ID}.jsonl")
    write_output(transcript, b"".join(rows[:before]))
    return transcript


def _run(entry: HookEntry, folder: str, transcript: str, fields: Mapping[str, Any]) -> HookRun:
    source = str(fields.get("source", ""))
    step = f"{entry.event} {source}".strip()
    payload = {
        "session_id": SESSION_ID,
        "transcript_path": transcript,
        "cwd": folder,
        "hook_event_name": entry.event,
        **fields,
    }
    environ = {
        "HOME": os.path.join(folder, "home"),
        "HOLDFAST_HOME": os.path.join(folder, "data"),
        "PATH": os.environ.get("PATH", os.defpath),
    }
    start = time.monotonic()
    try:
        ended = subprocess.run(
            entry.argv,
            input=json.dumps(payload).encode(),
            env=environ,
            cwd=folder,
            capture_output=True,
            timeout=entry.timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        gave_up = time.monotonic() - start
        return HookRun(step, -1, gave_up, "", (f"timed out after {entry.timeout:.0f} seconds",))
    except OSError as error:
        reason = f"does not start: {error.strerror or error}"
        return HookRun(step, -1, time.monotonic() - start, "", (reason,))
    seconds = time.monotonic() - start
    out = ended.stdout.decode("utf-8", "replace")
    problems = []
    if ended.returncode:
        meaning = ", which blocks" if ended.returncode == 2 else ""
        problems.append(f"exited with code {ended.returncode}{meaning}")
    problems += clients.default().hook_io.check_output(entry.event, out)
    if step in STEPS_WITH_OUTPUT and not out:
        problems.append("printed nothing, although output was expected")
    return HookRun(step, ended.returncode, seconds, out, tuple(problems))


def _wait_for_the_detached(data: str, steps: Iterable[str]) -> None:
    """Some hooks go on after they returned; the folder must outlive them."""
    deadline = time.monotonic() + DETACHED_TIMEOUT_SECONDS
    for step in steps:
        while time.monotonic() < deadline and not _finished(data, DETACHED_STEPS[step]):
            time.sleep(0.02)


def _finished(data: str, is_done: Callable[[SqliteStore], bool]) -> bool:
    with suppress(StoreError), closing(SqliteStore(os.path.join(data, STORE_FILE))) as store:
        return is_done(store)
    return False


def _has_ended(store: SqliteStore) -> bool:
    session = store.session(SESSION_ID)
    return session is not None and bool(session.ended)


def _has_archived(store: SqliteStore) -> bool:
    return store.archived_until(SESSION_ID, 0) > 0


# Hooks that work on behind the client's back, and how to see that they are through.
DETACHED_STEPS = {"PreCompact": _has_archived, "SessionEnd": _has_ended}


def _logged(data: str) -> list[str]:
    try:
        with open(
            os.path.join(data, hook_log.LOG_FILE), encoding="utf-8", errors="replace"
        ) as file:
            return [line.strip() for line in file]
    except FileNotFoundError:
        return []
