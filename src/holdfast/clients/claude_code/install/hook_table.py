"""Which hooks Claude Code gets, what an entry in its settings looks like, and where those lie.

Must not open a file.
"""

import os
from collections.abc import Mapping
from typing import Any

from holdfast.clients.claude_code import client_paths
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings.hook_entries import HookTable
from holdfast.clients.installation import HookSpec, Scope

# Synchronous hooks hold up the agent, so their limit is short; they end within a tenth of it.
# The client ends the whole of SessionEnd after 1.5 s unless a settings file asks for more.
HOOKS = (
    HookSpec("SessionStart", None, run_async=False, timeout_seconds=10),
    HookSpec("UserPromptSubmit", None, run_async=False, timeout_seconds=10),
    HookSpec("UserPromptExpansion", None, run_async=False, timeout_seconds=10),
    HookSpec("PostToolBatch", None, run_async=True, timeout_seconds=60),
    HookSpec("Stop", None, run_async=True, timeout_seconds=60),
    # Brings the summary of a compaction before SessionStart asks for the brief, so it is waited
    # for. After an ordinary subagent the work goes on detached.
    HookSpec("SubagentStop", None, run_async=False, timeout_seconds=10),
    HookSpec("PreCompact", None, run_async=False, timeout_seconds=10),
    HookSpec("PostCompact", None, run_async=False, timeout_seconds=10),
    HookSpec("SessionEnd", None, run_async=False, timeout_seconds=5),
)


def build_entry(spec: HookSpec, launcher: Launcher) -> dict[str, Any]:
    """Exec form: no shell between the client and the launcher, so nothing to quote."""
    command, *args = launcher.build_argv(spec.event)
    entry: dict[str, Any] = {"type": "command", "command": command, "args": args}
    if spec.run_async:
        entry["async"] = True
    entry["timeout"] = spec.timeout_seconds
    return entry


CLAUDE_CODE_HOOKS = HookTable(HOOKS, build_entry)


def settings_path(scope: Scope, environ: Mapping[str, str], home: str, project: str) -> str:
    """The file of a scope."""
    if scope == "user":
        return os.path.join(client_paths.config_dir(environ, home), "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(project, ".claude", name)
