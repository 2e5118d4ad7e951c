"""What is installed in Claude Code: its settings files, the administrator's included, and plugins.

Owns where these files are, the client's list of plugins and the shape of a plugin's hook file.
Must not judge, and must not write.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.clients.claude_code.context_window import (
    MAX_WINDOW_TOKENS,
    build_window_config,
    compaction_point,
    is_on,
)
from holdfast.clients.claude_code.install.hook_table import CLAUDE_CODE_HOOKS, settings_path
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings import hook_edit
from holdfast.clients.hook_settings.hook_entries import (
    parse_root,
    read_hook_flags,
    read_setting,
)
from holdfast.clients.hook_settings.settings_file import decode_settings
from holdfast.clients.installation import (
    AutoCompact,
    DisablingSwitch,
    Plugin,
    Scope,
    SettingsError,
    SettingsSource,
)
from holdfast.settings import atomic_file

SCOPES: tuple[Scope, ...] = ("user", "project", "local")
OWN_PLUGIN_NAME = "holdfast"
ROOT_VARIABLE = "${CLAUDE_PLUGIN_ROOT}"

_MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": "C:\\Program Files\\ClaudeCode",
}
_MANAGED_ELSEWHERE = "/etc/claude-code"
_AUTO_COMPACT_VARIABLES = (
    "DISABLE_COMPACT",
    "DISABLE_AUTO_COMPACT",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
)


def read_settings_sources(
    environ: Mapping[str, str], home: str, project: str, managed: str = ""
) -> list[SettingsSource]:
    """The settings files of every scope, in the order in which a later one wins.

    `managed` is the administrator's folder; "" for this system's own.
    """
    places: list[tuple[str, str]] = [
        (scope, settings_path(scope, environ, home, project)) for scope in SCOPES
    ]
    places += [("managed", path) for path in _managed_files(managed)]
    # A project in the home folder has the user's file for its own.
    first = {os.path.realpath(path): (scope, path) for scope, path in reversed(places)}
    kept = sorted(first.values(), key=places.index)
    return [_source(scope, path) for scope, path in kept]


def _source(scope: str, path: str) -> SettingsSource:
    try:
        text = decode_settings(atomic_file.read(os.path.realpath(path)))
        parse_root(text)
    except SettingsError as error:
        return SettingsSource(scope, path, problem=str(error))
    except OSError as error:
        return SettingsSource(scope, path, problem=error.strerror or str(error))
    return SettingsSource(scope, path, text)


def _managed_files(folder: str) -> list[str]:
    folder = folder or _MANAGED.get(sys.platform, _MANAGED_ELSEWHERE)
    dropped = os.path.join(folder, "managed-settings.d")
    try:
        names = sorted(name for name in os.listdir(dropped) if name.endswith(".json"))
    except OSError:
        names = []
    return [
        os.path.join(folder, "managed-settings.json"),
        *(os.path.join(dropped, name) for name in names),
    ]


def is_current(settings_text: str, launcher: Launcher) -> bool:
    """Whether an install with this launcher would leave the text as it is."""
    return hook_edit.add_hooks(settings_text, launcher, CLAUDE_CODE_HOOKS).text == settings_text


def list_disabling_switches(
    environ: Mapping[str, str], sources: Sequence[SettingsSource]
) -> list[DisablingSwitch]:
    off = []
    for source in sources:
        if not source.usable:
            continue
        flags = read_hook_flags(source.text)
        if flags.disable_all_hooks:
            off.append(DisablingSwitch(f'"disableAllHooks" is on in {source.path}'))
        if flags.allow_managed_hooks_only and source.scope == "managed":
            text = f'"allowManagedHooksOnly" is on in {source.path}'
            off.append(DisablingSwitch(text, is_managed=True))
    if environ.get("CLAUDE_CODE_SIMPLE"):
        text = "CLAUDE_CODE_SIMPLE is set in this shell: clients started here do not run hooks"
        off.append(DisablingSwitch(text))
    return off


def list_untrusted(environ: Mapping[str, str], project: str) -> list[str] | None:
    """The client asks for no trust in hooks of its settings."""
    return []


def list_limits(environ: Mapping[str, str], project: str) -> list[str]:
    return []


def read_auto_compact(
    environ: Mapping[str, str], home: str, sources: Sequence[SettingsSource]
) -> AutoCompact:
    variables: dict[str, str] = {name: environ.get(name, "") for name in _AUTO_COMPACT_VARIABLES}
    options: dict[str, Any] = {"autoCompactEnabled": _read_remembered_switch(environ, home)}
    for source in sources:
        if not source.usable:
            continue
        inside = read_setting(source.text, "env")
        if isinstance(inside, dict):
            variables |= {
                name: str(inside[name]) for name in _AUTO_COMPACT_VARIABLES if name in inside
            }
        for name in ("autoCompactEnabled", "autoCompactWindow"):
            value = read_setting(source.text, name)
            if value is not None:
                options[name] = value
    return build_auto_compact(variables, options)


def build_auto_compact(variables: Mapping[str, str], options: Mapping[str, Any]) -> AutoCompact:
    """Pure: what these values make the client do."""
    if is_on(variables.get("DISABLE_COMPACT", "")):
        return AutoCompact("DISABLE_COMPACT", never=True)
    if is_on(variables.get("DISABLE_AUTO_COMPACT", "")):
        return AutoCompact("DISABLE_AUTO_COMPACT")
    if options.get("autoCompactEnabled") is False:
        return AutoCompact("settings")
    chosen = build_window_config(variables, [options])
    if not chosen.window:
        return AutoCompact(percent=chosen.percent)
    point = compaction_point(chosen, "", seen=MAX_WINDOW_TOKENS)
    return AutoCompact(percent=chosen.percent, point=point)


def _read_remembered_switch(environ: Mapping[str, str], home: str) -> Any:
    """Older clients keep the switch in their own file beside the settings."""
    configured = environ.get("CLAUDE_CONFIG_DIR") or home
    remembered = _json(os.path.join(configured, ".claude.json"))
    return remembered.get("autoCompactEnabled") if isinstance(remembered, dict) else None


def list_enabled_plugins(config: str, sources: Sequence[SettingsSource]) -> list[Plugin]:
    switched: dict[str, object] = {}
    for source in sources:
        if source.usable:
            value = read_setting(source.text, "enabledPlugins")
            switched |= value if isinstance(value, dict) else {}
    return [plugin for plugin in _installed(config) if switched.get(plugin.name, True)]


def read_plugin_hooks(plugin: Plugin) -> str:
    """A plugin's hooks as a settings text, its own folder filled in; "" where it has none."""
    described = _json(os.path.join(plugin.folder, "hooks", "hooks.json"))
    if not isinstance(described, dict) or not isinstance(described.get("hooks"), dict):
        return ""
    return json.dumps({"hooks": _expand_root(described["hooks"], plugin.folder)})


def _expand_root(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace(ROOT_VARIABLE, folder)
    if isinstance(value, list):
        return [_expand_root(item, folder) for item in value]
    if isinstance(value, Mapping):
        return {key: _expand_root(item, folder) for key, item in value.items()}
    return value


def _installed(config: str) -> Iterator[Plugin]:
    listing = _json(os.path.join(config, "plugins", "installed_plugins.json"))
    plugins = listing.get("plugins") if isinstance(listing, dict) else None
    for name, installs in plugins.items() if isinstance(plugins, dict) else ():
        for install in installs if isinstance(installs, list) else [installs]:
            folder = install.get("installPath") if isinstance(install, dict) else None
            if isinstance(folder, str):
                yield Plugin(str(name), folder, str(name).partition("@")[0] == OWN_PLUGIN_NAME)


def _json(path: str) -> object:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None
