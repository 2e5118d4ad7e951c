"""Whether the hooks are in the settings and point at something that runs.

Owns reading our entries, the launcher and the interpreter behind them, the switches that turn hooks
off, and other tools' hooks on the same events. Must not start a program that only a repository's
settings name.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast import clients
from holdfast.clients import hook_launcher
from holdfast.clients.hook_launcher import Launcher, LaunchTarget
from holdfast.clients.installation import ForeignHook, HookEntry, Plugin, SettingsSource
from holdfast.doctor.environment import (
    FAIL,
    OK,
    WARN,
    Environment,
    Finding,
    list_enabled_plugins,
    read_settings_sources,
)
from holdfast.files import read

CHECK = "hooks"
SWITCHES_CHECK = "switches"
RUN_INSTALL = "Run `holdfast install`"
RUN_FIX = "Run `holdfast doctor --fix`, or `holdfast install` with the same scope"
PROBE_TIMEOUT_SECONDS = 20

# Answers the interpreter's version and, where it can be imported, ours.
_PROBE = """\
import sys
print(*sys.version_info[:2])
import json, sqlite3
sys.path.insert(0, sys.argv[1])
import holdfast
print(holdfast.__version__)"""


class ProbeResult(NamedTuple):
    """What an interpreter said. `version` is of Holdfast, "" where it cannot be imported."""

    python: tuple[int, ...] = ()
    version: str = ""
    problem: str = ""


def list_plugin_entries(around: Environment) -> dict[Plugin, list[HookEntry]]:
    """The hooks of our own plugin, where the client has it: they start through its launcher."""
    installer = clients.default().installer
    found: dict[Plugin, list[HookEntry]] = {}
    for plugin in list_enabled_plugins(around):
        if plugin.is_ours:
            hooks = installer.list_foreign_hooks(installer.read_plugin_hooks(plugin))
            launcher = plugin_launcher(plugin)
            found[plugin] = [
                HookEntry(hook.event, ("/bin/sh", launcher, "hook", hook.event), 60.0)
                for hook in hooks
            ]
    return found


def plugin_launcher(plugin: Plugin) -> str:
    return os.path.join(plugin.folder, "bin", "holdfast-run")


def may_run(around: Environment, source: SettingsSource, entry: HookEntry) -> bool:
    """Whether a check may start what this entry names: a repository's own program it must not."""
    own = hook_launcher.build_launcher(around.data, around.interpreter, around.script)
    by_user = source.scope not in ("project", "local")
    return by_user or list(entry.argv) == own.build_argv(entry.event)


def check_hooks(around: Environment) -> list[Finding]:
    installer = clients.default().installer
    sources = read_settings_sources(around)
    findings = [report_unreadable(source) for source in sources if source.problem]
    wired = {source: installer.parse_entries(source.text) for source in sources if source.usable}
    findings += [_scope(around, source, found) for source, found in wired.items() if found]
    by_plugin = list_plugin_entries(around)
    findings += [_plugin(plugin, found) for plugin, found in by_plugin.items()]
    if not any(wired.values()) and not by_plugin:
        findings.append(Finding(CHECK, FAIL, "Holdfast's hooks are not installed", RUN_INSTALL))
    holding = [source for source, found in wired.items() if found]
    if len(holding) > 1 and len({wired[source][0].argv[:-1] for source in holding}) > 1:
        scopes = " and ".join(source.scope for source in holding)
        findings.append(
            Finding(
                CHECK,
                WARN,
                f"two different copies of the hooks are installed, in the {scopes} settings",
                "Nothing is delivered twice, but remove one: `holdfast uninstall --scope ...`",
            )
        )
    return findings


def _plugin(plugin: Plugin, found: Sequence[HookEntry]) -> Finding:
    launcher = plugin_launcher(plugin)
    gone = not os.path.isfile(launcher)
    if gone or not found:
        what = f"{launcher} does not exist" if gone else "it has no hooks"
        next_step = "Install the plugin again: `/plugin` in Claude Code"
        return Finding(CHECK, FAIL, f"the plugin {plugin.name} cannot run: {what}", next_step)
    return Finding(CHECK, OK, f"{len(found)} hooks from the plugin {plugin.name}, {plugin.folder}")


def report_unreadable(source: SettingsSource) -> Finding:
    # Of a file that is not strict JSON the client reads nothing at all.
    where = "" if source.path in source.problem else f"{source.path}: "
    seen = f"the {source.scope} settings cannot be read: {where}{source.problem}"
    return Finding(CHECK, FAIL, seen, "Fix the file")


def _scope(around: Environment, source: SettingsSource, found: Sequence[HookEntry]) -> Finding:
    where = f"{source.scope} settings ({source.path})"
    if not all(may_run(around, source, entry) for entry in found):
        seen = f"the hooks in the {where} run another launcher than this user's; it was not tried"
        return Finding(CHECK, WARN, seen, RUN_FIX, repair=f"install:{source.scope}")
    troubles, details, targets = [], [], set()
    for argv in _distinct_programs(found):
        target = hook_launcher.find_target(argv)
        if target is None:
            troubles.append(describe_launcher_problem(argv[0]))
            continue
        said = probe_interpreter(*target)
        targets.add(target)
        troubles += [said.problem] if said.problem else []
        version = f" (Holdfast {said.version})" if said.version else ""
        details.append(f"{target.interpreter} runs {target.script}{version}")
    if troubles:
        return Finding(
            CHECK,
            FAIL,
            f"the hooks in the {where} cannot run: {troubles[0]}",
            RUN_FIX,
            tuple(details),
            f"install:{source.scope}",
        )
    stale = describe_staleness(source.text, found, targets, around)
    if stale:
        return Finding(
            CHECK,
            WARN,
            f"the hooks in the {where} {stale}",
            RUN_FIX,
            tuple(details),
            f"install:{source.scope}",
        )
    return Finding(CHECK, OK, f"{len(found)} hooks in the {where}", details=tuple(details))


def _distinct_programs(found: Iterable[HookEntry]) -> list[tuple[str, ...]]:
    """One entry's words for each program that the entries run."""
    by_program = {(e.argv[0], hook_launcher.find_program(e.argv)): e.argv for e in found}
    return list(by_program.values())


def describe_launcher_problem(path: str) -> str:
    """Why a launcher cannot be read, or is not to be relied on."""
    if not os.path.exists(path):
        return f"the launcher {path} does not exist"
    return f"the launcher {path} was changed or is damaged"


def describe_staleness(
    text: str, found: Sequence[HookEntry], targets: Iterable[LaunchTarget], around: Environment
) -> str:
    """Pure: why an install would change these entries, "" where it would not."""
    installer = clients.default().installer
    missing = {spec.event for spec in installer.HOOKS} - {entry.event for entry in found}
    if missing:
        return f"lack {', '.join(sorted(missing))}"
    others = {target.script for target in targets if not _same(target.script, around.script)}
    if others:
        return f"run another copy of Holdfast, {sorted(others)[0]}, not this one, {around.script}"
    # An interpreter that runs is as good as ours; what an older version wrote around it is not.
    launcher = Launcher(found[0].argv[0], next(iter(targets)))
    return "" if installer.is_current(text, launcher) else "are outdated"


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def probe_interpreter(interpreter: str, script: str) -> ProbeResult:
    """Run the interpreter the way a hook does, and import what the hook imports."""
    if not os.path.exists(interpreter):
        return ProbeResult(problem=f"the interpreter {interpreter} does not exist")
    if not os.path.isfile(script):
        return ProbeResult(problem=f"{script} does not exist")
    package = script.replace("\\", "/").removesuffix(hook_launcher.SCRIPT_PATH_END)
    try:
        ended = subprocess.run(
            [interpreter, *hook_launcher.PYTHON_FLAGS, "-c", _PROBE, package],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return ProbeResult(problem=f"{interpreter} does not start: {error}")
    lines = ended.stdout.split("\n")
    python = tuple(int(part) for part in lines[0].split() if part.isdecimal())
    if python and python < (3, 11):
        shown = ".".join(map(str, python))
        return ProbeResult(
            python, problem=f"{interpreter} is Python {shown}; 3.11 or later is required"
        )
    if ended.returncode or len(lines) < 2 or not python:
        said = ended.stderr.strip().rpartition("\n")[2]
        return ProbeResult(python, problem=f"{interpreter} cannot import Holdfast: {said}")
    return ProbeResult(python, lines[1])


def check_switches(around: Environment) -> list[Finding]:
    """What keeps hooks from running although they are installed."""
    sources = read_settings_sources(around)
    off = clients.default().installer.list_disabling_switches(around.environ, sources)
    if not off:
        return [Finding(SWITCHES_CHECK, OK, "hooks are enabled")]
    by_admin = any(switch.is_managed for switch in off)
    next_step = "Ask your administrator to allow it" if by_admin else "Remove that setting"
    first, *others = (switch.text for switch in off)
    seen = f"hooks are disabled: {first}"
    return [Finding(SWITCHES_CHECK, FAIL, seen, next_step, tuple(others))]


def describe_hook_problem(around: Environment) -> str:
    """One line for other commands, from reading alone; "" when nothing is wrong."""
    installer = clients.default().installer
    usable = [source for source in read_settings_sources(around) if source.usable]
    found = [entry for source in usable for entry in installer.parse_entries(source.text)]
    if not found and list_plugin_entries(around):
        return ""
    if not found:
        return "The hooks are not installed: run `holdfast install`."
    targets = {argv: hook_launcher.find_target(argv) for argv in _distinct_programs(found)}
    for argv, target in targets.items():
        for path in target or argv[:1]:
            if not os.path.exists(path):
                return (
                    f"The hooks point to {path}, which does not exist: run `holdfast doctor --fix`."
                )
    missing = {spec.event for spec in installer.HOOKS} - {entry.event for entry in found}
    if missing and not list_plugin_entries(around):
        return f"The hooks lack {', '.join(sorted(missing))}: `holdfast install`."
    scripts = {target.script for target in targets.values() if target is not None}
    others = sorted(script for script in scripts if not _same(script, around.script))
    if others:
        return f"The hooks run another copy, {others[0]}: see `holdfast doctor`."
    return ""


# Other tools' hooks on the events that we use, and which of them get in the way.
#
# Owns the names of tools known to clash and the signs of it in a script. Reads, never runs.

OTHER_TOOLS_CHECK = "other tools"
MAX_HOOKS_SHOWN = 12
MAX_COMMAND_CHARS = 100
MAX_SCRIPT_BYTES = 200_000

_COMPACTION = ("PreCompact", "PostCompact")
# Seen to block or cancel compaction.
_BLOCKING_TOOLS = ("context-forge", "contextforge", "mempalace")
_BLOCKS = re.compile(
    r"(?:^|[\s;&|({])(?:exit\s+2\b|sys\.exit\(\s*2\s*\)|process\.exit\(\s*2\s*\))"
    r"|[\"']?decision[\"']?\s*[:=]\s*[\"']block",
    re.MULTILINE,
)


class OtherHook(NamedTuple):
    """Another tool's hook, and where it comes from."""

    origin: str
    hook: ForeignHook
    conflict: str = ""

    @property
    def shown(self) -> str:
        command = " ".join(self.hook.command.split())
        command = (
            command if len(command) <= MAX_COMMAND_CHARS else command[: MAX_COMMAND_CHARS - 1] + "…"
        )
        clash = f": {self.conflict}" if self.conflict else ""
        return f"{self.hook.event} ({self.origin}) {command}{clash}"


def check_other_hooks(around: Environment) -> list[Finding]:
    found = [
        neighbour._replace(
            conflict=find_conflict(neighbour.hook, read_scripts(neighbour.hook, around))
        )
        for neighbour in _list_other_hooks(around)
    ]
    return [judge_hooks(found)]


def judge_hooks(found: Iterable[OtherHook]) -> Finding:
    """Pure: which of these the user should know about."""
    other_hooks = sorted(found, key=lambda n: not n.conflict)
    details = tuple(n.shown for n in other_hooks[:MAX_HOOKS_SHOWN])
    clashing = [n for n in other_hooks if n.conflict]
    if clashing:
        seen = f"another tool's hook at {clashing[0].hook.event} {clashing[0].conflict}"
        next_step = "Holdfast's hooks still work, but this one may block compaction: check it"
        return Finding(OTHER_TOOLS_CHECK, WARN, seen, next_step, details)
    if other_hooks:
        return Finding(
            OTHER_TOOLS_CHECK,
            OK,
            f"{len(other_hooks)} other hooks, no known conflicts",
            details=details,
        )
    return Finding(OTHER_TOOLS_CHECK, OK, "no other hooks on the same events")


def find_conflict(hook: ForeignHook, script: str) -> str:
    """Pure: why this hook gets in the way, "" where nothing says so."""
    if hook.event not in _COMPACTION:
        return ""
    if any(name in hook.command.lower() for name in _BLOCKING_TOOLS):
        return "belongs to a tool known to block compaction"
    words = f"{hook.command}\n{script}"
    if hook.event == "PreCompact" and _BLOCKS.search(words):
        return "looks like it can block compaction"
    if "hookSpecificOutput" in words and hook.event in words:
        return "prints hookSpecificOutput, which the client rejects for this event"
    return ""


def read_scripts(hook: ForeignHook, around: Environment) -> str:
    """The text of the scripts that a command names, as far as they are small files."""
    try:
        words = shlex.split(hook.command)
    except ValueError:
        return ""
    texts = []
    for word in words:
        path = word.replace("${CLAUDE_PROJECT_DIR}", around.project)
        path = path.replace("$CLAUDE_PROJECT_DIR", around.project)
        path = path.replace("${HOME}", around.home).replace("$HOME", around.home)
        path = around.home + path[1:] if path.startswith("~/") else path
        if not path.endswith((".sh", ".py", ".js", ".mjs", ".cjs", ".ts", ".bash", ".zsh")):
            continue
        script = read(os.path.join(around.project, path), most=MAX_SCRIPT_BYTES)
        texts.append((script or b"").decode("utf-8", "replace"))
    return "\n".join(texts)


def _list_other_hooks(around: Environment) -> Iterator[OtherHook]:
    installer = clients.default().installer
    for source in read_settings_sources(around):
        if source.usable:
            for hook in installer.list_foreign_hooks(source.text):
                yield OtherHook(f"{source.scope} settings", hook)
    for plugin in list_enabled_plugins(around):
        if not plugin.is_ours:
            for hook in installer.list_foreign_hooks(installer.read_plugin_hooks(plugin)):
                yield OtherHook(f"plugin {plugin.name}", hook)
