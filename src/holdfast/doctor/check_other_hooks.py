"""Other tools' hooks on the events that we use, and which of them get in the way.

Owns the names of tools known to clash and the signs of it in a script. Reads, never runs.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast import clients
from holdfast.clients.installation import ForeignHook
from holdfast.doctor.environment import Environment, list_enabled_plugins, read_settings_sources
from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.files import read

CHECK = "other tools"
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
        return Finding(CHECK, WARN, seen, next_step, details)
    if other_hooks:
        return Finding(
            CHECK, OK, f"{len(other_hooks)} other hooks, no known conflicts", details=details
        )
    return Finding(CHECK, OK, "no other hooks on the same events")


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
