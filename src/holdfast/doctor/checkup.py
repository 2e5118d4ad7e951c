"""All checks, in the order in which a person would ask."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from holdfast.clients.claude_code.settings import SettingsError
from holdfast.doctor.chosen import check_settings
from holdfast.doctor.client import check_client
from holdfast.doctor.compacting import check_compacting
from holdfast.doctor.finding import FAIL, Finding
from holdfast.doctor.others import check_others
from holdfast.doctor.past import check_compactions, check_errors
from holdfast.doctor.storage import check_folder, check_leftovers, check_store
from holdfast.doctor.surroundings import Surroundings
from holdfast.doctor.team import check_service
from holdfast.doctor.trial import check_trial
from holdfast.doctor.wiring import check_switches, check_wiring
from holdfast.store.protocol import StoreError

Check = Callable[[Surroundings], list[Finding]]

CHECKS: dict[str, Check] = {
    "client": check_client,
    "hooks": check_wiring,
    "switches": check_switches,
    "settings": check_settings,
    "trial": check_trial,
    "data folder": check_folder,
    "store": check_store,
    "leftovers": check_leftovers,
    "errors": check_errors,
    "compactions": check_compactions,
    "auto-compact": check_compacting,
    "service": check_service,
    "other tools": check_others,
}


def checkup(around: Surroundings) -> list[Finding]:
    findings = []
    for name, check in CHECKS.items():
        try:
            findings += check(around)
        except (OSError, ValueError, SettingsError, StoreError, subprocess.SubprocessError) as err:
            # A check that cannot look is a finding too, never a traceback.
            seen = f"could not be checked: {err}"
            findings.append(Finding(name, FAIL, seen, "Please report this"))
    return findings
