"""Installing into the clients that differ from Claude Code in names alone: Qwen Code, whose
settings.json takes hooks, and GitHub Copilot CLI, which reads a file of hooks of our own.

In Copilot's file events are written as Claude Code writes them: the client then gives hooks the
fields that they have there (seen on 1.0.102).
"""

import os

from holdfast import clients
from holdfast.install.installation import HookSpec
from holdfast.install.installer import Installer

_EVENTS = "SessionStart UserPromptSubmit PostToolUse PreCompact Stop SessionEnd"
_HOOKS = tuple(map(HookSpec, _EVENTS.split()))


class QwenInstaller(Installer):
    client = clients.get("qwen")
    hooks = _HOOKS
    next_steps = (
        "Qwen Code reads its hooks when it is started the next time.",
        "For recall from within a session: qwen mcp add holdfast holdfast dev mcp",
    )
    project_folder = ".qwen"
    off_switch = "disableAllHooks"


class CopilotInstaller(Installer):
    client = clients.get("copilot")
    hooks = _HOOKS
    next_steps = (
        "GitHub Copilot CLI reads its hooks when it is started the next time.",
        "For recall from within a session, add `holdfast dev mcp` with /mcp add.",
    )
    scopes = ("user",)
    settings_name = os.path.join("hooks", "holdfast.json")


QWEN = QwenInstaller()
COPILOT = CopilotInstaller()
