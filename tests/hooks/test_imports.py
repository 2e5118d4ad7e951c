"""Hooks import what they must and no more: the agent waits for their start-up."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import holdfast
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.install import launcher as hook_launcher
from support.hook_process import SCRIPT, Caller

PACKAGE = Path(holdfast.__file__).parent
# This folder is the fast path: whatever is in it may be imported, and next to nothing else.
FAST_FOLDER = "fastpath"
# Around it: what starts a hook, what hooks ask of a client, and the lowest modules of all.
FAST_FILES = {
    "holdfast.clients.claude_code.hooks",
    "holdfast.clients.claude_code.subagent_compaction",
    "holdfast.clients.codex.hooks",
    "holdfast.clients.copilot.hooks",
    "holdfast.clients.gemini.hooks",
    "holdfast.clients.gemini.model_request",
    "holdfast.clients.hook_base",
    "holdfast.clients.opencode.hooks",
    "holdfast.clients.qwen.hooks",
    "holdfast.hooks.main",
    "holdfast.hooks.entry",
    "holdfast.hooks.watchdog",
    "holdfast.hooks.fast",
    "holdfast.clock",
    "holdfast.files",
    "holdfast.path_spelling",
    "holdfast.paths",
    "holdfast.records",
    "holdfast.system",
}
# A prompt is written to the disk, so it is looked through for secrets first.
PREFILTER = {f"holdfast.redact.{name}" for name in ("commands", "prefilter", "secret_patterns")}
# Beyond what a bare interpreter has: `os` with its parts, the C parts of time, json and signal,
# and a checksum.
STANDARD_LIBRARY = {
    "__future__",
    "_collections",
    "_collections_abc",
    "_json",
    "_signal",
    "_stat",
    "binascii",
    "genericpath",
    "os",
    "posixpath",
    "stat",
    "time",
}


def list_modules(folder: str) -> set[str]:
    names = (path.stem for path in (PACKAGE / folder).glob("*.py") if path.stem != "__init__")
    return {f"holdfast.{folder.replace('/', '.')}.{name}" for name in names}


def with_packages(modules: set[str]) -> set[str]:
    """With the packages that they are in, which are imported first."""
    parts = [name.split(".") for name in modules]
    return {".".join(words[:n]) for words in parts for n in range(1, len(words) + 1)}


FAST_PATH = list_modules(FAST_FOLDER) | {n for n in FAST_FILES if n.startswith("holdfast.clients")}
FAST_MODULES = STANDARD_LIBRARY | with_packages(FAST_PATH | FAST_FILES | PREFILTER)
# Each costs milliseconds and none is needed.
NEVER = {
    "argparse",
    "asyncio",
    "concurrent",
    "ctypes",
    "dataclasses",
    "datetime",
    "email",
    "http",
    "importlib.metadata",
    "inspect",
    "logging",
    "multiprocessing",
    "pathlib",
    "shutil",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "traceback",
    "typing",
    "unittest",
    "urllib",
    "uuid",
}


def imported(words: list[str], stdin: bytes, env: dict[str, str]) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words], input=stdin, env=env, capture_output=True
    )
    assert done.returncode == 0
    lines = done.stderr.decode().splitlines()
    return {
        line.rpartition("|")[2].strip() for line in lines[1:] if line.startswith("import time:")
    }


def bare() -> set[str]:
    return imported(["-I", "-S", "-c", "pass"], b"", {})


def imports_of(caller: Caller, event: str, **fields: Any) -> set[str]:
    stdin = json.dumps(caller.payload(event, **fields)).encode()
    words = hook_launcher.build_arguments(str(SCRIPT), event)
    return imported(words, stdin, caller.environment()) - bare()


def test_every_module_of_the_fast_path_imports_nothing_beyond_it() -> None:
    for name in sorted(FAST_PATH):
        path = str(PACKAGE.parent)
        code = f"import sys; sys.path.insert(0, {path!r}); import {name}"
        found = imported(["-I", "-S", "-c", code], b"", {}) - bare()
        assert found - FAST_MODULES == set(), name


def test_a_prompt_takes_the_fast_path(caller: Caller) -> None:
    found = imports_of(caller, "UserPromptSubmit", prompt="go on with the cart")
    assert found - FAST_MODULES == set()


def test_a_prompt_with_a_gap_waiting_takes_the_fast_path(caller: Caller) -> None:
    caller.session_dir.pending.put(
        "gap", PrebuiltText(0, 0, 0, "2026-01-01T00:00:00Z", "r1", "The gap.")
    )
    found = imports_of(caller, "UserPromptSubmit", prompt="go on")
    assert found - FAST_MODULES == set()


def test_a_prepared_brief_takes_the_fast_path(caller: Caller) -> None:
    caller.begin()
    size = caller.transcript.stat().st_size
    caller.session_dir.write_brief(
        PrebuiltText(0, 0, size, "2026-01-01T00:00:00Z", "q1", "The brief.")
    )
    found = imports_of(caller, "SessionStart", source="compact")
    assert found - FAST_MODULES == set()


def test_a_new_session_takes_the_fast_path(caller: Caller) -> None:
    assert imports_of(caller, "SessionStart", source="startup") - FAST_MODULES == set()


def test_a_batch_without_new_rows_takes_the_fast_path(caller: Caller) -> None:
    caller.begin()
    caller.call("Stop")
    found = imports_of(caller, "PostToolBatch")
    assert found - FAST_MODULES == set()


def test_the_full_path_is_the_standard_library_without_its_slow_parts(caller: Caller) -> None:
    caller.begin()
    found = imports_of(caller, "PreCompact", trigger="auto")
    assert "_sqlite3" in found
    assert found & NEVER == set()
    tops = {name.partition(".")[0] for name in found}
    assert tops - sys.stdlib_module_names == {"holdfast"}
    ours = {name.split(".")[1] for name in found if name.startswith("holdfast.")}
    assert ours == {
        "brief",
        "clients",
        "clock",
        "compaction",
        "events",
        "fastpath",
        "files",
        "hooks",
        "lazy_regex",
        "path_spelling",
        "paths",
        "records",
        "redact",
        "retention",
        "session",
        "settings",
        "state",
        "store",
        "system",
        "text",
        "transcript",
    }
