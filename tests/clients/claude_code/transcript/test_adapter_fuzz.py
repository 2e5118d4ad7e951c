"""No row, however strange, raises, or makes the pieces differ from the whole."""

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.transcript.reader import Row, TranscriptReader

from .handwritten_rows import RECORDED, events_in_pieces, events_of

pytestmark = pytest.mark.slow

JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
        st.sampled_from(["user", "tool_result", "tool_use", "text", "<command-name>/x", "Task #1"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def recorded() -> list[Row]:
    with TranscriptReader(RECORDED / "session.jsonl") as reader:
        return list(reader.rows())


ROWS = recorded()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a row where a value stands."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def damage(row: Row, chance: random.Random, junk: list[Any]) -> Row:
    data = copy.deepcopy(row.data)
    for _ in range(chance.randint(1, 3)):
        path = chance.choice(places(data) or [("type",)])
        target: Any = data
        for step in path[:-1]:
            target = target[step]
        if chance.random() < 0.3 and isinstance(target, dict):
            target.pop(path[-1], None)
        else:
            target[path[-1]] = copy.deepcopy(chance.choice(junk))
    return Row(data, row.start, row.end)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), junk=st.lists(JUNK, min_size=1, max_size=6))
def test_damaged_repeated_and_reordered_rows_never_raise(seed: int, junk: list[Any]) -> None:
    chance = random.Random(seed)
    rows = [damage(row, chance, junk) if chance.random() < 0.4 else row for row in ROWS]
    for _ in range(chance.randint(0, 20)):
        rows.insert(chance.randrange(len(rows)), chance.choice(rows))
    for _ in range(chance.randint(0, 20)):
        one, other = chance.randrange(len(rows)), chance.randrange(len(rows))
        rows[one], rows[other] = rows[other], rows[one]
    whole = events_of(rows)
    assert events_in_pieces(rows, chance.randint(1, 9)) == whole
    assert all(event.at.start >= 0 for event in whole)


KINDS = sorted({row.data["type"] for row in ROWS} | {"summary", "custom-title", "pr-link"})


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.dictionaries(st.text(max_size=8), JUNK, max_size=5)),
        max_size=8,
    ),
    JUNK,
    JUNK,
)
def test_made_up_rows_never_raise(
    made_up: list[tuple[str, dict[str, Any]]], message: Any, content: Any
) -> None:
    rows = []
    for number, (kind, fields) in enumerate(made_up):
        data = {**fields, "type": kind, "message": message, "uuid": f"made-up-{number:04d}"}
        if number % 2:
            data["message"] = {"content": content, "usage": message, "id": content}
            data |= {"attachment": content, "toolUseResult": message, "operation": "remove"}
        rows.append(Row(data, number, number + 1))
    assert events_in_pieces(rows, 1) == events_of(rows)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), junk=st.lists(JUNK, min_size=1, max_size=4))
def test_a_damaged_memory_never_raises(seed: int, junk: list[Any]) -> None:
    chance = random.Random(seed)
    adapter = ClaudeCodeAdapter()
    cut = chance.randrange(len(ROWS))
    for row in ROWS[:cut]:
        adapter.events(row)
    saved = json.loads(json.dumps(adapter.parser_state()))
    damaged = damage(Row(saved, 0, 1), chance, junk).data
    after = ClaudeCodeAdapter(damaged)
    for row in ROWS[cut:]:
        after.events(row)
    assert (
        json.loads(json.dumps(after.parser_state()))["format"]
        == ClaudeCodeAdapter.STATE.FORMAT_VERSION
    )
