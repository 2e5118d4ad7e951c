"""The numbered promises of `holdfast.store.protocol.Store`, for any implementation.

An implementation's test module inherits `StoreConformance` and gives the fixture `open_store`:
a function that opens one more handle on the same, at first empty, data.
"""

from __future__ import annotations

import pytest

from holdfast.store.protocol import Store
from holdfast.testing.store_conformance.history import HistoryConformance
from holdfast.testing.store_conformance.samples import OpenStore
from holdfast.testing.store_conformance.search import SearchConformance
from holdfast.testing.store_conformance.states import StatesConformance


class StoreConformance(StatesConformance, SearchConformance, HistoryConformance):
    @pytest.fixture
    def store(self, open_store: OpenStore) -> Store:
        return open_store()
