"""The conformance suite on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.store.sql_store import Store
from holdfast.store.sqlite.store import SqliteStore
from support.store_conformance import StoreConformance
from support.store_conformance.samples import OpenStore


class TestSqlite(StoreConformance):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[OpenStore]:
        opened: list[SqliteStore] = []

        def open_one() -> Store:
            opened.append(SqliteStore(str(tmp_path / "data" / "store.db")))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()
