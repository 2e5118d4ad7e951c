"""All checks, in the order in which a person would ask."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from holdfast.clients.installation import SettingsError
from holdfast.doctor.check_client import check_autocompact, check_client
from holdfast.doctor.check_history import check_compactions, check_errors, check_sync
from holdfast.doctor.check_hooks import check_hooks, check_other_hooks, check_switches
from holdfast.doctor.check_storage import check_folder, check_leftovers, check_store
from holdfast.doctor.environment import FAIL, OK, WARN, Environment, Finding
from holdfast.doctor.hook_trial import check_trial
from holdfast.session.context import load_settings
from holdfast.settings.loader import DEFAULT
from holdfast.store.protocol import StoreError

SETTINGS_CHECK = "settings"

Check = Callable[[Environment], list[Finding]]


def check_settings(around: Environment) -> list[Finding]:
    """Our own settings: what is wrong in them, and where."""
    chosen = load_settings(around.environ, around.data, around.project)
    if chosen.problems:
        seen = f"{chosen.problems[0]}"
        more = tuple(chosen.problems[1:])
        return [
            Finding(SETTINGS_CHECK, WARN, seen, "Fix it in that file; see `holdfast config`", more)
        ]
    own = sum(value.source != DEFAULT for value in chosen.values.values())
    return [
        Finding(SETTINGS_CHECK, OK, f"{own} of {len(chosen.values)} customised, the rest default")
    ]


CHECKS: dict[str, Check] = {
    "client": check_client,
    "hooks": check_hooks,
    "switches": check_switches,
    "settings": check_settings,
    "trial": check_trial,
    "data folder": check_folder,
    "store": check_store,
    "leftovers": check_leftovers,
    "errors": check_errors,
    "compactions": check_compactions,
    "auto-compact": check_autocompact,
    "service": check_sync,
    "other tools": check_other_hooks,
}


def run_checks(around: Environment) -> list[Finding]:
    findings = []
    for name, check in CHECKS.items():
        try:
            findings += check(around)
        except (OSError, ValueError, SettingsError, StoreError, subprocess.SubprocessError) as err:
            # A check that cannot look is a finding too, never a traceback.
            seen = f"could not be checked: {err}"
            findings.append(Finding(name, FAIL, seen, "Please report this"))
    return findings
