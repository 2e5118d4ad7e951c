"""The OpenAPI document and the service agree: whatever it allows is answered as it says.

A test for each operation, made below: Schemathesis would give them all one name, and a worker that
is handed tests by name runs only the first (`tests/conftest.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from holdfast.server.app import build_openapi
from support.agent_sessions import bring
from support.in_process_service import Service, running
from support.postgres_server import Server

pytestmark = [
    pytest.mark.xdist_group("openapi"),
    pytest.mark.slow,
    # Threads of the connection pool draw numbers, too, while an example is being made.
    pytest.mark.filterwarnings("ignore:Do not use the .random. module"),
]

document = build_openapi()
schema = schemathesis.openapi.from_dict(document)


@pytest.fixture(scope="module")
def fuzzed(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with (
        server.apart("fuzzed") as url,
        running(url, str(tmp_path_factory.mktemp("fuzz"))) as made,
        made.owner,
    ):
        bring(made)
        yield made


def _asked(label: str) -> Any:
    @schema.include(name=label).parametrize()
    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def answered_as_described(case: schemathesis.Case[Any], fuzzed: Service) -> None:
        arguments = case.as_transport_kwargs(base_url="http://127.0.0.1:3847")
        del arguments["cookies"]  # there are none here, and to pass them is deprecated
        if "data" in arguments:
            arguments["content"] = arguments.pop("data")
        response = fuzzed.owner.request(**arguments)
        assert response.status_code < 500
        case.validate_response(response)

    return answered_as_described


LABELS = [f"{how.upper()} {path}" for path, asked in document["paths"].items() for how in asked]
for _label in LABELS:
    globals()["test_" + re.sub(r"\W+", "_", _label.lower()).strip("_")] = _asked(_label)


def test_every_operation_is_tried() -> None:
    made = [name for name in globals() if name.startswith(("test_get_", "test_post_"))]
    assert len(made) == len(set(LABELS)) >= 30
