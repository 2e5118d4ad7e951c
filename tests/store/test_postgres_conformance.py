"""The numbered conformance suite on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.store.postgres import PostgresStore
from holdfast.store.sql_store import Store
from support.store_conformance import StoreConformance
from support.store_conformance.samples import OpenStore


class TestPostgres(StoreConformance):
    @pytest.fixture
    def open_store(self, url: str) -> Iterator[OpenStore]:
        opened: list[PostgresStore] = []

        def open_one() -> Store:
            opened.append(PostgresStore(url))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()
