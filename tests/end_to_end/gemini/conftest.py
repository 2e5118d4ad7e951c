from collections.abc import Iterator

import pytest

from support.gemini import GeminiApi


@pytest.fixture
def model() -> Iterator[GeminiApi]:
    with GeminiApi.running() as api:
        yield api
