"""Whether what is known can be kept: the data folder and the database.

Owns the checks of our own files. Must not change them, beyond what opening the store does.
"""

import os
import shutil
import sys
from contextlib import closing

from holdfast.doctor.environment import Environment, Finding, fail, ok, warn
from holdfast.paths import store_path
from holdfast.store.protocol import StoreBusy, StoreDamaged, StoreError
from holdfast.store.sqlite.store import SqliteStore

BUSY_TIMEOUT_SECONDS = 2.0
# Below this a long session's archive may no longer fit.
LOW_DISK_BYTES = 200_000_000
MIN_FREE_BYTES = 1_000_000  # a hook that saves a session's state needs about so much
GROUP_OTHER_BITS = 0o077  # permissions of everyone but the owner


def check_folder(around: Environment) -> list[Finding]:
    data = around.data
    if not os.path.lexists(data):
        above = _nearest_existing(data)
        if not os.access(above, os.W_OK | os.X_OK):
            next_step = "Grant access there, or set HOLDFAST_HOME to another folder"
            seen = f"{data} cannot be created: {above} is not writable"
            return [fail(seen, next_step)]
        seen = f"{data} will be created by the first hook that needs it"
        return [ok(seen, repair="folder")]
    if not os.path.isdir(data):
        next_step = "Move it away, or set HOLDFAST_HOME to another folder"
        return [fail(f"{data} is not a directory", next_step)]
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        next_step = "Grant access there, or set HOLDFAST_HOME to another folder"
        return [fail(f"{data} is not writable", next_step, repair="folder")]
    mode = os.stat(data).st_mode & 0o777
    if mode & GROUP_OTHER_BITS and sys.platform != "win32":
        seen = f"{data} is accessible to other users (mode {mode:o}) and contains session content"
        return [warn(seen, "Run `holdfast doctor --fix`", repair="folder")]
    free = shutil.disk_usage(data).free
    if free < MIN_FREE_BYTES:
        seen = f"{data}: the disk is full, nothing more can be saved"
        return [fail(seen, "Free some disk space")]
    if free < LOW_DISK_BYTES:
        seen = f"{data}: {free // 1_000_000} MB left on the disk"
        return [warn(seen, "Free some disk space")]
    # Windows has no modes to look at: what keeps others out there is the folder above.
    private = "writable" if sys.platform == "win32" else "private (0700)"
    return [ok(f"{data}, {private}", details=_describe_home_variable(around))]


def _describe_home_variable(around: Environment) -> tuple[str, ...]:
    for name in ("HOLDFAST_HOME", "XDG_DATA_HOME"):
        if around.environ.get(name):
            return (f"set by ${name}: the client must be started with the same value",)
    return ()


def _nearest_existing(path: str) -> str:
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def check_store(around: Environment) -> list[Finding]:
    path = store_path(around.data)
    if not os.path.exists(path):
        return [ok("still empty: the first session with hooks fills it")]
    try:
        with closing(SqliteStore(path, busy_seconds=BUSY_TIMEOUT_SECONDS)) as store:
            health = store.health()
            store.prune(before="", keep=1, dry_run=True)  # takes the write lock, changes nothing
    except StoreError as error:
        say = warn if isinstance(error, StoreBusy) else fail
        repair = "store" if isinstance(error, StoreDamaged) else ""
        return [say(str(error), error.next_step, repair=repair)]
    if health["integrity"] != "ok":
        seen = f"{path} is damaged: {health['integrity']}"
        return [fail(seen, StoreDamaged.next_step, repair="store")]
    counts = health["counts"]
    details = (
        ", ".join(f"{count} {table}" for table, count in counts.items() if count),
        f"{health['engine']}, schema {health['schema']}, search: {health['search']}",
    )
    seen = f"{path}: healthy and writable, {health['bytes'] / 1e6:.1f} MB"
    return [ok(seen, details=list(filter(None, details)))]
