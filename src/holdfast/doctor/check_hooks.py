"""Whether the hooks are in the settings and point at something that runs, and which version.

Owns reading our entries, the launcher and the interpreter behind them, the switches that turn hooks
off, other tools' hooks on the same events, and the versions of what the hooks run and of what wrote
the database. Must not start a program that only a repository's settings name.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from string import Template

import holdfast
from holdfast import install
from holdfast.doctor import environment
from holdfast.files import read
from holdfast.install import launcher as hook_launcher
from holdfast.install import receipts
from holdfast.install.installation import ForeignHook, HookEntry, Plugin, SettingsSource
from holdfast.install.launcher import Launcher, LaunchTarget
from holdfast.paths import store_path
from holdfast.records import NamedTuple
from holdfast.store.sqlite.connection import read_written_by
from holdfast.text import truncate

RUN_INSTALL = "Run `holdfast install`"
RUN_FIX = "Run `holdfast doctor --fix`, or `holdfast install` with the same scope"
PROBE_TIMEOUT_SECONDS = 20

# Answers the interpreter's version; fails where ours cannot be imported.
_PROBE = """\
import sys
print(*sys.version_info[:2])
import json, sqlite3
sys.path.insert(0, sys.argv[1])
import holdfast"""


class InstalledHooks(NamedTuple):
    """Our entries, wherever the client finds some: in its settings files and in our plugin."""

    sources: list[SettingsSource]
    by_source: dict[SettingsSource, list[HookEntry]]  # without the files that have none
    by_plugin: dict[Plugin, list[HookEntry]]  # they start through the plugin's own launcher


def read_installed_hooks(around: environment.Environment) -> InstalledHooks:
    installer, sources = install.get(), environment.read_settings_sources(around)
    by_source = {s: installer.parse_entries(s.text) for s in sources if s.usable}
    by_plugin: dict[Plugin, list[HookEntry]] = {}
    for plugin in environment.list_enabled_plugins(around):
        if plugin.is_ours:
            hooks = installer.list_foreign_hooks(plugin.hooks)
            start = ("/bin/sh", plugin_launcher(plugin), "hook")
            by_plugin[plugin] = [HookEntry(h.event, (*start, h.event), 60.0) for h in hooks]
    return InstalledHooks(sources, {s: e for s, e in by_source.items() if e}, by_plugin)


def plugin_launcher(plugin: Plugin) -> str:
    return os.path.join(plugin.folder, "bin", "holdfast-run")


def may_run(around: environment.Environment, source: SettingsSource, entry: HookEntry) -> bool:
    """Whether a check may start what this entry names: a repository's own program it must not."""
    own = hook_launcher.build_launcher(around.data, around.interpreter, around.script)
    by_user = source.scope not in ("project", "local")
    return by_user or list(entry.argv) == own.build_argv(entry.event)


def check_hooks(around: environment.Environment) -> list[environment.Finding]:
    sources, by_source, by_plugin = read_installed_hooks(around)
    findings = []
    for source in (source for source in sources if source.problem):
        # Of a file that is not strict JSON the client reads nothing at all.
        where = "" if source.path in source.problem else f"{source.path}: "
        seen = f"the {source.scope} settings cannot be read: {where}{source.problem}"
        findings.append(environment.fail(seen, "Fix the file"))
    findings += [_check_scope(around, source, found) for source, found in by_source.items()]
    findings += [_check_plugin(plugin, found) for plugin, found in by_plugin.items()]
    if not by_source and not by_plugin:
        findings.append(environment.fail("Holdfast's hooks are not installed", RUN_INSTALL))
    if len({found[0].argv[:-1] for found in by_source.values()}) > 1:
        scopes = " and ".join(source.scope for source in by_source)
        seen = f"two different copies of the hooks are installed, in the {scopes} settings"
        next_step = "Nothing is delivered twice, but remove one: `holdfast uninstall --scope ...`"
        findings.append(environment.warn(seen, next_step))
    return findings


def _check_plugin(plugin: Plugin, found: Sequence[HookEntry]) -> environment.Finding:
    launcher = plugin_launcher(plugin)
    gone = not os.path.isfile(launcher)
    if gone or not found:
        what = f"{launcher} does not exist" if gone else "it has no hooks"
        next_step = "Install the plugin again: `/plugin` in Claude Code"
        return environment.fail(f"the plugin {plugin.name} cannot run: {what}", next_step)
    return environment.ok(f"{len(found)} hooks from the plugin {plugin.name}, {plugin.folder}")


def _check_scope(
    around: environment.Environment, source: SettingsSource, found: Sequence[HookEntry]
) -> environment.Finding:
    where, repair = f"{source.scope} settings ({source.path})", f"install:{source.scope}"
    if not all(may_run(around, source, entry) for entry in found):
        seen = f"the hooks in the {where} run another launcher than this user's; it was not tried"
        return environment.warn(seen, RUN_FIX, repair=repair)
    troubles, details, targets = [], [], set()
    for argv, target in _find_targets(found).items():
        if target is None:
            is_there = os.path.exists(argv[0])
            why = "was changed or is damaged" if is_there else "does not exist"
            troubles.append(f"the launcher {argv[0]} {why}")
            continue
        troubles += filter(None, [_find_interpreter_problem(*target)])
        targets.add(target)
        details.append(f"{target.interpreter} runs {target.script}")
    if troubles:
        seen = f"the hooks in the {where} cannot run: {troubles[0]}"
        return environment.fail(seen, RUN_FIX, details, repair)
    # An interpreter that runs is as good as ours; what an older version wrote around it is not.
    launcher, stale = Launcher(found[0].argv[0], next(iter(targets))), ""
    if missing := _list_missing_events(found):
        stale = f"lack {missing}"
    elif other := _find_other_copy(targets, around):
        stale = f"run another copy of Holdfast, {other}, not this one, {around.script}"
    elif not install.get().is_current(source.text, launcher):
        stale = "are outdated"
    if stale:
        return environment.warn(f"the hooks in the {where} {stale}", RUN_FIX, details, repair)
    return environment.ok(f"{len(found)} hooks in the {where}", details=details)


def _find_targets(found: Iterable[HookEntry]) -> dict[tuple[str, ...], LaunchTarget | None]:
    """One entry's words for each program that the entries run, and what it starts."""
    by_program = {(e.argv[0], hook_launcher.find_program(e.argv)): e.argv for e in found}
    return {argv: hook_launcher.find_target(argv) for argv in by_program.values()}


def _list_missing_events(found: Iterable[HookEntry]) -> str:
    missing = {spec.event for spec in install.get().hooks} - {entry.event for entry in found}
    return ", ".join(sorted(missing))


def _find_other_copy(targets: Iterable[LaunchTarget], around: environment.Environment) -> str:
    """The script of a copy of Holdfast that is not this one, "" where all run this one."""
    own = os.path.realpath(around.script)
    others = {target.script for target in targets if os.path.realpath(target.script) != own}
    return min(others, default="")


def _find_interpreter_problem(interpreter: str, script: str) -> str:
    """Run the interpreter the way a hook does, and import what the hook imports."""
    if not os.path.exists(interpreter):
        return f"the interpreter {interpreter} does not exist"
    if not os.path.isfile(script):
        return f"{script} does not exist"
    package = script.replace("\\", "/").removesuffix(hook_launcher.SCRIPT_PATH_END)
    try:
        argv = [interpreter, *hook_launcher.PYTHON_FLAGS, "-c", _PROBE, package]
        ended = environment.run_quietly(argv, PROBE_TIMEOUT_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{interpreter} does not start: {error}"
    python = tuple(int(part) for part in ended.stdout.split() if part.isdecimal())
    if python and python < (3, 11):
        shown = ".".join(map(str, python))
        return f"{interpreter} is Python {shown}; 3.11 or later is required"
    if ended.returncode or not python:
        said = ended.stderr.strip().rpartition("\n")[2]
        return f"{interpreter} cannot import Holdfast: {said}"
    return ""


def check_switches(around: environment.Environment) -> list[environment.Finding]:
    """What keeps hooks from running although they are installed."""
    sources = environment.read_settings_sources(around)
    off = install.get().list_disabling_switches(around.environ, sources)
    if not off:
        return [environment.ok("hooks are enabled")]
    by_admin = any(switch.is_managed for switch in off)
    next_step = "Ask your administrator to allow it" if by_admin else "Remove that setting"
    first, *others = (switch.text for switch in off)
    seen = f"hooks are disabled: {first}"
    return [environment.fail(seen, next_step, tuple(others))]


def describe_hook_problem(around: environment.Environment) -> str:
    """One line for other commands, from reading alone; "" when nothing is wrong."""
    _, by_source, by_plugin = read_installed_hooks(around)
    found = [entry for entries in by_source.values() for entry in entries]
    if not found:
        return "" if by_plugin else "The hooks are not installed: run `holdfast install`."
    targets = _find_targets(found)
    for argv, target in targets.items():
        for path in target or argv[:1]:
            if not os.path.exists(path):
                return (
                    f"The hooks point to {path}, which does not exist: run `holdfast doctor --fix`."
                )
    missing = _list_missing_events(found)
    if missing and not by_plugin:
        return f"The hooks lack {missing}: `holdfast install`."
    other = _find_other_copy(filter(None, targets.values()), around)
    return f"The hooks run another copy, {other}: see `holdfast doctor`." if other else ""


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
    conflict: str

    @property
    def shown(self) -> str:
        command = truncate(" ".join(self.hook.command.split()), MAX_COMMAND_CHARS)
        clash = f": {self.conflict}" if self.conflict else ""
        return f"{self.hook.event} ({self.origin}) {command}{clash}"


def check_other_hooks(around: environment.Environment) -> list[environment.Finding]:
    other_hooks = sorted(_list_other_hooks(around), key=lambda n: not n.conflict)
    details = tuple(n.shown for n in other_hooks[:MAX_HOOKS_SHOWN])
    clashing = [n for n in other_hooks if n.conflict]
    if clashing:
        seen = f"another tool's hook at {clashing[0].hook.event} {clashing[0].conflict}"
        next_step = "Holdfast's hooks still work, but this one may block compaction: check it"
        return [environment.warn(seen, next_step, details)]
    if other_hooks:
        seen = f"{len(other_hooks)} other hooks, no known conflicts"
        return [environment.ok(seen, details=details)]
    return [environment.ok("no other hooks on the same events")]


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


def read_scripts(hook: ForeignHook, around: environment.Environment) -> str:
    """The text of the scripts that a command names, as far as they are small files."""
    try:
        words = shlex.split(hook.command)
    except ValueError:
        return ""
    texts = []
    for word in words:
        path = Template(word).safe_substitute(CLAUDE_PROJECT_DIR=around.project, HOME=around.home)
        path = around.home + path[1:] if path.startswith("~/") else path
        if not path.endswith((".sh", ".py", ".js", ".mjs", ".cjs", ".ts", ".bash", ".zsh")):
            continue
        script = read(os.path.join(around.project, path), most=MAX_SCRIPT_BYTES)
        texts.append((script or b"").decode("utf-8", "replace"))
    return "\n".join(texts)


def _list_other_hooks(around: environment.Environment) -> Iterator[OtherHook]:
    installer, sources = install.get(), environment.read_settings_sources(around)
    others = [one for one in environment.list_enabled_plugins(around) if not one.is_ours]
    texts = [(f"{source.scope} settings", source.text) for source in sources if source.usable]
    texts += [(f"plugin {one.name}", one.hooks) for one in others]
    for origin, text in texts:
        for hook in installer.list_foreign_hooks(text):
            yield OtherHook(origin, hook, find_conflict(hook, read_scripts(hook, around)))


MAX_BYTES = 64 * 1024
_VERSION = re.compile(rb"^__version__ = [\"']([^\"']{1,40})[\"']", re.M)
_NUMBERS = re.compile(r"\d{1,9}")


def check_versions(around: environment.Environment) -> list[environment.Finding]:
    running = holdfast.__version__
    details = [f"this command: {running}"]
    problems = []
    for where, version in _list_hook_versions(around):
        details.append(f"{where}: {version or 'unknown'}")
        if version and version != running:
            problems.append(_describe_hooks(where, version, running))
    wrote = read_written_by(store_path(around.data))
    if wrote:
        details.append(f"the database was last written by {wrote}")
    if wrote and is_older(running, wrote):
        problems.append(
            (
                f"a newer Holdfast, {wrote}, has written the database; this is {running}",
                f"Upgrade to {wrote} or later: what only the newer one knows is not shown here",
            )
        )
    if not problems:
        return [environment.ok(f"Holdfast {running}", details=details)]
    return [environment.warn(seen, do, details) for seen, do in problems]


def _list_hook_versions(around: environment.Environment) -> list[tuple[str, str]]:
    """Each copy that hooks run, by whose entries, and its version."""
    _, by_source, by_plugin = read_installed_hooks(around)
    found: dict[str, str] = {}
    for source, entries in by_source.items():
        wrote = receipts.read_install_version(around.data, source.path)
        by = f" (installed by {wrote})" if wrote else ""
        for entry in entries:
            target = hook_launcher.find_target(entry.argv)
            if target is not None:
                version = read_package_version(os.path.dirname(os.path.dirname(target.script)))
                found[f"the hooks in the {source.scope} settings{by}"] = version
    for plugin in by_plugin:
        manifest = read(os.path.join(plugin.folder, ".claude-plugin/plugin.json"), most=MAX_BYTES)
        with suppress(ValueError, KeyError, TypeError):
            version = str(json.loads(manifest or b"")["version"])
            found[f"the hooks of the plugin {plugin.name}"] = version
    return list(found.items())


def _describe_hooks(where: str, version: str, running: str) -> tuple[str, str]:
    if "plugin" in where:
        do = "Update the older of the two: `/plugin` in Claude Code, or the package"
    elif is_older(version, running):
        do = f"`holdfast install` makes them run {running}"
    else:
        do = f"Upgrade this command, or go back to {running} for the hooks: `holdfast install`"
    age = "an older" if is_older(version, running) else "a newer"
    return f"{where} run {age} Holdfast, {version}; this command is {running}", do


def read_package_version(folder: str) -> str:
    """The version of the package in this folder, "" where its file does not say."""
    said = _VERSION.search(read(os.path.join(folder, "__init__.py"), most=MAX_BYTES) or b"")
    return said[1].decode("utf-8", "replace") if said else ""


def is_older(one: str, other: str) -> bool:
    """By their numbers; what is not a number says nothing."""
    first, second = ([int(n) for n in _NUMBERS.findall(version)] for version in (one, other))
    return first < second
