"""Reads and replaces one file so that a crash leaves either the old bytes or the new ones.

Owns what a replacement must keep (the expected bytes, mode and owner, durability), the lock that
keeps two of our own processes apart, and folders made on the way.
Must not know what the bytes are.
"""

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator

from holdfast import files
from holdfast.system import try_lock

# Well beyond what a settings file holds; a bound so that a wrong path cannot fill the memory.
MAX_BYTES = 16 * 1024 * 1024
LOCK_WAIT_SECONDS = 10.0
_LOCK_POLL_SECONDS = 0.02


class FileChanged(Exception):
    """Somebody wrote the file between our reading it and our replacing it."""


class LockTimeout(Exception):
    """Another process kept the lock."""


def read(path: str) -> bytes | None:
    """The file's bytes, None where there is no file; anything but a plain file is an OSError."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    if found.st_size > MAX_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MAX_BYTES // 1024 // 1024} MB", path)
    return files.read_or_raise(path, most=MAX_BYTES)


def replace(path: str, data: bytes, expected: bytes | None, *, executable: bool = False) -> None:
    """Puts ``data`` at ``path`` if it still holds ``expected``; mode and owner are kept.

    A new file is readable by its owner alone, and so is, in any case, an ``executable`` one.
    """
    folder, name = os.path.split(path)
    # Takes away what a killed run left; the caller holds the lock, so no run is alive.
    for entry in os.listdir(folder):
        if files.is_temporary(entry, name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, entry))
    before = None if expected is None else os.stat(path)
    files.write_atomic(
        path,
        data,
        durable=True,
        settle=lambda temporary: _keep_mode(temporary, before, executable),
        require=lambda: _require_unchanged(path, expected),
    )
    _sync_folder(folder)


def delete(path: str, expected: bytes) -> None:
    """Removes the file if it still holds ``expected``."""
    _require_unchanged(path, expected)
    os.unlink(path)
    _sync_folder(os.path.dirname(path))


def _require_unchanged(path: str, expected: bytes | None) -> None:
    if read(path) != expected:
        raise FileChanged(path)


def _keep_mode(path: str, before: os.stat_result | None, executable: bool) -> None:
    if executable or before is None:
        os.chmod(path, 0o700 if executable else 0o600)
        return
    os.chmod(path, stat.S_IMODE(before.st_mode))
    if sys.platform != "win32":
        now = os.stat(path)
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            # Only root may give a file away: for anyone else the new file is simply theirs.
            with contextlib.suppress(PermissionError):
                os.chown(path, before.st_uid, before.st_gid)
                os.chmod(path, stat.S_IMODE(before.st_mode))  # chown clears some of its bits


def _sync_folder(folder: str) -> None:
    """Makes the rename itself durable; some file systems cannot, and the rename stands anyway."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def list_missing_dirs(folder: str) -> list[str]:
    """The folders that making ``folder`` would make, outermost first."""
    missing: list[str] = []
    while folder and not os.path.isdir(folder):
        missing.insert(0, folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return missing


def remove_empty_dirs(folders: list[str]) -> None:
    """Removes these folders, innermost first, as far as they are empty."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Holds the lock file ``path``; the system frees it when the process dies."""
    handle = files.open_lock(path)
    try:
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while not try_lock(handle):
            if time.monotonic() >= deadline:
                raise LockTimeout(path)
            time.sleep(_LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(handle)
