"""What whoever runs the service has to know: on stderr, a line each, with its time.

What repeats is written once in a while with how often it happened, so that a database that is
away does not fill a disk with words about it.
"""

from __future__ import annotations

import logging
import threading
import time

from holdfast.store.protocol import StoreError

REPEAT_SECONDS = 30.0

_logger = logging.getLogger("holdfast.server")


class _RepeatFilter:
    """Lets one message of a kind through at a time, and counts the others."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._seen: dict[str, tuple[float, int]] = {}

    def let_through(self, kind: str, now: float) -> int | None:
        """How many were held back since the last one; None to hold this one back."""
        with self._guard:
            until, held = self._seen.get(kind, (0.0, 0))
            if now < until:
                self._seen[kind] = (until, held + 1)
                return None
            self._seen[kind] = (now + REPEAT_SECONDS, 0)
            return held


_repeat_filter = _RepeatFilter()


def log_store_error(error: StoreError) -> None:
    held = _repeat_filter.let_through(type(error).__name__, time.monotonic())
    if held is not None:
        again = f" ({held} more since the last such line)" if held else ""
        _logger.error("%s%s", error, again)


def configure_logging() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _logger.handlers = [handler]
    _logger.propagate = False
