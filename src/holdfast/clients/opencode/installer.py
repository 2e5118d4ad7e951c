"""Installing into OpenCode, for whoever asks the client for its `Installer`.

One file in the folder from which the client loads plugins. The client has no hooks in settings, no
status line of others and nothing to be trusted; those questions have plain answers here. Its own
configuration is never written: recall is added by the plugin while the client reads it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.clients import hook_launcher
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings import hook_entries
from holdfast.clients.hook_settings.install_receipt import read_install_version
from holdfast.clients.hook_settings.settings_file import read_installed
from holdfast.clients.installation import (
    AutoCompact,
    DisablingSwitch,
    ForeignHook,
    HookEntry,
    HookFlags,
    HookSpec,
    InstallOutcome,
    Plugin,
    Scope,
    SettingsError,
    SettingsSource,
)
from holdfast.clients.opencode import client_paths
from holdfast.clients.opencode.fastpath import heartbeat
from holdfast.clients.opencode.install import plugin_file
from holdfast.settings import atomic_file

HAS_TRIAL = False
NEXT_STEPS = (
    "OpenCode loads the plugin when it is started the next time; `holdfast doctor` tells which of "
    "its hooks have run.",
)
PREFIX = "opencode:"
# What the plugin calls us for, and how long it lets us work.
HOOKS = (
    HookSpec("SessionStart", None, run_async=False, timeout_seconds=12),
    HookSpec("UserPromptSubmit", None, run_async=False, timeout_seconds=12),
    HookSpec("Stop", None, run_async=True, timeout_seconds=60),
    HookSpec("PreCompact", None, run_async=False, timeout_seconds=12),
    HookSpec("PostCompact", None, run_async=True, timeout_seconds=12),
)
_EVENTS = tuple(spec.event for spec in HOOKS)

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


def settings_path(scope: Scope, environ: Mapping[str, str], home: str, project: str) -> str:
    """The plugin's file. The client has no folder of a project that is yours alone."""
    if scope == "local":
        raise SettingsError(
            "OpenCode has no plugins of a project for you alone; use --scope user or project"
        )
    config = client_paths.config_dir(environ, home)
    folder = config if scope == "user" else os.path.join(project, ".opencode")
    return os.path.join(folder, "plugins", plugin_file.NAME)


def install(
    path: str,
    *,
    data_dir: str,
    interpreter: str,
    script: str,
    dry_run: bool = False,
    statusline: bool = False,
) -> InstallOutcome:
    if statusline:
        raise SettingsError("OpenCode has no status line that a command could write")
    launcher = hook_launcher.build_launcher(data_dir, interpreter, script)
    return plugin_file.install(path, launcher, data_dir=data_dir, events=_EVENTS, dry_run=dry_run)


def uninstall(
    path: str, *, data_dir: str, dry_run: bool = False, statusline_only: bool = False
) -> InstallOutcome:
    if statusline_only:
        raise SettingsError("OpenCode has no status line that a command could write")
    return plugin_file.uninstall(path, data_dir=data_dir, events=_EVENTS, dry_run=dry_run)


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
    """Tells the plugin which server to add for recall, where there is none of that name."""
    if not recall or plugin_file.read_recall(_read(path)) == list(recall):
        return []
    server = " ".join(recall)
    if dry_run:
        return [f"The plugin would add recall from within a session: {server}"]
    plugin_file.set_recall(path, recall, data_dir)
    return [f"The plugin adds recall from within a session: {server}"]


def begin_uninstall(
    path: str, *, environ: Mapping[str, str], home: str, data_dir: str, dry_run: bool
) -> list[str]:
    return []


def _read(path: str) -> str:
    try:
        return decode_settings(atomic_file.read(os.path.realpath(path)))
    except OSError:
        return ""


def decode_settings(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")


def read_settings_sources(
    environ: Mapping[str, str], home: str, project: str, managed: str = ""
) -> list[SettingsSource]:
    scopes: tuple[Scope, ...] = ("user", "project")
    places = {settings_path(scope, environ, home, project): scope for scope in reversed(scopes)}
    found = []
    for path, scope in reversed(places.items()):
        try:
            text = decode_settings(atomic_file.read(os.path.realpath(path)))
            found.append(SettingsSource(scope, path, text))
        except OSError as error:
            found.append(SettingsSource(scope, path, problem=error.strerror or str(error)))
    return found


def read_setting(settings_text: str, name: str) -> Any:
    return None


def parse_entries(settings_text: str) -> list[HookEntry]:
    command = plugin_file.read_command(settings_text)
    if not command:
        return []
    return [
        HookEntry(spec.event, (*command, PREFIX + spec.event), float(spec.timeout_seconds))
        for spec in HOOKS
    ]


def build_direct_entries(interpreter: str, script: str) -> list[HookEntry]:
    """Our hooks as they run without an install."""
    return hook_entries.build_direct_entries(HOOKS, interpreter, script, PREFIX)


def is_current(settings_text: str, launcher: Launcher) -> bool:
    """Whether an install with this launcher would leave the text as it is."""
    recall = plugin_file.read_recall(settings_text)
    return plugin_file.format_plugin(launcher, recall) == settings_text


def list_foreign_hooks(settings_text: str) -> list[ForeignHook]:
    return []


def read_hook_flags(settings_text: str) -> HookFlags:
    return HookFlags(disable_all_hooks=False, allow_managed_hooks_only=False)


def list_disabling_switches(
    environ: Mapping[str, str], sources: Sequence[SettingsSource]
) -> list[DisablingSwitch]:
    """`opencode --pure` loads no plugins; nothing that lasts turns them off."""
    if environ.get("OPENCODE_PURE"):
        return [DisablingSwitch("OPENCODE_PURE is set: OpenCode loads no plugins")]
    return []


def read_auto_compact(
    environ: Mapping[str, str], home: str, sources: Sequence[SettingsSource]
) -> AutoCompact:
    return AutoCompact()


def list_enabled_plugins(config: str, sources: Sequence[SettingsSource]) -> list[Plugin]:
    return []


def read_plugin_hooks(plugin: Plugin) -> str:
    return ""


def list_untrusted(environ: Mapping[str, str], project: str) -> list[str] | None:
    """The client asks for no trust."""
    return []


def list_silent(data_dir: str) -> list[str] | None:
    """Hooks that the client calls experimental, and may have done away with."""
    told = heartbeat.read_hooks(data_dir)
    if told is None:
        return None
    due = [(heartbeat.REQUESTED, heartbeat.RESTORES), (heartbeat.COMPACTED, heartbeat.STEERS)]
    return [hook for sign, hook in due if sign in told[1] and hook not in told[1]]


def list_limits(environ: Mapping[str, str], project: str) -> list[str]:
    return []


def list_instructions_files(project: str) -> list[str]:
    return [os.path.join(project, "AGENTS.md")]


def put_instructions(content: bytes | None, text: str) -> bytes:
    raise SettingsError("OpenCode does not read a project's instructions when it compacts")


def remove_instructions(content: bytes | None) -> bytes | None:
    return content
