"""What the checks look at: folders, environment, settings files. Read once, handed to all.

Owns where Claude Code's settings files are, the administrator's included. Must not judge.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.clients.claude_code.client_paths import client_config_dir
from holdfast.clients.claude_code.install import hook_entries, settings_file
from holdfast.clients.claude_code.install.hook_entries import SettingsError, parse_root
from holdfast.clients.claude_code.install.settings_file import Scope
from holdfast.settings import atomic_file

SCOPES: tuple[Scope, ...] = ("user", "project", "local")

_MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": "C:\\Program Files\\ClaudeCode",
}
_MANAGED_ELSEWHERE = "/etc/claude-code"


class Environment(NamedTuple):
    environ: Mapping[str, str]
    home: str
    project: str
    data: str  # Holdfast's own folder
    interpreter: str  # what an install would write now
    script: str
    seconds: float  # the clock, read once
    managed: str = ""  # the administrator's folder; "" for this system's own

    @property
    def config(self) -> str:
        return client_config_dir(self.home, self.environ.get("CLAUDE_CONFIG_DIR", ""))


class SettingsSource(NamedTuple):
    """One settings file. `problem` says why its text could not be read."""

    scope: str  # "user" | "project" | "local" | "managed"
    path: str
    text: str = ""
    problem: str = ""

    @property
    def usable(self) -> bool:
        return bool(self.text) and not self.problem


def read_settings_sources(around: Environment) -> list[SettingsSource]:
    """The settings files of every scope, in the order in which a later one wins."""
    configured = around.environ.get("CLAUDE_CONFIG_DIR") or None
    places: list[tuple[str, str]] = [
        (scope, settings_file.settings_path(scope, around.home, configured, around.project))
        for scope in SCOPES
    ]
    places += [("managed", path) for path in _managed_files(around.managed)]
    # A project in the home folder has the user's file for its own.
    first = {os.path.realpath(path): (scope, path) for scope, path in reversed(places)}
    kept = sorted(first.values(), key=places.index)
    return [_source(scope, path) for scope, path in kept]


def _source(scope: str, path: str) -> SettingsSource:
    try:
        text = settings_file.decode_settings(atomic_file.read(os.path.realpath(path)))
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


# The plugins that the client has installed and enabled, and the hooks they bring.
#
# Owns the client's list of plugins and the shape of a plugin's hook file. Ours is one of them.

OWN_PLUGIN_NAME = "holdfast"
ROOT_VARIABLE = "${CLAUDE_PLUGIN_ROOT}"


class Plugin(NamedTuple):
    name: str  # "name@marketplace"
    folder: str

    @property
    def is_ours(self) -> bool:
        return self.name.partition("@")[0] == OWN_PLUGIN_NAME


def list_enabled_plugins(around: Environment) -> list[Plugin]:
    switched: dict[str, object] = {}
    for source in read_settings_sources(around):
        if source.usable:
            node = hook_entries.parse_root(source.text).get("enabledPlugins")
            value = None if node is None else node.value(source.text)
            switched |= value if isinstance(value, dict) else {}
    return [plugin for plugin in _installed(around.config) if switched.get(plugin.name, True)]


def read_hooks(plugin: Plugin) -> str:
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
                yield Plugin(str(name), folder)


def _json(path: str) -> object:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None
