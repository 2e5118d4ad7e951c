from collections.abc import Iterator

import pytest

from support.opencode import ChatApi


@pytest.fixture
def chat() -> Iterator[ChatApi]:
    with ChatApi.running() as api:
        yield api
