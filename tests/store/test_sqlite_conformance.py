"""The conformance suite on SQLite, with its full-text index and as on a build without FTS5."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.store.protocol import Store
from holdfast.store.sqlite.store import SqliteStore
from holdfast.testing.store_conformance import StoreConformance
from holdfast.testing.store_conformance.samples import OpenStore


class TestSqlite(StoreConformance):
    @pytest.fixture(params=["full text", "plain"])
    def open_store(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
        opened: list[SqliteStore] = []

        def open_one() -> Store:
            full_text = None if request.param == "full text" else False
            opened.append(SqliteStore(str(tmp_path / "data" / "store.db"), full_text=full_text))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()
