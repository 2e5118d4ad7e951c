"""The SDK's client inherits the environment of its parent: here that is an empty one."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.claude import Client, ScriptedApi


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name not in ("PATH", "PYTEST_CURRENT_TEST", "COVERAGE_PROCESS_START"):
            monkeypatch.delenv(name)


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as running:
        yield running


@pytest.fixture
def client(tmp_path: Path, api: ScriptedApi) -> Client:
    return Client(tmp_path / "client", api)
