"""A state that arrives is looked at before it is kept.

Its readers rely on its types, and a page of a project reads the states of all its
sessions: one that is made up must not take the others along. Those of another version are kept
as they are, because they are not read here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, get_type_hints

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from holdfast.server.problems import ApiError, Unprocessable
from holdfast.state import State, UnreadableState, decode_state, model
from holdfast.state.codec import STATE_VERSION
from holdfast.state.timestamps import find_invalid_timestamp

# As far as JSON's readers agree on whole numbers, and a database has room for them.
MAX_JSON_INT = 2**53


def check_state(document: dict[str, Any]) -> None:
    """Raises Unusable for what says it is a state of this version and is none."""
    if document.get("version") != STATE_VERSION:
        return
    try:
        state = decode_state(document)
        _state_schema().model_validate(state._asdict())
    except UnreadableState as error:
        raise Unprocessable("Invalid state") from error
    except ValidationError as error:
        where = "/".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise Unprocessable(
            f"Invalid state: {where[:200]} has the wrong type",
            where=f"body/state/{where}",
            what="wrong type",
        ) from error
    if not _has_valid_counters(state):
        raise Unprocessable("Invalid state: a counter is negative or refers to a future step")
    where = find_invalid_timestamp(document)
    if where:
        raise Unprocessable(
            f"Invalid state: {where[:200]} is not a valid timestamp",
            where=f"body/state/{where}",
            what="not a valid timestamp: use 2026-01-31T09:30:00Z, or leave it empty",
        )


def _has_valid_counters(state: State) -> bool:
    """Whether what is reckoned with when a brief is made can be."""
    step = state.position.step
    return (
        all(0 <= number <= MAX_JSON_INT for number in state.position)
        and all(min(one.changed, one.read, one.named) >= 0 for one in state.files.values())
        and all(one.times >= 0 for one in state.commands.values())
        and all(min(one.typed, one.seen) >= 0 for one in state.identifiers.values())
        and all(min(heat) >= 0 and heat[-1] <= step for heat in state.symbols.values())
    )


@lru_cache(maxsize=1)
def _state_schema() -> type[BaseModel]:
    """The fields of a state with their types. By its constructor, because in the class itself
    the fields hide the modules after which they are named."""
    hints = get_type_hints(State.__new__, vars(model))
    fields: dict[str, Any] = {name: (hints[name], ...) for name in State._fields}
    shape: type[BaseModel] = create_model("_State", __config__=ConfigDict(strict=True), **fields)
    return shape


# How large one document may be, said in words that help to make it smaller.

# A state that Holdfast makes itself has about 100,000 bytes before it is packed, and a restore
# gives back some thousand characters: what is larger is a history, and belongs to the actions.
MAX_DOCUMENT_BYTES = 1_000_000
MAX_FIELDS_NAMED = 3


def check_document_size(document: dict[str, Any]) -> None:
    """Raises a refusal that names what takes the room."""
    size = _size(document)
    if size <= MAX_DOCUMENT_BYTES:
        return
    sizes = sorted(((_size(value), name) for name, value in document.items()), reverse=True)
    largest = ", ".join(
        f"{name[:60]} ({count:,} bytes)" for count, name in sizes[:MAX_FIELDS_NAMED]
    )
    raise ApiError(
        f"The request has {size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are allowed."
        f" Nothing was saved. Largest parts: {largest}."
        " Send less, for example with a smaller limit.",
        413,
    )


def _size(value: Any) -> int:
    return len(orjson.dumps(value))
