"""Which Claude Code is here, what its version can do for us, and when it compacts; and the other
clients: is Holdfast in them, up to date and allowed to run?

Owns the places where clients are installed and the table of what came with which version. Says
nothing of another client that is not on this machine. Must not write.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence

from holdfast import clients, install
from holdfast.clients.client_protocol import Client
from holdfast.doctor import environment
from holdfast.install.installation import AutoCompact
from holdfast.records import NamedTuple

MIN_CLIENT_VERSION = (2, 1, 139)

# Below this a subagent's compaction is recognised from the transcripts alone.
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


def check_client(around: environment.Environment) -> list[environment.Finding]:
    return [judge_clients(find_clients(around))]


def judge_clients(found: Sequence[FoundClient]) -> environment.Finding:
    """Pure: what these clients mean for us."""
    if not found:
        return environment.warn(
            "Claude Code was not found on the PATH or in its usual places",
            "Ignore this if it is installed elsewhere; otherwise see https://code.claude.com",
        )
    details = []
    for client in found:
        details.append(client.shown)
        if MIN_CLIENT_VERSION <= client.version < SUBAGENT_NAME_VERSION:
            details.append(
                "  does not report which subagent compacts (2.1.323 does): inferred from the "
                "transcripts, nearly always correctly"
            )
    old = [client for client in found if client.version and client.version < MIN_CLIENT_VERSION]
    unknown = [client for client in found if not client.version]
    oldest = ".".join(map(str, MIN_CLIENT_VERSION))
    if old:
        say = environment.fail if len(old) == len(found) else environment.warn
        seen = f"{old[0].shown} is older than {oldest}, the minimum version for Holdfast"
        return say(seen, "Update it: `claude update`", details)
    if unknown:
        seen = f"{unknown[0].shown}: its version could not be read"
        next_step = f"Holdfast requires {oldest} or later: see `claude --version`"
        return environment.warn(seen, next_step, details)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    notes = [line for line in details if len(found) > 1 or line.startswith("  ")]
    return environment.ok(f"{found[0].shown}: supported{more}", details=notes)


def find_clients(around: environment.Environment) -> list[FoundClient]:
    """Each client once, the one that a shell would run first."""
    found, seen = [], set()
    for kind, path in _list_candidates(around):
        real = os.path.realpath(path)
        if real in seen or not os.path.isfile(real) or not os.access(real, os.X_OK):
            continue
        seen.add(real)
        found.append(FoundClient(path, kind, read_version(path, real)))
    return found


def _list_candidates(around: environment.Environment) -> Iterable[tuple[str, str]]:
    for name in _EXEC_PATH_VARS:
        if around.environ.get(name):
            yield "command line", around.environ[name]
    on_path = shutil.which("claude", path=around.environ.get("PATH") or os.defpath)
    if on_path:
        yield "command line", on_path
    for place in (*(os.path.join(around.home, tail) for tail in _HOME_PATHS), *_SYSTEM_PATHS):
        yield "command line", place
    home = glob.escape(around.home)
    patterns = [("editor", f"{editor}/{_EXTENSION}") for editor in _EDITORS]
    for kind, pattern in (*patterns, *(("desktop app", one) for one in _DESKTOP)):
        # A few old versions are kept of each: the newest is the one that runs.
        if kept := glob.glob(os.path.join(home, pattern)):
            yield kind, max(kept, key=parse_version)


def parse_version(text: str) -> tuple[int, ...]:
    """The last version number in a text, () where there is none."""
    numbers = _NUMBER.findall(text)
    return tuple(int(part) for part in numbers[-1]) if numbers else ()


def read_version(path: str, real: str) -> tuple[int, ...]:
    """From the package around it, where that says it; else it is asked."""
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
            ended = environment.run_quietly([path, "--version"], VERSION_TIMEOUT_SECONDS, environ)
        except (OSError, subprocess.SubprocessError):
            return ()
    return parse_version(ended.stdout.partition("\n")[0])


def check_autocompact(around: environment.Environment) -> list[environment.Finding]:
    installer = install.get()
    sources = environment.read_settings_sources(around)
    return [describe_autocompact(installer.read_auto_compact(around.environ, around.home, sources))]


def describe_autocompact(found: AutoCompact) -> environment.Finding:
    """Pure."""
    if found.never:
        return environment.warn(f"{found.disabled_by} is set: this client never compacts")
    if found.disabled_by:
        where = "in the settings" if found.disabled_by == "settings" else f"by {found.disabled_by}"
        seen = f"disabled {where}: only /compact compacts, and a full window ends the turn"
        return environment.warn(seen, "Take it out, unless you meant it")
    points = [f"{one.tokens:,} tokens of {one.window:,}" for one in found.earliest]
    if found.ignored:
        seen = f"the window {found.ignored} is not taken: it goes from 100,000 to 1,000,000"
        return environment.warn(seen, "Write tokens as a number", points)
    if found.point is None:
        lowered = f", at no more than {found.percent:g} % of its window" if found.percent else ""
        seen = f"on, when the client's own window is full{lowered}; at the earliest at "
        return environment.ok(seen + " or ".join(points))
    point = found.point
    return environment.ok(f"on, at about {point.tokens:,} tokens (window {point.window:,})")


def check_other_clients(around: environment.Environment) -> list[environment.Finding]:
    found = []
    for name in clients.names():
        client = clients.get(name)
        config = client.paths.config_dir(around.environ, around.home)
        if name != clients.DEFAULT_CLIENT and config and os.path.isdir(config):
            found.append(_check_other_client(around, client))
    return found


def _check_other_client(around: environment.Environment, client: Client) -> environment.Finding:
    installer, title = install.installer_for(client), client.title
    environ, project = around.environ, around.project
    trust_step = " ".join(installer.next_steps[1:2])
    sources = installer.read_settings_sources(environ, around.home, project)
    if broken := [source for source in sources if source.problem]:
        return environment.warn(
            f"{title} cannot read {broken[0].path}: {broken[0].problem}", "Fix the file"
        )
    installed = [s for s in sources if s.usable and installer.parse_entries(s.text)]
    if not installed:
        call = f"holdfast install --client {client.name}"
        return environment.ok(f"{title} is there, without Holdfast; `{call}` adds it")
    if switches := installer.list_disabling_switches(environ, sources):
        seen = f"{title} cannot use Holdfast's hooks: {switches[0].text}"
        return environment.warn(seen, "Change that, if you want Holdfast in it")
    untrusted = installer.list_untrusted(environ, project)
    if untrusted:
        many = len(untrusted)
        return environment.warn(
            f"{title} skips {many} of Holdfast's hooks: they are not trusted", trust_step
        )
    if limits := installer.list_limits(environ, project):
        return environment.warn(f"{title} runs Holdfast's hooks, but {limits[0]}", trust_step)
    silent = installer.list_silent(around.data)
    if silent:
        seen = f"{title} never called {' and '.join(silent)}: it may not know these hooks any more"
        return environment.warn(seen, "Look for a newer version of Holdfast")
    rest = ", and its hooks may run"
    if silent is None:
        rest = "; it was not started since"
    elif untrusted is None:
        rest = "; whether its hooks are trusted is not known"
    return environment.ok(f"{title}: installed in {installed[0].path}{rest}")
