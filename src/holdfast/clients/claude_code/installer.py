"""Installing into Claude Code: the module behind the client's `Installer`.

The code is in `install`, module by module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.clients.claude_code.install.claude_md import (
    list_instructions_files,
    put_instructions,
    remove_instructions,
)
from holdfast.clients.claude_code.install.hook_table import (
    CLAUDE_CODE_HOOKS,
    HOOKS,
    settings_path,
)
from holdfast.clients.claude_code.install.installed import (
    is_current,
    list_disabling_switches,
    list_enabled_plugins,
    list_limits,
    list_untrusted,
    read_auto_compact,
    read_plugin_hooks,
    read_settings_sources,
)
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings import hook_entries, settings_file
from holdfast.clients.hook_settings.hook_entries import (
    parse_entries,
    read_hook_flags,
    read_setting,
)
from holdfast.clients.hook_settings.install_receipt import read_install_version
from holdfast.clients.hook_settings.settings_file import (
    decode_settings,
    read_installed,
    uninstall,
)
from holdfast.clients.installation import ForeignHook, HookEntry, InstallOutcome, SettingsError

HAS_TRIAL = True
NEXT_STEPS = ("Claude Code picks them up without a restart: open a session and work as usual.",)

__all__ = [
    "HAS_TRIAL",
    "HOOKS",
    "NEXT_STEPS",
    "begin_uninstall",
    "build_direct_entries",
    "decode_settings",
    "finish_install",
    "install",
    "is_current",
    "list_disabling_switches",
    "list_enabled_plugins",
    "list_foreign_hooks",
    "list_instructions_files",
    "list_limits",
    "list_silent",
    "list_untrusted",
    "parse_entries",
    "put_instructions",
    "read_auto_compact",
    "read_hook_flags",
    "read_install_version",
    "read_installed",
    "read_plugin_hooks",
    "read_setting",
    "read_settings_sources",
    "remove_instructions",
    "settings_path",
    "uninstall",
]


def install(
    path: str,
    *,
    data_dir: str,
    interpreter: str,
    script: str,
    dry_run: bool = False,
    statusline: bool = False,
) -> InstallOutcome:
    return settings_file.install(
        path,
        CLAUDE_CODE_HOOKS,
        data_dir=data_dir,
        interpreter=interpreter,
        script=script,
        dry_run=dry_run,
        statusline=statusline,
    )


def finish_install(
    path: str,
    *,
    environ: Mapping[str, str],
    home: str,
    project: str,
    data_dir: str,
    launcher: Launcher,
    recall: Sequence[str],
    trust: bool,
    dry_run: bool,
) -> list[str]:
    if trust:
        raise SettingsError("Claude Code runs a user's hooks without --trust")
    return []


def begin_uninstall(
    path: str, *, environ: Mapping[str, str], home: str, data_dir: str, dry_run: bool
) -> list[str]:
    return []


def build_direct_entries(interpreter: str, script: str) -> list[HookEntry]:
    return hook_entries.build_direct_entries(HOOKS, interpreter, script)


def list_foreign_hooks(settings_text: str) -> list[ForeignHook]:
    return hook_entries.list_foreign_hooks(settings_text, HOOKS)


def list_silent(data_dir: str) -> list[str]:
    """Not told: each hook is a process of its own."""
    return []
