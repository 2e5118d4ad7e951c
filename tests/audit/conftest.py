"""Corpus tests take part only where a corpus is named: $HOLDFAST_CORPUS."""

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("HOLDFAST_CORPUS"):
        return
    left_out = [item for item in items if item.get_closest_marker("corpus")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
