"""The numbered promises of `holdfast.store.sql_store.Store`, for any implementation.

An implementation's test module inherits `StoreConformance` and gives the fixture `open_store`:
a function that opens one more handle on the same, at first empty, data.
"""

from __future__ import annotations

import pytest

from holdfast.store.sql_store import Store
from support.store_conformance.history import HistoryConformance
from support.store_conformance.samples import OpenStore
from support.store_conformance.search import SearchConformance
from support.store_conformance.states import StatesConformance


class StoreConformance(StatesConformance, SearchConformance, HistoryConformance):
    @pytest.fixture
    def store(self, open_store: OpenStore) -> Store:
        return open_store()
