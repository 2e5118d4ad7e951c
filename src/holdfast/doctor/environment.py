"""What the checks look at: folders, environment, settings files. Read once, handed to all.

Asks the client where its files are. Must not judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from holdfast import clients
from holdfast.clients.installation import Plugin, Scope, SettingsSource

SCOPES: tuple[Scope, ...] = ("user", "project", "local")


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
        return clients.default().paths.config_dir(self.environ, self.home)


def read_settings_sources(around: Environment) -> list[SettingsSource]:
    """The settings files of every scope, in the order in which a later one wins."""
    return clients.default().installer.read_settings_sources(
        around.environ, around.home, around.project, around.managed
    )


def list_enabled_plugins(around: Environment) -> list[Plugin]:
    return clients.default().installer.list_enabled_plugins(
        around.config, read_settings_sources(around)
    )
