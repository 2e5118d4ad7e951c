"""An excerpt of a packed state says what the whole says, and is read no further than it has to."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.server.checkpoint_snapshot import STATE_FIELDS
from holdfast.state import encode_state
from holdfast.store.packed_state import FIRST_READ_BYTES, pack_state, unpack_fields
from holdfast.store.protocol import StoreDamaged
from state.story import Story

pytestmark = pytest.mark.slow

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
# Far beyond what is looked at first, packed small and packed large.
LARGE = st.sampled_from(["x" * 5 * FIRST_READ_BYTES, list(range(9000)), '\\\\"' * FIRST_READ_BYTES])
NAMES = st.sampled_from([*"abcdef", "", "é", "}"])
DOCUMENTS = st.dictionaries(NAMES, VALUES | LARGE, max_size=9)


@given(document=DOCUMENTS, names=st.sets(NAMES))
def test_it_is_what_the_whole_says(document: dict[str, Any], names: set[str]) -> None:
    whole = json.loads(json.dumps(document))
    wanted = {name: whole[name] for name in names & whole.keys()}
    assert unpack_fields(pack_state(document), names) == wanted


def test_what_pages_of_many_sessions_read_stands_before_what_they_do_not() -> None:
    story = Story().user("Go").task("1", "A task").touched("/app/a.py")
    document = encode_state(story.state)
    order = list(document)
    last = max(order.index(name) for name in STATE_FIELDS)
    assert not {"symbols", "usage_history", "lookups", "identifiers"} & set(order[: last + 1])
    # So a page does not notice what became of the rest.
    document["symbols"] = {f"s{number}": [number] * 5 for number in range(9000)}
    packed = pack_state(document)
    cut = packed[: len(packed) // 2]
    assert unpack_fields(cut, STATE_FIELDS).keys() == STATE_FIELDS
    with pytest.raises(StoreDamaged, match="here contains an unreadable state"):
        unpack_fields(cut, {"lookups"}, "here")


@pytest.mark.parametrize("packed", [b"", b"x", zlib.compress(b""), zlib.compress(b'{"a":1')])
def test_what_cannot_be_read_is_told(packed: bytes) -> None:
    with pytest.raises(StoreDamaged):
        unpack_fields(packed, {"b"})
