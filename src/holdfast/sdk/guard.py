"""What goes wrong in here costs the caller a line in the log, never a turn.

Owns the one broad `except` of this package, and the logger.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

LOGGER = logging.getLogger("holdfast")


def run_guarded(what: str, action: Callable[[], T], otherwise: T) -> T:
    """What `action` answers; `otherwise`, and a line in the log, where it raises."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001  a chat goes on without us
        log_failure(what, error)
        return otherwise


async def wait_guarded(what: str, action: Callable[[], Awaitable[T]], otherwise: T) -> T:
    """The same for what is waited for."""
    try:
        return await action()
    except Exception as error:  # noqa: BLE001  the same
        log_failure(what, error)
        return otherwise


def log_failure(what: str, error: Exception) -> None:
    LOGGER.warning("%s failed: %s: %s", what, type(error).__name__, error, exc_info=error)
