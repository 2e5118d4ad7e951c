"""Hooks import what they must and no more: the agent waits for their start-up."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import holdfast
from holdfast.clients import hook_launcher
from holdfast.fastpath.session_dir import PrebuiltText
from support.hook_process import SCRIPT, Caller

PACKAGE = Path(holdfast.__file__).parent
# These folders are the fast path: whatever is in them may be imported, and next to nothing else.
FAST_FOLDERS = (
    "fastpath",
    "clients/claude_code/fastpath",
    "clients/codex/fastpath",
    "clients/opencode/fastpath",
    "clients/gemini/fastpath",
)
# Around them: what starts a hook, and the lowest modules of all.
FAST_FILES = {
    "holdfast.hooks.main",
    "holdfast.hooks.entry",
    "holdfast.hooks.watchdog",
    "holdfast.hooks.fast",
    "holdfast.clock",
    "holdfast.files",
    "holdfast.path_spelling",
    "holdfast.paths",
    "holdfast.system",
}
# A prompt is written to the disk, so it is looked through for secrets first.
PREFILTER = {"holdfast.redact.prefilter", "holdfast.redact.secret_patterns"}
# Beyond what a bare interpreter has: `os` with its parts, the C parts of time, json and signal,
# and a checksum.
STANDARD_LIBRARY = {
    "__future__",
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


FAST_PATH = set().union(*map(list_modules, FAST_FOLDERS))
FAST_MODULES = STANDARD_LIBRARY | with_packages(FAST_PATH | FAST_FILES | PREFILTER)
# Each costs milliseconds and none is needed. (`sqlite3` itself brings in datetime.)
NEVER = {
    "argparse",
    "asyncio",
    "concurrent",
    "ctypes",
    "dataclasses",
    "email",
    "http",
    "importlib.metadata",
    "inspect",
    "logging",
    "multiprocessing",
    "pathlib",
    "shutil",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "traceback",
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


def test_every_module_of_the_fast_folders_imports_nothing_beyond_them() -> None:
    for name in sorted(FAST_PATH):
        path = str(PACKAGE.parent)
        code = f"import sys; sys.path.insert(0, {path!r}); import {name}"
        found = imported(["-I", "-S", "-c", code], b"", {}) - bare()
        assert found - FAST_MODULES == set(), name


def test_a_prompt_takes_the_fast_path(caller: Caller) -> None:
    found = imports_of(caller, "UserPromptSubmit", prompt="go on with the cart")
    assert found - FAST_MODULES == set()


def test_a_prompt_with_a_gap_waiting_takes_the_fast_path(caller: Caller) -> None:
    caller.session_dir.write_gap(PrebuiltText(0, 0, 0, "2026-01-01T00:00:00Z", "r1", "The gap."))
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


def test_records_of_the_full_path_do_not_postpone_their_annotations(caller: Caller) -> None:
    """`NamedTuple` compiles every postponed annotation: more than half of what a class costs."""
    caller.begin()
    found = imports_of(caller, "PreCompact", trigger="auto")
    files = [
        PACKAGE.parent / f"{name.replace('.', '/')}.py"
        for name in found
        if name.startswith("holdfast.")
    ]
    slow = {
        path.name
        for path in files
        if path.is_file()
        and "(NamedTuple)" in (text := path.read_text())
        and "from __future__ import annotations" in text
    }
    # These name themselves, what only the type checker imports, or what their fields hide.
    assert slow == {
        "client_protocol.py",
        "file_chain.py",
        "model.py",
        "notes.py",
        "parser_state.py",
        "rules_text.py",
        "search_query.py",
    }


def test_the_full_path_is_the_standard_library_without_its_slow_parts(caller: Caller) -> None:
    caller.begin()
    found = imports_of(caller, "PreCompact", trigger="auto")
    assert "sqlite3" in found
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
