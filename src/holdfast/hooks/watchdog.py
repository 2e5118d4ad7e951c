"""The time that a hook may take, whatever it is doing: then its process ends, with 0.

Owns the limits and the two timers behind them. The first counts the time that passes; its handler
runs between two steps of the interpreter, in system calls that wait, and inside a regular
expression that does not come to an end, because `re` looks for signals as it goes. The second
counts the processor's time alone and needs no interpreter: the kernel ends a process that some
other C code keeps from hearing the first. A hook that the client waited for in vain leaves a mark,
and for a minute those after it get little time: a compaction runs four of them in a row. Imported
by the fast hooks: `os`, `time`, `_signal` and `holdfast.files`.
"""

from __future__ import annotations

import os
import time

from holdfast.files import touch, where_possible
from holdfast.paths import data_dir_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Below the client's own limits (`HOOKS` of its installer): we end before it kills us.
DEFAULT_SECONDS = 8.0
BACKGROUND_SECONDS = 50.0
EVENT_SECONDS = dict.fromkeys(("PostToolBatch", "PostToolUse", "Stop"), BACKGROUND_SECONDS)
EVENT_SECONDS["SessionEnd"] = 4.0
# For what goes on after the hook has returned.
DETACHED_SECONDS = 120.0
# What is left to the hooks that follow one that was stopped.
TIMEOUT_MARK = "hook-timeout"
REMEMBERED_SECONDS = 60.0
AFTER_TIMEOUT_SECONDS = 1.0
# What the second timer gives the first.
GRACE_SECONDS = 2.0

# What a hook hands over where its time ends before its answer is made.
last_resort: Callable[[], None] | None = None


def seconds_for(event: str) -> float:
    event = event.rpartition(":")[2]  # behind the client's name, where it stands there
    return EVENT_SECONDS.get(event, DEFAULT_SECONDS)


def _mark_path() -> str:
    return f"{data_dir_from(os.environ) or os.devnull}/{TIMEOUT_MARK}"


def _timed_out_lately() -> bool:
    try:
        return abs(time.time() - os.stat(_mark_path()).st_mtime) < REMEMBERED_SECONDS
    except OSError:
        return False


def _leave_mark() -> None:
    with where_possible:  # else the next one waits as long
        touch(_mark_path())
        os.utime(_mark_path())


def start_watchdog(event: str, seconds: float = 0.0) -> None:
    """From now on; a process that forks begins again, because timers are not inherited."""
    try:
        import _signal  # type: ignore[import-not-found]  # the C part; `signal` brings in enum
    except ImportError:
        return
    if not hasattr(_signal, "setitimer"):  # Windows: the client's own limit holds
        return
    allowed = seconds or seconds_for(event)
    is_waited_for = allowed < BACKGROUND_SECONDS
    if is_waited_for and _timed_out_lately():
        allowed = min(allowed, AFTER_TIMEOUT_SECONDS)

    def end(_: int, frame: object) -> None:
        # Should even telling take long, this ends the process for good.
        _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
        _signal.setitimer(_signal.ITIMER_REAL, 1.0)
        if is_waited_for:
            _leave_mark()
        if last_resort is not None:
            last_resort()
        _log_timeout(event, allowed, frame)
        os._exit(0)

    _signal.signal(_signal.SIGALRM, end)
    _signal.setitimer(_signal.ITIMER_REAL, allowed)
    _signal.signal(_signal.SIGPROF, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_PROF, allowed + GRACE_SECONDS)


def _log_timeout(event: str, allowed: float, frame: object) -> None:
    from holdfast.hooks import hook_log

    code = getattr(frame, "f_code", None)
    place = f"{code.co_filename.rpartition('/')[2]} {code.co_name}" if code else "an unknown place"
    with where_possible:  # the disk that held us up may refuse the log as well
        hook_log.log_exception(
            TimeoutError(f"stopped after its time limit of {allowed:g} s, in {place}"), event
        )
