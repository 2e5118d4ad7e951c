"""Corpus tests take part only where a corpus is named: $HOLDFAST_CORPUS."""

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("HOLDFAST_CORPUS"):
        return
    here = os.path.dirname(__file__)
    mine = [
        item
        for item in items
        if item.get_closest_marker("corpus") and str(item.path).startswith(here)
    ]
    if mine:
        config.hook.pytest_deselected(items=mine)
        items[:] = [item for item in items if item not in mine]
