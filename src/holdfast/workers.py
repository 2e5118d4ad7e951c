"""Worker processes for long reading on the command line, which leave nothing behind.

Owns how they begin and how they end: with the work, with an interruption, with their parent.
Must not know what they do.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

PARENT_POLL_SECONDS = 0.5


@contextmanager
def worker_pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that is not waited for when its user is interrupted or has heard enough.

    Futures are best read by `result`: what `map` gives up it cancels, and a pool that breaks
    under cancelled futures complains aloud.
    """
    # Not by fork: the progress bar has a thread by now.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, context, initializer=_leave_with, initargs=(os.getpid(),))
    try:
        _spawn(pool, count)
        yield pool
    except BaseException:
        for child in multiprocessing.active_children():
            child.kill()
        raise
    finally:
        pool.shutdown()


def _spawn(pool: ProcessPoolExecutor, count: int) -> None:
    """All of them at once, deaf to Ctrl-C, which reaches every process of a terminal.

    The parent speaks for them; a worker would speak too, in a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may choose, and only it is interrupted
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for _ in range(count):
            pool.submit(os.getpid)
    finally:
        signal.signal(signal.SIGINT, heard)


def _leave_with(parent: int) -> None:
    """End a worker when its parent is gone: a killed parent cannot tell it to."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_POLL_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
