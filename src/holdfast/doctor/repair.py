"""The repairs of `holdfast doctor --fix`: only of our own things, each said in one line.

Settings files are changed by the installer alone, and only where our entries already are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing, suppress

from holdfast.clients.claude_code import settings_file
from holdfast.clients.claude_code.settings import SettingsError
from holdfast.doctor.finding import Finding
from holdfast.doctor.storage import leftovers
from holdfast.doctor.surroundings import SCOPES, Surroundings
from holdfast.files import make_folder
from holdfast.lifecycle.places import store_path
from holdfast.store.protocol import StoreBusy, StoreDamaged, StoreError
from holdfast.store.sqlite import SqliteStore, set_aside


def repair(findings: Iterable[Finding], around: Surroundings) -> list[str]:
    """What was done, or why not, a line each."""
    done = []
    for name in dict.fromkeys(finding.repair for finding in findings if finding.repair):
        kind, _, argument = name.partition(":")
        try:
            done += REPAIRS[kind](around, argument)
        except (OSError, SettingsError, StoreError) as error:
            done.append(f"Could not repair ({name.replace(':', ', ')}): {error}")
    return done


def _entries(around: Surroundings, scope: str) -> list[str]:
    if scope not in SCOPES:
        return ["Managed settings are your administrator's: left alone."]
    path = settings_file.settings_path(
        scope, around.home, around.environ.get("CLAUDE_CONFIG_DIR") or None, around.project
    )
    if not around.script:
        return ["This copy of Holdfast cannot be called by a hook: install it for good first."]
    outcome = settings_file.install(
        path, data_dir=around.data, interpreter=around.interpreter, script=around.script
    )
    touched = len({*outcome.added, *outcome.repaired, *outcome.removed})
    return [f"Repaired {touched} hooks in {outcome.path}."] if touched else []


def _folder(around: Surroundings, _: str) -> list[str]:
    if not os.path.isdir(around.data):
        make_folder(around.data)
        return [f"Made {around.data}."]
    os.chmod(around.data, 0o700)
    return [f"{around.data} is now for you alone."]


def _store(around: Surroundings, _: str) -> list[str]:
    path = store_path(around.data)
    # Looked at once more: what another process is writing is not damaged.
    try:
        with closing(SqliteStore(path)) as store:
            if store.health()["integrity"] == "ok":
                return []
    except StoreBusy:
        return ["The database is in use: left alone."]
    except StoreDamaged:
        pass  # as expected
    aside = set_aside(path)
    SqliteStore(path).close()
    return [f"Set the damaged database aside as {aside} and began a new one."]


def _leftovers(around: Surroundings, _: str) -> list[str]:
    found = leftovers(around.data, around.seconds)
    for leftover in found:
        with suppress(FileNotFoundError):
            os.unlink(leftover.path)
    return [f"Took away {len(found)} marks of hooks that were killed."] if found else []


REPAIRS: dict[str, Callable[[Surroundings, str], list[str]]] = {
    "install": _entries,
    "folder": _folder,
    "store": _store,
    "leftovers": _leftovers,
}
