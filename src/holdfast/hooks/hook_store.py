"""The store of a hook: opened without waiting long, logged and done without where it fails."""

from __future__ import annotations

from holdfast.compaction.handlers import archive_rows
from holdfast.files import make_private_dir
from holdfast.hooks import hook_log
from holdfast.paths import store_path
from holdfast.session.context import SessionContext
from holdfast.store.protocol import StoreError
from holdfast.store.sqlite.store import SqliteStore

# On the agent's clock another writer is not waited for long: our own writes take milliseconds.
STORE_TIMEOUT_SECONDS = 2.0


def open_store(data: str, busy_seconds: float = STORE_TIMEOUT_SECONDS) -> SqliteStore | None:
    try:
        make_private_dir(data)
        return SqliteStore(store_path(data), busy_seconds=busy_seconds)
    except (StoreError, OSError) as error:
        hook_log.log_error(data, error)
        return None


def archive_detached(ctx: SessionContext, tracked_until: tuple[int, int]) -> None:
    """After the client was let go, with a store of its own: the event's is closed by then."""
    store = open_store(ctx.session_dir.data_dir)
    if store is None:
        return
    try:
        archive_rows(ctx._replace(store=store), tracked_until)
    finally:
        store.close()
