"""Which Claude Code is here, and what its version can do for us.

Owns the places where clients are installed and the table of what came with which version.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.doctor.finding import FAIL, OK, WARN, Finding
from holdfast.doctor.surroundings import Surroundings

CHECK = "client"
OLDEST = (2, 1, 139)

# What an older client lacks, newest need first. Seen on clients of both sides of each line.
FEATURES = (
    ((2, 1, 77), "PostCompact: what a summary lost cannot be known"),
    ((2, 1, 119), "PostToolBatch: nothing is saved while the agent works"),
    ((2, 1, 139), "hooks in exec form: the entries cannot start at all"),
)
# Below this a subagent's compaction is known only by what the transcripts tell.
NAMES_SUBAGENTS = (2, 1, 323)

# The client says where it runs in the processes that it starts.
_RUNNING = ("CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_EXEC_PATH")
_USUAL = (
    ".local/bin/claude",
    ".claude/local/claude",
    ".claude/local/node_modules/.bin/claude",
    ".npm-global/bin/claude",
    ".bun/bin/claude",
    ".volta/bin/claude",
)
_SYSTEM = ("/usr/local/bin/claude", "/opt/homebrew/bin/claude", "/usr/bin/claude")
_EDITORS = (".vscode", ".vscode-server", ".vscode-insiders", ".cursor", ".windsurf")
_EXTENSION = "extensions/anthropic.claude-code-*/resources/native-binary/claude"
_DESKTOP = (
    "Library/Application Support/Claude/claude-code/*/claude",
    ".config/Claude/claude-code/*/claude",
)

_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")
VERSION_SECONDS = 20


class FoundClient(NamedTuple):
    path: str
    kind: str  # "command line" | "editor" | "desktop app"
    version: tuple[int, ...] = ()  # () where it would not say

    @property
    def shown(self) -> str:
        number = ".".join(map(str, self.version)) or "of unknown version"
        return f"Claude Code {number} ({self.kind}, {self.path})"


def check_client(around: Surroundings) -> list[Finding]:
    return [judge(found_clients(around))]


def judge(found: Sequence[FoundClient]) -> Finding:
    """Pure: what these clients mean for us."""
    if not found:
        return Finding(
            CHECK,
            WARN,
            "Claude Code was not found on the PATH or in its usual places",
            "If it is installed elsewhere, all is well; else see https://code.claude.com",
        )
    details = []
    for client in found:
        details.append(client.shown)
        details += [f"  lacks {words}" for words in lacking(client.version)]
        if OLDEST <= client.version < NAMES_SUBAGENTS:
            details.append(
                "  does not say which subagent compacts (2.1.323 does): the transcripts tell,"
                " and nearly always right"
            )
    old = [client for client in found if client.version and client.version < OLDEST]
    unknown = [client for client in found if not client.version]
    oldest = ".".join(map(str, OLDEST))
    if old:
        level = FAIL if len(old) == len(found) else WARN
        seen = f"{old[0].shown} is older than {oldest}, the oldest that Holdfast works with"
        return Finding(CHECK, level, seen, "Update it: `claude update`", tuple(details))
    if unknown:
        seen = f"{unknown[0].shown}: its version could not be read"
        next_step = f"Holdfast works with {oldest} and later: see `claude --version`"
        return Finding(CHECK, WARN, seen, next_step, tuple(details))
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    notes = tuple(line for line in details if len(found) > 1 or line.startswith("  "))
    return Finding(CHECK, OK, f"{found[0].shown}: supported{more}", details=notes)


def lacking(version: tuple[int, ...]) -> list[str]:
    return [words for since, words in FEATURES if version and version < since]


def found_clients(around: Surroundings) -> list[FoundClient]:
    """Each client once, the one that a shell would run first."""
    found, seen = [], set()
    for kind, path in _candidates(around):
        real = os.path.realpath(path)
        if real in seen or not os.path.isfile(real) or not os.access(real, os.X_OK):
            continue
        seen.add(real)
        found.append(FoundClient(path, kind, version_of(path, real)))
    return found


def _candidates(around: Surroundings) -> Iterable[tuple[str, str]]:
    for name in _RUNNING:
        if around.environ.get(name):
            yield "command line", around.environ[name]
    on_path = shutil.which("claude", path=around.environ.get("PATH") or os.defpath)
    if on_path:
        yield "command line", on_path
    for place in (*(os.path.join(around.home, tail) for tail in _USUAL), *_SYSTEM):
        yield "command line", place
    home = glob.escape(around.home)
    for editor in _EDITORS:
        # Editors keep a few old versions of an extension: the newest is the one they run.
        kept = glob.glob(os.path.join(home, editor, _EXTENSION))
        yield from (("editor", path) for path in _newest(kept))
    for pattern in _DESKTOP:
        kept = glob.glob(os.path.join(home, pattern))
        yield from (("desktop app", path) for path in _newest(kept))


def _newest(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=number_in)[-1:]


def number_in(text: str) -> tuple[int, ...]:
    """The last version number in a text, () where there is none."""
    numbers = _NUMBER.findall(text)
    return tuple(int(part) for part in numbers[-1]) if numbers else ()


def version_of(path: str, real: str) -> tuple[int, ...]:
    """From the package around it, where that tells; else it is asked."""
    folder = os.path.dirname(real)
    for package in (folder, os.path.dirname(folder)):
        try:
            with open(os.path.join(package, "package.json"), encoding="utf-8") as file:
                described = json.load(file)
        except (OSError, ValueError):
            continue
        if isinstance(described, dict) and described.get("name") == "@anthropic-ai/claude-code":
            return number_in(str(described.get("version", "")))
    return number_in(real) or _asked(path)


def _asked(path: str) -> tuple[int, ...]:
    # A home of its own: to ask for a version must not leave a trace in the user's.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        environ = {"HOME": home, "PATH": os.environ.get("PATH", os.defpath)}
        environ |= {"DISABLE_AUTOUPDATER": "1", "TMPDIR": home}
        try:
            ended = subprocess.run(
                [path, "--version"],
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=VERSION_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return ()
    return number_in(ended.stdout.partition("\n")[0])
