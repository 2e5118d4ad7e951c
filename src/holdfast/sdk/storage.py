"""The store of a keeper, for any thread: SQLite in a thread of its own, PostgreSQL by its pool.

Owns which store a name means and who may call it. One tenant's keeper sees that tenant's chats
alone: the tenant is the project to which the store is bound.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from holdfast.paths import data_dir, is_postgres_url
from holdfast.store.protocol import StoreError
from holdfast.store.sql_store import Store

T = TypeVar("T")

CHATS_FILE = "chats.db"
# No folder has such a name: on a team's database, chats are kept apart from projects.
TENANT_PREFIX = "chats:"


class StoreAccess:
    """Raises StoreError, at the first use too."""

    def __init__(self, database: str, tenant: str) -> None:
        self.project = TENANT_PREFIX + tenant
        self._database = database or os.path.join(data_dir(), CHATS_FILE)
        self._store: Store | None = None
        # A SQLite handle belongs to one thread; a pool of connections serves all of them.
        own = not is_postgres_url(self._database)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="holdfast") if own else None
        self._closed = False
        self.run(lambda store: store.session_projects(""))

    def run(self, action: Callable[[Store], T]) -> T:
        if self._closed:
            raise StoreError("the keeper is closed")
        if self._thread is None:
            return action(self._open_once())
        return self._thread.submit(lambda: action(self._open_once())).result()

    def close(self) -> None:
        if self._closed:
            return
        if self._store is not None:
            self.run(lambda store: store.close())
        self._closed = True
        if self._thread is not None:
            self._thread.shutdown()

    def _open_once(self) -> Store:
        if self._store is None and self._thread is None:
            from holdfast.store.postgres import PostgresStore

            self._store = PostgresStore(self._database, [self.project])
        elif self._store is None:
            from holdfast.store.sqlite.store import SqliteStore

            path = self._database.removeprefix("sqlite:///")
            self._store = SqliteStore(path, [self.project])
        return self._store
