"""What the checks look at, read once and handed to all, and what each of them answers.

Asks the client where its files are. Must not judge.
"""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from holdfast import clients, install
from holdfast.install.installation import Plugin, Scope, SettingsSource
from holdfast.records import NamedTuple

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
    return install.get().read_settings_sources(
        around.environ, around.home, around.project, around.managed
    )


def list_enabled_plugins(around: Environment) -> list[Plugin]:
    return install.get().list_enabled_plugins(around.config, read_settings_sources(around))


OK = "ok"
WARN = "warn"
FAIL = "fail"
LEVELS = (OK, WARN, FAIL)


class Finding(NamedTuple):
    check: str  # filled in by the table of checks, which names them
    level: str
    message: str
    next_step: str = ""
    details: tuple[str, ...] = ()
    # The repair that `holdfast doctor --fix` has for it: see `checks.REPAIRS`.
    repair: str = ""


def _find(
    level: str, message: str, next_step: str = "", details: Sequence[str] = (), repair: str = ""
) -> Finding:
    return Finding("", level, message, next_step, tuple(details), repair)


ok, warn, fail = (partial(_find, level) for level in LEVELS)


def run_quietly(
    argv: Sequence[str], seconds: float, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A program that is asked one question: without a terminal, and not for long."""
    return subprocess.run(
        argv,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )


def worst_level(findings: Iterable[Finding]) -> str:
    return max((finding.level for finding in findings), key=LEVELS.index, default=OK)
