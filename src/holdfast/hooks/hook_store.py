"""What a hook opens: the store, without waiting long, logged and done without where it fails; and
the compiled patterns that one hook leaves in the data folder for the next (`lazy_regex`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from holdfast import lazy_regex
from holdfast.files import make_private_dir, read, write_atomic
from holdfast.hooks import hook_log
from holdfast.paths import store_path
from holdfast.session.context import SessionContext
from holdfast.store.protocol import StoreError
from holdfast.store.sqlite.store import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Answer = TypeVar("Answer")

# On the agent's clock another writer is not waited for long: our own writes take milliseconds.
STORE_TIMEOUT_SECONDS = 2.0
MAX_PATTERNS_BYTES = 8 * 1024 * 1024


def open_store(data: str, busy_seconds: float = STORE_TIMEOUT_SECONDS) -> SqliteStore | None:
    try:
        make_private_dir(data)
        return SqliteStore(store_path(data), busy_seconds=busy_seconds, saves_often=True)
    except (StoreError, OSError) as error:
        hook_log.log_error(data, error)
        return None


def call_with_store(
    data: str,
    event: str,
    work: Callable[[SqliteStore | None], Answer],
    busy_seconds: float = STORE_TIMEOUT_SECONDS,
) -> Answer:
    """What `work` answers; where the store fails it, what it answers without one."""
    store = open_store(data, busy_seconds)
    try:
        return work(store)
    except StoreError as error:
        if store is None:
            raise
        hook_log.write_line(data, f"{event} {hook_log.format_error(error)}")
    finally:
        if store is not None:
            store.close()
    return work(None)


def with_detached_store(ctx: SessionContext, work: Callable[[SessionContext], None]) -> None:
    """After the hook has returned, with a store of its own: the event's is closed by then."""
    store = open_store(ctx.session_dir.data_dir)
    if store is None:
        return
    try:
        work(ctx._replace(store=store))
    finally:
        store.close()


def use_patterns(data: str) -> None:
    kept = read(f"{data}/{lazy_regex.kept_name()}", most=MAX_PATTERNS_BYTES)
    lazy_regex.use_kept(kept or b"")


def keep_patterns(data: str) -> None:
    """Only where this process had to compile some: after an install or an update."""
    new = lazy_regex.keep_new()
    if new:
        with suppress(OSError):  # no space: the next hook compiles them again
            write_atomic(f"{data}/{lazy_regex.kept_name()}", new)
