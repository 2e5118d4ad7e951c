"""Going on after the hook has returned: work that must not hold up the client.

Owns the double fork. The parent goes on at once; the detached part keeps no pipe of the
client's open, because the client waits for those to close.
"""

from __future__ import annotations

import os

from holdfast.hooks import watchdog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def run_detached(work: Callable[[], None]) -> None:
    """Run `work` in a process of its own session; where there is no fork, run it here.

    What `work` raises reaches the guard of the detached process: it goes through the same
    way out as the hook itself.
    """
    if not hasattr(os, "fork"):
        work()
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)  # it forks again and ends: nobody is left to become a zombie
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    watchdog.start_watchdog("detached", watchdog.DETACHED_SECONDS)
    work()
    os._exit(0)
