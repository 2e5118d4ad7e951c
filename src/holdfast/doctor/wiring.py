"""Whether the hooks are in the settings and point at something that runs.

Owns reading our entries, the interpreter behind them, and the switches that turn hooks off.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.clients.claude_code import boot, settings, settings_edit
from holdfast.clients.claude_code.settings import HOOKS
from holdfast.doctor.finding import FAIL, OK, WARN, Finding
from holdfast.doctor.plugins import Plugin, enabled_plugins, hooks_text
from holdfast.doctor.surroundings import SettingsSource, Surroundings, settings_sources

CHECK = "hooks"
SWITCHES = "switches"
INSTALL = "Run `holdfast install`"
REPAIR = "Run `holdfast doctor --fix`, or `holdfast install` with the same scope"
PROBE_SECONDS = 20

# Answers the interpreter's version and, where it can be imported, ours.
_PROBE = """\
import sys
print(*sys.version_info[:2])
import json, sqlite3
sys.path.insert(0, sys.argv[1])
import holdfast
print(holdfast.__version__)"""


class Entry(NamedTuple):
    """One of our entries, as the client would start it."""

    event: str
    argv: tuple[str, ...]
    interpreter: str
    script: str
    timeout: float


class Probed(NamedTuple):
    """What an interpreter said. `version` is of Holdfast, "" where it cannot be imported."""

    python: tuple[int, ...] = ()
    version: str = ""
    trouble: str = ""


def entries(text: str) -> list[Entry]:
    found = []
    for place in settings.places(text):
        script = settings.script_in(place.value)
        if script is None:
            continue
        command = str(place.value.get("command", ""))
        argv = (command, *(str(arg) for arg in place.value["args"]))
        limit = place.value.get("timeout")
        seconds = float(limit) if isinstance(limit, int | float) else 60.0
        found.append(Entry(place.event, argv, command, script, seconds))
    return found


def plugin_entries(around: Surroundings) -> dict[Plugin, list[Entry]]:
    """The hooks of our own plugin, where the client has it: they start through its launcher."""
    found: dict[Plugin, list[Entry]] = {}
    for plugin in enabled_plugins(around):
        if plugin.is_ours:
            hooks = settings.foreign(hooks_text(plugin))
            launcher = os.path.join(plugin.folder, "bin", "holdfast")
            found[plugin] = [
                Entry(
                    hook.event, ("/bin/sh", launcher, "hook", hook.event), "/bin/sh", launcher, 60.0
                )
                for hook in hooks
            ]
    return found


def own_entries(around: Surroundings) -> list[Entry]:
    """What an install would write now."""
    return [
        Entry(
            spec.event,
            (around.interpreter, *boot.arguments(around.script, spec.event)),
            around.interpreter,
            around.script,
            float(spec.timeout),
        )
        for spec in HOOKS
    ]


def check_wiring(around: Surroundings) -> list[Finding]:
    sources = settings_sources(around)
    findings = [broken(source) for source in sources if source.problem]
    wired = {source: entries(source.text) for source in sources if source.usable}
    findings += [_scope(around, source, found) for source, found in wired.items() if found]
    by_plugin = plugin_entries(around)
    findings += [_plugin(plugin, found) for plugin, found in by_plugin.items()]
    if not any(wired.values()) and not by_plugin:
        findings.append(Finding(CHECK, FAIL, "Holdfast's hooks are not installed", INSTALL))
    holding = [source for source, found in wired.items() if found]
    if len(holding) > 1 and len({wired[source][0].argv[:-1] for source in holding}) > 1:
        scopes = " and ".join(source.scope for source in holding)
        findings.append(
            Finding(
                CHECK,
                WARN,
                f"two different copies of the hooks run, from the {scopes} settings",
                "Nothing is delivered twice, but one is enough: `holdfast uninstall --scope ...`",
            )
        )
    return findings


def _plugin(plugin: Plugin, found: Sequence[Entry]) -> Finding:
    gone = [entry.script for entry in found if not os.path.isfile(entry.script)]
    if gone or not found:
        what = f"{gone[0]} is gone" if gone else "it brings no hooks"
        next_step = "Install the plugin again: `/plugin` in Claude Code"
        return Finding(CHECK, FAIL, f"the plugin {plugin.name} cannot run: {what}", next_step)
    return Finding(CHECK, OK, f"{len(found)} hooks by the plugin {plugin.name}, {plugin.folder}")


def broken(source: SettingsSource) -> Finding:
    # Of a file that is not strict JSON the client reads nothing at all.
    where = "" if source.path in source.problem else f"{source.path}: "
    seen = f"the {source.scope} settings cannot be read: {where}{source.problem}"
    return Finding(CHECK, FAIL, seen, "Correct the file there")


def _scope(around: Surroundings, source: SettingsSource, found: Sequence[Entry]) -> Finding:
    where = f"{source.scope} settings, {source.path}"
    programs = dict.fromkeys((entry.interpreter, entry.script) for entry in found)
    probes = {program: probe(*program) for program in programs}
    details = tuple(
        f"{interpreter} runs {script}" + (f" (Holdfast {said.version})" if said.version else "")
        for (interpreter, script), said in probes.items()
    )
    troubles = [said.trouble for said in probes.values() if said.trouble]
    if troubles:
        return Finding(
            CHECK,
            FAIL,
            f"the hooks in the {where} cannot run: {troubles[0]}",
            REPAIR,
            details,
            f"install:{source.scope}",
        )
    stale = what_is_stale(source.text, found, around)
    if stale:
        return Finding(
            CHECK,
            WARN,
            f"the hooks in the {where} {stale}",
            REPAIR,
            details,
            f"install:{source.scope}",
        )
    return Finding(CHECK, OK, f"{len(found)} hooks in the {where}", details=details)


def what_is_stale(text: str, found: Sequence[Entry], around: Surroundings) -> str:
    """Pure: why an install would change these entries, "" where it would not."""
    missing = {spec.event for spec in HOOKS} - {entry.event for entry in found}
    if missing:
        return f"lack {', '.join(sorted(missing))}"
    others = {entry.script for entry in found if not _same(entry.script, around.script)}
    if others:
        return f"run another copy of Holdfast, {sorted(others)[0]}, not this one, {around.script}"
    # An interpreter that runs is as good as ours; what an older version wrote around it is not.
    edit = settings_edit.with_hooks(text, found[0].interpreter, found[0].script)
    return "" if edit.text == text else "are of an older form"


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def probe(interpreter: str, script: str) -> Probed:
    """Run the interpreter the way a hook does, and import what the hook imports."""
    if not os.path.exists(interpreter):
        return Probed(trouble=f"the interpreter {interpreter} is gone")
    if not os.path.isfile(script):
        return Probed(trouble=f"{script} is gone")
    package = script.replace("\\", "/").removesuffix(boot.TAIL)
    try:
        ended = subprocess.run(
            [interpreter, *boot.FLAGS, "-c", _PROBE, package],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Probed(trouble=f"{interpreter} does not start: {error}")
    lines = ended.stdout.split("\n")
    python = tuple(int(part) for part in lines[0].split() if part.isdecimal())
    if python and python < (3, 11):
        shown = ".".join(map(str, python))
        return Probed(python, trouble=f"{interpreter} is Python {shown}; 3.11 is needed")
    if ended.returncode or len(lines) < 2 or not python:
        said = ended.stderr.strip().rpartition("\n")[2]
        return Probed(python, trouble=f"{interpreter} cannot import Holdfast: {said}")
    return Probed(python, lines[1])


def check_switches(around: Surroundings) -> list[Finding]:
    """What keeps hooks from running although they are installed."""
    off = []
    for source in settings_sources(around):
        if not source.usable:
            continue
        flags = settings.flags(source.text)
        if flags.disable_all_hooks:
            off.append(f'"disableAllHooks" is on in {source.path}')
        if flags.allow_managed_hooks_only and source.scope == "managed":
            off.append(f'"allowManagedHooksOnly" is on in {source.path}')
    if around.environ.get("CLAUDE_CODE_SIMPLE"):
        off.append("CLAUDE_CODE_SIMPLE is set in this shell: a client started here runs no hooks")
    if not off:
        return [Finding(SWITCHES, OK, "nothing turns hooks off")]
    by_admin = any("allowManagedHooksOnly" in words for words in off)
    next_step = "Ask your administrator to allow it" if by_admin else "Take that out; see above"
    return [Finding(SWITCHES, FAIL, f"no hook runs: {off[0]}", next_step, tuple(off[1:]))]


def hint(around: Surroundings) -> str:
    """One line for other commands, from reading alone; "" when nothing is wrong."""
    found = [e for s in settings_sources(around) if s.usable for e in entries(s.text)]
    if not found and plugin_entries(around):
        return ""
    if not found:
        return "The hooks are not installed: `holdfast install`."
    for entry in found:
        for path in (entry.interpreter, entry.script):
            if not os.path.exists(path):
                return f"The hooks point at {path}, which is gone: `holdfast doctor --fix`."
    missing = {spec.event for spec in HOOKS} - {entry.event for entry in found}
    if missing and not plugin_entries(around):
        return f"The hooks lack {', '.join(sorted(missing))}: `holdfast install`."
    others = {entry.script for entry in found if not _same(entry.script, around.script)}
    if others:
        return f"The hooks run another copy, {sorted(others)[0]}: `holdfast doctor` tells more."
    return ""


def setting(source: SettingsSource, name: str) -> Any:
    """A top-level value of a settings file."""
    node = settings.root_of(source.text).get(name)
    return None if node is None else node.value(source.text)


def environment_in(source: SettingsSource) -> Mapping[str, Any]:
    value = setting(source, "env")
    return value if isinstance(value, dict) else {}
