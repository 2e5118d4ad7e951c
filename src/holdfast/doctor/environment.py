"""What the checks look at, read once and handed to all, and what each of them answers.

Asks the client where its files are. Must not judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


# What a check found: how bad, in plain words, and what to do next.

OK = "ok"
WARN = "warn"
FAIL = "fail"
LEVELS = (OK, WARN, FAIL)


class Finding(NamedTuple):
    check: str
    level: str
    message: str
    next_step: str = ""
    details: tuple[str, ...] = ()
    # The repair that `holdfast doctor --fix` has for it: see `checks.REPAIRS`.
    repair: str = ""


def worst_level(findings: Iterable[Finding]) -> str:
    return max((finding.level for finding in findings), key=LEVELS.index, default=OK)
