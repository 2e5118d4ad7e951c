"""Worker processes for long reading on the command line, which leave nothing behind.

Owns how they begin and how they end: with the work, with an interruption, with their parent.
Must not know what they do.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

PARENT_POLL_SECONDS = 0.5
MAX_JOBS = 4

Item = TypeVar("Item")
Made = TypeVar("Made")


def choose_jobs(asked: int, sizes: Sequence[int], *, min_bytes: int) -> int:
    """As many as were asked for; else one where all sizes together are below `min_bytes`."""
    if asked or sum(sizes) < min_bytes:
        return min(asked or 1, max(len(sizes), 1))
    return min(MAX_JOBS, os.cpu_count() or 1, len(sizes))


def run_each(work: Callable[[Item], Made], items: Sequence[Item], jobs: int) -> Iterator[Made]:
    """What `work` makes of each item, as it is done: here, or in so many processes."""
    waiting = dict(enumerate(items))
    if jobs > 1:
        try:
            with worker_pool(jobs) as pool:
                places = {pool.submit(work, item): place for place, item in waiting.items()}
                for future in as_completed(places):
                    made = future.result()
                    del waiting[places[future]]
                    yield made
        except BrokenProcessPool:
            pass  # a worker was killed, as when memory ran out: go on with one process, here
    for item in waiting.values():
        yield work(item)


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
