"""What measures speed starts: `make bench` runs seldom, and its modules follow the package."""

import importlib

import pytest

from benchmarks.__main__ import list_benchmarks


@pytest.mark.lengthy
@pytest.mark.parametrize("name", list_benchmarks())
def test_a_benchmark_can_be_imported(name: str) -> None:
    assert importlib.import_module(f"benchmarks.{name}").__doc__
