"""Runs every hook for real, the way the client would, on a recorded session.

In a temporary folder, with a home and a data folder of its own: nothing of the user's is read or
written. What a hook printed is held against the client's contract.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from holdfast import clients, install
from holdfast.doctor.check_hooks import may_run, read_installed_hooks
from holdfast.doctor.environment import Environment, Finding, fail, ok, warn
from holdfast.files import make_private_dir, read, write_output
from holdfast.hooks import hook_log
from holdfast.install.installation import HookEntry
from holdfast.paths import STORE_FILE
from holdfast.records import NamedTuple
from holdfast.samples import SESSION_FILE
from holdfast.store.protocol import StoreError
from holdfast.store.sqlite.store import SqliteStore

SESSION_ID = "00000000-d0c7-4000-8000-000000000001"
# A hook that holds up the agent takes a tenth of this on a machine that is well.
SLOW_SECONDS = 2.0
DETACHED_TIMEOUT_SECONDS = 10.0

_BOUNDARY = b'"compact_boundary"'
# The end of a turn waits for these to be in the transcript: they are, in the sample.
_LAST_WORDS = "is taken for one that begins in the second"
# The events of a session, in their order, with what the client would say at each.
STEPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "go on"}),
    ("UserPromptExpansion", {"command_name": "greet", "prompt": "/greet"}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    ("PostToolUseFailure", {"tool_name": "Bash", "error": "Exit code 1"}),
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
    ("PostModelSwitch", {"to_model": "claude-sonnet-4-5", "context_tokens": 1000}),
    ("SessionEnd", {"reason": "other"}),
)
# At these a session with something to restore must print.
STEPS_WITH_OUTPUT = ("PreCompact", "SessionStart compact")


class HookRun(NamedTuple):
    step: str
    seconds: float
    out: str
    problems: tuple[str, ...]


def check_trial(around: Environment) -> list[Finding]:
    """Every set of hooks that is installed; or this copy's own, where none is."""
    _, by_source, by_plugin = read_installed_hooks(around)
    sets = {
        f"the {source.scope} settings' hooks": found
        for source, found in by_source.items()
        if all(may_run(around, source, entry) for entry in found)
    }
    sets |= {f"the plugin {p.name}'s hooks": found for p, found in by_plugin.items() if found}
    if not sets:
        own = install.get().build_direct_entries(around.interpreter, around.script)
        sets = {"this copy's hooks": own}
    findings, tried = [], set()
    for whose, found in sets.items():
        program = tuple(sorted(entry.argv for entry in found))
        if program not in tried:
            tried.add(program)
            try:
                findings.append(judge_runs(whose, *run_all_hooks(found)))
            except OSError as error:  # it needs room for a sample session
                why = error.strerror or error
                seen = f"{whose} could not be run in the temporary folder: {why}"
                findings.append(warn(seen, "Free disk space, or set TMPDIR to another folder"))
    return findings


def judge_runs(whose: str, runs: Sequence[HookRun], errors: Sequence[str]) -> Finding:
    """Pure: what these runs mean."""
    details = [f"{run.step}: {1000 * run.seconds:.0f} ms" for run in runs]
    bad = [f"{run.step}: {problem}" for run in runs for problem in run.problems]
    bad += [f"logged: {line}" for line in errors]
    if bad:
        seen = f"{whose} failed on a sample session: {bad[0]}"
        next_step = "Run `holdfast doctor --fix`; if it persists, reinstall Holdfast"
        return fail(seen, next_step, (*bad[1:], *details))
    slowest = max(runs, key=lambda run: run.seconds, default=None)
    if slowest is None:
        return warn(f"{whose}: none to run")
    said = f"slowest {slowest.step}, {1000 * slowest.seconds:.0f} ms"
    if slowest.seconds > SLOW_SECONDS:
        next_step = "The machine may be busy: run it again"
        return warn(f"{whose} work, but slowly: {said}", next_step, details)
    seen = f"{whose} handled {len(runs)} events of a sample session correctly; {said}"
    return ok(seen, details=details)


def run_all_hooks(found: Iterable[HookEntry]) -> tuple[list[HookRun], list[str]]:
    """Each event in turn; and what the hooks logged meanwhile."""
    by_event = {entry.event: entry for entry in found}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = os.path.realpath(folder)
        # The sample session, as far as its first compaction.
        make_private_dir(os.path.join(place, "home"))
        with open(SESSION_FILE, "rb") as sample:
            rows = sample.readlines()
        before = next((n for n, row in enumerate(rows) if _BOUNDARY in row), len(rows))
        transcript = os.path.join(place, f"{SESSION_ID}.jsonl")
        write_output(transcript, b"".join(rows[:before]))
        runs = [
            _run_hook(by_event[event], place, transcript, fields)
            for event, fields in STEPS
            if event in by_event
        ]
        done = {run.step for run in runs if not run.problems}
        data = os.path.join(place, "data")
        _wait_for_the_detached(data, done & set(DETACHED_STEPS))
        logged = (read(os.path.join(data, hook_log.LOG_FILE)) or b"").decode("utf-8", "replace")
        return runs, [line.strip() for line in logged.splitlines()]


def run_one_hook(found: Iterable[HookEntry]) -> list[str]:
    """One event alone, for a quick look; answers its problems."""
    runs, errors = run_all_hooks(entry for entry in found if entry.event == "PreCompact")
    return [problem for run in runs for problem in run.problems] + errors


def _run_hook(entry: HookEntry, folder: str, transcript: str, fields: Mapping[str, Any]) -> HookRun:
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
    except (subprocess.TimeoutExpired, OSError) as error:
        reason = f"timed out after {entry.timeout:.0f} seconds"
        if isinstance(error, OSError):
            reason = f"does not start: {error.strerror or error}"
        return HookRun(step, time.monotonic() - start, "", (reason,))
    seconds = time.monotonic() - start
    out = ended.stdout.decode("utf-8", "replace")
    problems = []
    if ended.returncode:
        meaning = ", which blocks" if ended.returncode == 2 else ""
        problems.append(f"exited with code {ended.returncode}{meaning}")
    problems += clients.default().hook_io.check_output(entry.event, out)
    if step in STEPS_WITH_OUTPUT and not out:
        problems.append("printed nothing, although output was expected")
    return HookRun(step, seconds, out, tuple(problems))


def _wait_for_the_detached(data: str, steps: Iterable[str]) -> None:
    """Some hooks go on after they returned; the folder must outlive them."""
    deadline = time.monotonic() + DETACHED_TIMEOUT_SECONDS
    for step in steps:
        while time.monotonic() < deadline and not _is_finished(data, DETACHED_STEPS[step]):
            time.sleep(0.02)


def _is_finished(data: str, is_done: Callable[[SqliteStore], bool]) -> bool:
    with suppress(StoreError), closing(SqliteStore(os.path.join(data, STORE_FILE))) as store:
        return is_done(store)
    return False


# Hooks that work on behind the client's back, and how to see that they are through.
DETACHED_STEPS: dict[str, Callable[[SqliteStore], bool]] = {
    "PreCompact": lambda store: store.archived_until(SESSION_ID, 0) > 0,
    "SessionEnd": lambda store: any(one.ended for one in store.sessions()),
}
