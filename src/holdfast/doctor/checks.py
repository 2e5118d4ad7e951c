"""All checks, in the order in which a person would ask, and the repairs of `doctor --fix`."""

import os
import subprocess
from collections.abc import Callable, Iterable
from contextlib import closing

from holdfast import install, own_copy
from holdfast.doctor import check_hooks
from holdfast.doctor.check_client import check_autocompact, check_client, check_other_clients
from holdfast.doctor.check_history import check_compactions, check_errors, check_kept, check_sync
from holdfast.doctor.check_storage import check_folder, check_store
from holdfast.doctor.environment import SCOPES, Environment, Finding, fail, ok, warn
from holdfast.doctor.hook_trial import check_trial
from holdfast.files import make_private_dir
from holdfast.install.installation import SettingsError
from holdfast.paths import store_path
from holdfast.session.context import load_settings
from holdfast.settings.loader import DEFAULT
from holdfast.store.protocol import StoreBusy, StoreDamaged, StoreError
from holdfast.store.sqlite.store import SqliteStore, rename_damaged

Check = Callable[[Environment], list[Finding]]


def check_settings(around: Environment) -> list[Finding]:
    """Our own settings: what is wrong in them, and where."""
    chosen = load_settings(around.environ, around.data, around.project)
    if chosen.problems:
        first, *more = chosen.problems
        return [warn(first, "Fix it in that file; see `holdfast config`", more)]
    own = sum(value.source != DEFAULT for value in chosen.values.values())
    return [ok(f"{own} of {len(chosen.values)} customised, the rest default")]


CHECKS: dict[str, Check] = {
    "client": check_client,
    "hooks": check_hooks.check_hooks,
    "switches": check_hooks.check_switches,
    "versions": check_hooks.check_versions,
    "settings": check_settings,
    "trial": check_trial,
    "data folder": check_folder,
    "store": check_store,
    "errors": check_errors,
    "compactions": check_compactions,
    "kept": check_kept,
    "auto-compact": check_autocompact,
    "service": check_sync,
    "other tools": check_hooks.check_other_hooks,
    "other clients": check_other_clients,
}


def run_checks(around: Environment) -> list[Finding]:
    findings = []
    for name, check in CHECKS.items():
        try:
            found = check(around)
        except (OSError, ValueError, SettingsError, StoreError, subprocess.SubprocessError) as err:
            # A check that cannot look is a finding too, never a traceback.
            found = [fail(f"could not be checked: {err}", "Please report this")]
        findings += [finding._replace(check=name) for finding in found]
    return findings


def repair(findings: Iterable[Finding], around: Environment) -> list[str]:
    """What was done, or why not, a line each."""
    done = []
    for name in dict.fromkeys(finding.repair for finding in findings if finding.repair):
        kind, _, argument = name.partition(":")
        try:
            done += REPAIRS[kind](around, argument)
        except (OSError, SettingsError, StoreError) as error:
            done.append(f"Could not repair ({name.replace(':', ', ')}): {error}")
    return done


def _repair_hooks(around: Environment, scope: str) -> list[str]:
    if scope not in SCOPES:
        return ["Managed settings belong to your administrator: not changed."]
    installer = install.get()
    path = installer.settings_path(scope, around.environ, around.home, around.project)
    if not around.script:
        return ["This copy of Holdfast cannot be called by a hook: install it again first."]
    own_copy.ensure_lasting(around.data)
    outcome = installer.install(
        path, data_dir=around.data, interpreter=around.interpreter, script=around.script
    )
    touched = len({*outcome.added, *outcome.repaired, *outcome.removed})
    done = [f"Repaired {touched} hooks in {outcome.path}."] if touched else []
    if outcome.launcher:
        done.append(f"Wrote the launcher {outcome.launcher.path}.")
    return done


def _repair_folder(around: Environment, _: str) -> list[str]:
    if not os.path.isdir(around.data):
        make_private_dir(around.data)
        return [f"Made {around.data}."]
    os.chmod(around.data, 0o700)
    return [f"{around.data} is now private (0700)."]


def _repair_store(around: Environment, _: str) -> list[str]:
    path = store_path(around.data)
    # Looked at once more: what another process is writing is not damaged.
    try:
        with closing(SqliteStore(path)) as store:
            if store.health()["integrity"] == "ok":
                return []
    except StoreBusy:
        return ["The database is in use: not changed."]
    except StoreDamaged:
        pass  # as expected
    aside = rename_damaged(path)
    SqliteStore(path).close()
    return [f"Moved the damaged database to {aside} and created a new one."]


REPAIRS: dict[str, Callable[[Environment, str], list[str]]] = {
    "install": _repair_hooks,
    "folder": _repair_folder,
    "store": _repair_store,
}
