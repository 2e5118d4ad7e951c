"""Which hooks Codex gets, and what an entry in its hooks.json looks like.

The client reads a file of the same form as Claude Code's settings, with `description` and `hooks`
at its top and no comments, and gives each command to a shell. It trusts a hook by its place in the
file and a checksum of its entry: ours go behind all others, and name nothing that changes with a
version. Must not open a file.
"""

from __future__ import annotations

import shlex
from typing import Any

from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings.hook_entries import HookTable
from holdfast.clients.installation import HookSpec

PREFIX = "codex:"
# SessionEnd is cut to 3 seconds; whoever asks for more is warned of at every start. What a hook
# prints that nobody waits for is lost where the turn ends first, so PostToolUse, which may deliver,
# is waited for: it leaves its work to a process of its own.
HOOKS = (
    HookSpec("SessionStart", None, run_async=False, timeout_seconds=10),
    HookSpec("UserPromptSubmit", None, run_async=False, timeout_seconds=10),
    HookSpec("PostToolUse", None, run_async=False, timeout_seconds=10),
    HookSpec("Stop", None, run_async=True, timeout_seconds=60),
    HookSpec("PreCompact", None, run_async=False, timeout_seconds=10),
    HookSpec("PostCompact", None, run_async=False, timeout_seconds=10),
    HookSpec("SessionEnd", None, run_async=False, timeout_seconds=3),
)
# What these print reaches the model. Without this the client cuts it at 2,500 tokens.
_UNCUT = frozenset(("SessionStart", "UserPromptSubmit", "PostToolUse"))


def build_entry(spec: HookSpec, launcher: Launcher) -> dict[str, Any]:
    command = shlex.join(launcher.build_argv(PREFIX + spec.event))
    entry: dict[str, Any] = {"type": "command", "command": command}
    if spec.run_async:
        entry["async"] = True
    entry["timeout"] = spec.timeout_seconds
    if spec.event in _UNCUT:
        entry["additionalContextLimit"] = 0
    return entry


CODEX_HOOKS = HookTable(HOOKS, build_entry)
