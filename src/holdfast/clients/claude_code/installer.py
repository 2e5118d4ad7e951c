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
from holdfast.clients.claude_code.install.hook_entries import (
    HOOKS,
    build_direct_entries,
    list_foreign_hooks,
    parse_entries,
    read_hook_flags,
    read_setting,
)
from holdfast.clients.claude_code.install.install_receipt import read_install_version
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
from holdfast.clients.claude_code.install.settings_file import (
    decode_settings,
    install,
    read_installed,
    settings_path,
    uninstall,
)
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.installation import SettingsError

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


def list_silent(data_dir: str) -> list[str]:
    """Not told: each hook is a process of its own."""
    return []
