"""What every part of the conformance suite stands on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

from holdfast.store.protocol import Store

OpenStore = Callable[[], Store]

# Every example meets the same store on purpose: it has to cope with what is already there.
on_one_store = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def texts(store: Store, query: str, **wanted: Any) -> list[str]:
    """What a search finds, in its order."""
    found = []
    for hit in store.search(query, **wanted):
        told = hit.fact or hit.message
        assert told is not None
        found.append(told.text)
    return found
