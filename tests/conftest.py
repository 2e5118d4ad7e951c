"""Every test has a name of its own: workers are handed tests by name, and of two that share one
only the first would be run, without a word."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.nodeid in seen:
            raise pytest.UsageError(f"two tests are called {item.nodeid}: one would not be run")
        seen.add(item.nodeid)
