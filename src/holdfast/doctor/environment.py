"""What the checks look at: folders, environment, settings files. Read once, handed to all.

Owns where Claude Code's settings files are, the administrator's included. Must not judge.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.clients.claude_code.client_paths import client_config_dir
from holdfast.clients.claude_code.install import settings_file
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
