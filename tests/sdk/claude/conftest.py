"""The SDK's client inherits the environment of its parent: here that is an empty one."""

import gc
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.claude import Client, ScriptedApi

FOLDER = Path(__file__).parent


# A transport that is collected after its loop was closed cannot close itself any more.
LATE_TRANSPORT = (
    r"ignore:.*BaseSubprocessTransport\.__del__:pytest.PytestUnraisableExceptionWarning"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The SDK leaves the pipes of a client that has ended to the garbage collector, which warns."""
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings(LATE_TRANSPORT))


@pytest.fixture(autouse=True)
def collected_pipes() -> Iterator[None]:
    """So that they do not warn in the next test, which has another filter."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


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
