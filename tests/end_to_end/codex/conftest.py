from collections.abc import Iterator

import pytest

from support.codex import ResponsesApi


@pytest.fixture
def responses() -> Iterator[ResponsesApi]:
    with ResponsesApi.running() as api:
        yield api
