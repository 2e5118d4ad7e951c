"""Which Claude Code is here, what its version can do for us, and when it compacts.

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

from holdfast import clients
from holdfast.clients.installation import AutoCompact
from holdfast.doctor.environment import FAIL, OK, WARN, Environment, Finding, read_settings_sources

CHECK = "client"
MIN_CLIENT_VERSION = (2, 1, 139)

# What an older client lacks, newest need first. Seen on clients of both sides of each line.
FEATURES = (
    ((2, 1, 77), "PostCompact: cannot detect what a summary lost"),
    ((2, 1, 119), "PostToolBatch: state is not saved while the agent works"),
    ((2, 1, 139), "exec-form hooks: the entries cannot start"),
)
# Below this a subagent's compaction is known only by what the transcripts tell.
SUBAGENT_NAME_VERSION = (2, 1, 323)

# The client says where it runs in the processes that it starts.
_EXEC_PATH_VARS = ("CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_EXEC_PATH")
_HOME_PATHS = (
    ".local/bin/claude",
    ".claude/local/claude",
    ".claude/local/node_modules/.bin/claude",
    ".npm-global/bin/claude",
    ".bun/bin/claude",
    ".volta/bin/claude",
)
_SYSTEM_PATHS = ("/usr/local/bin/claude", "/opt/homebrew/bin/claude", "/usr/bin/claude")
_EDITORS = (".vscode", ".vscode-server", ".vscode-insiders", ".cursor", ".windsurf")
_EXTENSION = "extensions/anthropic.claude-code-*/resources/native-binary/claude"
_DESKTOP = (
    "Library/Application Support/Claude/claude-code/*/claude",
    ".config/Claude/claude-code/*/claude",
)

_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")
VERSION_TIMEOUT_SECONDS = 20


class FoundClient(NamedTuple):
    path: str
    kind: str  # "command line" | "editor" | "desktop app"
    version: tuple[int, ...] = ()  # () where it would not say

    @property
    def shown(self) -> str:
        number = ".".join(map(str, self.version)) or "of unknown version"
        return f"Claude Code {number} ({self.kind}, {self.path})"


def check_client(around: Environment) -> list[Finding]:
    return [judge_clients(find_clients(around))]


def judge_clients(found: Sequence[FoundClient]) -> Finding:
    """Pure: what these clients mean for us."""
    if not found:
        return Finding(
            CHECK,
            WARN,
            "Claude Code was not found on the PATH or in its usual places",
            "Ignore this if it is installed elsewhere; otherwise see https://code.claude.com",
        )
    details = []
    for client in found:
        details.append(client.shown)
        details += [f"  lacks {words}" for words in list_missing_features(client.version)]
        if MIN_CLIENT_VERSION <= client.version < SUBAGENT_NAME_VERSION:
            details.append(
                "  does not report which subagent compacts (2.1.323 does): inferred from the "
                "transcripts, nearly always correctly"
            )
    old = [client for client in found if client.version and client.version < MIN_CLIENT_VERSION]
    unknown = [client for client in found if not client.version]
    oldest = ".".join(map(str, MIN_CLIENT_VERSION))
    if old:
        level = FAIL if len(old) == len(found) else WARN
        seen = f"{old[0].shown} is older than {oldest}, the minimum version for Holdfast"
        return Finding(CHECK, level, seen, "Update it: `claude update`", tuple(details))
    if unknown:
        seen = f"{unknown[0].shown}: its version could not be read"
        next_step = f"Holdfast requires {oldest} or later: see `claude --version`"
        return Finding(CHECK, WARN, seen, next_step, tuple(details))
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    notes = tuple(line for line in details if len(found) > 1 or line.startswith("  "))
    return Finding(CHECK, OK, f"{found[0].shown}: supported{more}", details=notes)


def list_missing_features(version: tuple[int, ...]) -> list[str]:
    return [words for since, words in FEATURES if version and version < since]


def find_clients(around: Environment) -> list[FoundClient]:
    """Each client once, the one that a shell would run first."""
    found, seen = [], set()
    for kind, path in _candidates(around):
        real = os.path.realpath(path)
        if real in seen or not os.path.isfile(real) or not os.access(real, os.X_OK):
            continue
        seen.add(real)
        found.append(FoundClient(path, kind, read_version(path, real)))
    return found


def _candidates(around: Environment) -> Iterable[tuple[str, str]]:
    for name in _EXEC_PATH_VARS:
        if around.environ.get(name):
            yield "command line", around.environ[name]
    on_path = shutil.which("claude", path=around.environ.get("PATH") or os.defpath)
    if on_path:
        yield "command line", on_path
    for place in (*(os.path.join(around.home, tail) for tail in _HOME_PATHS), *_SYSTEM_PATHS):
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
    return sorted(paths, key=parse_version)[-1:]


def parse_version(text: str) -> tuple[int, ...]:
    """The last version number in a text, () where there is none."""
    numbers = _NUMBER.findall(text)
    return tuple(int(part) for part in numbers[-1]) if numbers else ()


def read_version(path: str, real: str) -> tuple[int, ...]:
    """From the package around it, where that tells; else it is asked."""
    folder = os.path.dirname(real)
    for package in (folder, os.path.dirname(folder)):
        try:
            with open(os.path.join(package, "package.json"), encoding="utf-8") as file:
                described = json.load(file)
        except (OSError, ValueError):
            continue
        if isinstance(described, dict) and described.get("name") == "@anthropic-ai/claude-code":
            return parse_version(str(described.get("version", "")))
    return parse_version(real) or _run_version(path)


def _run_version(path: str) -> tuple[int, ...]:
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
                timeout=VERSION_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return ()
    return parse_version(ended.stdout.partition("\n")[0])


# When this client compacts: the settings and variables in effect, in words.
#
# Owns the words; the client answers what is in effect. Judges nothing as broken: when to compact is
# the user's choice.

AUTOCOMPACT_CHECK = "auto-compact"


def check_autocompact(around: Environment) -> list[Finding]:
    installer = clients.default().installer
    sources = read_settings_sources(around)
    return [describe_autocompact(installer.read_auto_compact(around.environ, around.home, sources))]


def describe_autocompact(found: AutoCompact) -> Finding:
    """Pure."""
    if found.never:
        return Finding(
            AUTOCOMPACT_CHECK, WARN, f"{found.disabled_by} is set: this client never compacts"
        )
    if found.disabled_by:
        where = "in the settings" if found.disabled_by == "settings" else f"by {found.disabled_by}"
        return Finding(AUTOCOMPACT_CHECK, OK, f"disabled {where}: only /compact compacts")
    if found.point is None:
        lowered = f", at no more than {found.percent:g} % of its window" if found.percent else ""
        return Finding(AUTOCOMPACT_CHECK, OK, f"on, when the client's own window is full{lowered}")
    point = found.point
    return Finding(
        AUTOCOMPACT_CHECK, OK, f"on, at about {point.tokens:,} tokens (window {point.window:,})"
    )
