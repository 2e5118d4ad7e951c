"""The numbered promises of `holdfast.store.protocol.Store`, for any implementation.

An implementation's test module inherits `StoreContract` and gives the fixture `open_store`:
a function that opens one more handle on the same, at first empty, data.
"""

from __future__ import annotations

import pytest

from holdfast.store.protocol import Store

from .contract_base import OpenStore
from .contract_history import HistoryContract
from .contract_search import SearchContract
from .contract_states import StatesContract


class StoreContract(StatesContract, SearchContract, HistoryContract):
    @pytest.fixture
    def store(self, open_store: OpenStore) -> Store:
        return open_store()
