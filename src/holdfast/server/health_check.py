"""Whether the store answers, for `GET /api/health`: with a thread and a time limit of its own.

Requests that are waiting for the store, however many, do not keep the answer from coming. Those
who ask at the same time are given the same answer, and it holds for a moment, so that asking
often costs nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

TIMEOUT_SECONDS = 3.0  # then the store does not answer
CACHE_SECONDS = 1.0
# A question that was never answered is left alone, and asked anew.
ABANDON_SECONDS = 30.0
PING_THREADS = 3


class HealthCheck:
    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._threads = ThreadPoolExecutor(PING_THREADS, thread_name_prefix="holdfast-pulse")
        self._guard = threading.Lock()
        self._asked: Future[None] | None = None
        self._since = 0.0
        self._good_until = 0.0

    async def check(self) -> None:
        """Raises what `ping` raised, or TimeoutError."""
        with self._guard:
            now = time.monotonic()
            if now < self._good_until:
                return
            if self._asked is None or self._asked.done() or now - self._since > ABANDON_SECONDS:
                self._asked, self._since = self._threads.submit(self._ask), now
            asked = self._asked
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(asked)), TIMEOUT_SECONDS)

    def _ask(self) -> None:
        self._ping()
        self._good_until = time.monotonic() + CACHE_SECONDS
