"""The plugins that the client has installed and enabled, and the hooks they bring.

Owns the client's list of plugins and the shape of a plugin's hook file. Ours is one of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.clients.claude_code.install import hook_entries
from holdfast.doctor.environment import Environment, read_settings_sources

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
