"""What differs between operating systems, asked in one place: locks, processes, modes, shells.

Written after the documentation of each system and tried on Linux alone (docs/install.md); the
tests stand in for Windows. Must not know what any file is for. Imported by the fast hooks: `os`
and `sys` alone, and the rest inside the function that needs it.
"""

from __future__ import annotations

import os
import sys

_STILL_ACTIVE = 259
_QUERY_LIMITED_INFORMATION = 0x1000
_ACCESS_DENIED = 5


def try_lock(handle: int) -> bool:
    """Lock an open file for this process alone; the system frees it when the process ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def unlock(handle: int) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_UN)
    except OSError:
        return  # it was not ours


def is_process_running(process: int) -> bool:
    if process <= 0:
        return False
    if sys.platform == "win32":
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # there, and not ours
    return True


def _is_running_on_windows(process: int) -> bool:
    """Asked through a handle: `os.kill(process, 0)` would send it a Ctrl-C there."""
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, process)
    if not handle:
        return bool(kernel.GetLastError() == _ACCESS_DENIED)
    code = ctypes.c_ulong()
    asked = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return bool(asked) and code.value == _STILL_ACTIVE


def is_held_open(error: OSError) -> bool:
    """Whether a rename failed because somebody has the file open, which only Windows minds."""
    return sys.platform == "win32" and isinstance(error, PermissionError)


def is_private(there: os.stat_result) -> bool:
    """Whether a file is the user's, and for the user alone.

    Windows has no such mode: what lies in the user's profile is kept from others by its folder.
    """
    if sys.platform == "win32":
        return True
    return not there.st_mode & 0o077 and there.st_uid == os.getuid()


def own_user_id() -> int | None:
    """None where users have no number."""
    return None if sys.platform == "win32" else os.getuid()


def shell_command(line: str) -> list[str]:
    """How to run a command line that a user wrote for a shell."""
    if sys.platform != "win32":
        return ["/bin/sh", "-c", line]
    import shutil

    # Claude Code on Windows brings its users a bash, and their command lines are for that one.
    bash = shutil.which("bash")
    return [bash, "-c", line] if bash else ["cmd.exe", "/d", "/s", "/c", line]
