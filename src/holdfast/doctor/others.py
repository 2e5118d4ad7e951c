"""Other tools' hooks on the moments that we use, and which of them get in the way.

Owns the names of tools known to clash and the signs of it in a script. Reads, never runs.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.clients.claude_code import settings
from holdfast.clients.claude_code.settings import ForeignHook
from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.doctor.plugins import enabled_plugins, hooks_text
from holdfast.doctor.surroundings import Surroundings, settings_sources
from holdfast.files import read

CHECK = "other tools"
SHOWN = 12
WORDS = 100
SCRIPT_BYTES = 200_000

_COMPACTION = ("PreCompact", "PostCompact")
# Seen to block or cancel compaction.
_BLOCKING = ("context-forge", "contextforge", "mempalace")
_BLOCKS = re.compile(
    r"(?:^|[\s;&|({])(?:exit\s+2\b|sys\.exit\(\s*2\s*\)|process\.exit\(\s*2\s*\))"
    r"|[\"']?decision[\"']?\s*[:=]\s*[\"']block",
    re.MULTILINE,
)


class Neighbour(NamedTuple):
    """Another tool's hook, and where it comes from."""

    origin: str
    hook: ForeignHook
    clash: str = ""

    @property
    def shown(self) -> str:
        command = " ".join(self.hook.command.split())
        command = command if len(command) <= WORDS else command[: WORDS - 1] + "…"
        clash = f": {self.clash}" if self.clash else ""
        return f"{self.hook.event} ({self.origin}) {command}{clash}"


def check_others(around: Surroundings) -> list[Finding]:
    found = [
        neighbour._replace(clash=clash_of(neighbour.hook, script_of(neighbour.hook, around)))
        for neighbour in _neighbours(around)
    ]
    return [judge(found)]


def judge(found: Iterable[Neighbour]) -> Finding:
    """Pure: which of these the user should know about."""
    neighbours = sorted(found, key=lambda n: not n.clash)
    details = tuple(n.shown for n in neighbours[:SHOWN])
    clashing = [n for n in neighbours if n.clash]
    if clashing:
        seen = f"another tool's hook at {clashing[0].hook.event} {clashing[0].clash}"
        next_step = "Ours work beside it, but a compaction may not happen: look at it"
        return Finding(CHECK, WARN, seen, next_step, details)
    if neighbours:
        return Finding(
            CHECK, OK, f"{len(neighbours)} hooks beside ours, no clash known", details=details
        )
    return Finding(CHECK, OK, "no other hooks on our moments")


def clash_of(hook: ForeignHook, script: str) -> str:
    """Pure: why this hook gets in the way, "" where nothing says so."""
    if hook.event not in _COMPACTION:
        return ""
    if any(name in hook.command.lower() for name in _BLOCKING):
        return "is of a tool known to block compaction"
    words = f"{hook.command}\n{script}"
    if hook.event == "PreCompact" and _BLOCKS.search(words):
        return "can block compaction, as it reads"
    if "hookSpecificOutput" in words and hook.event in words:
        return "prints hookSpecificOutput, which the client refuses there"
    return ""


def script_of(hook: ForeignHook, around: Surroundings) -> str:
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
        script = read(os.path.join(around.project, path), most=SCRIPT_BYTES)
        texts.append((script or b"").decode("utf-8", "replace"))
    return "\n".join(texts)


def _neighbours(around: Surroundings) -> Iterator[Neighbour]:
    for source in settings_sources(around):
        if source.usable:
            for hook in settings.foreign(source.text):
                yield Neighbour(f"{source.scope} settings", hook)
    for plugin in enabled_plugins(around):
        if not plugin.is_ours:
            for hook in settings.foreign(hooks_text(plugin)):
                yield Neighbour(f"plugin {plugin.name}", hook)
