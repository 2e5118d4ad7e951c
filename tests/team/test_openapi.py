"""The OpenAPI document and the service agree: whatever it allows is answered as it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from holdfast.server.app import description

from .postgres import Server
from .service import Service, running
from .sessions import bring


@pytest.fixture(scope="module")
def fuzzed(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(server.url("shared"), str(tmp_path_factory.mktemp("fuzz"))) as made:
        bring(made)
        with made.owner:
            yield made


# Threads of the connection pool draw numbers, too, while an example is being made.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the .random. module")

schema = schemathesis.openapi.from_dict(description())


@schema.parametrize()
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_document_describes(
    case: schemathesis.Case[Any], fuzzed: Service
) -> None:
    arguments = case.as_transport_kwargs(base_url="http://127.0.0.1:3847")
    del arguments["cookies"]  # there are none here, and to pass them is deprecated
    if "data" in arguments:
        arguments["content"] = arguments.pop("data")
    response = fuzzed.owner.request(**arguments)
    assert response.status_code < 500
    case.validate_response(response)
