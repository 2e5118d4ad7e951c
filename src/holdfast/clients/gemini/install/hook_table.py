"""Which hooks Gemini CLI gets, and what an entry in the extension's hooks.json looks like.

The form is that of Claude Code's settings, with limits in milliseconds. The client gives each
command to a shell, and blocks the prompt where it ends otherwise than with 0 or 1, 127 for a file
that is gone among them (seen on 0.61): a command looks first. PreCompress is left alone: it comes
before every request, compressed or not. Must not open a file.
"""

from __future__ import annotations

from typing import Any

from holdfast.clients import hook_launcher
from holdfast.clients.gemini.fastpath.subagent_mark import SUBAGENT_TOOL
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings.hook_entries import HookTable
from holdfast.clients.installation import HookSpec

PREFIX = "gemini:"
MILLISECONDS = 1000
# The client waits for each of them; what takes longer goes on beside it.
HOOKS = (
    HookSpec("SessionStart", None, run_async=False, timeout_seconds=10),
    HookSpec("BeforeAgent", None, run_async=False, timeout_seconds=10),
    HookSpec("BeforeModel", None, run_async=False, timeout_seconds=10),
    HookSpec("BeforeTool", f"^{SUBAGENT_TOOL}$", run_async=False, timeout_seconds=10),
    HookSpec("AfterTool", None, run_async=False, timeout_seconds=10),
    HookSpec("AfterAgent", None, run_async=False, timeout_seconds=10),
    HookSpec("SessionEnd", None, run_async=False, timeout_seconds=5),
)


def build_entry(spec: HookSpec, launcher: Launcher) -> dict[str, Any]:
    command = hook_launcher.format_guarded(launcher.build_argv(PREFIX + spec.event))
    return {
        "type": "command",
        "name": "holdfast",
        "command": command,
        "timeout": spec.timeout_seconds * MILLISECONDS,
    }


GEMINI_HOOKS = HookTable(HOOKS, build_entry)
