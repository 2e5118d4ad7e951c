"""Rows no client should write still do not stop a run. The session is hand-made, then damaged."""

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.survival import CANDIDATES, run
from survival_benchmark.measure.handmade import tax_story

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    inside: list[tuple[Any, ...]] = []
    if isinstance(value, dict):
        inside = [p for k, v in value.items() for p in places(v, (*at, k))]
    elif isinstance(value, list):
        inside = [p for k, v in enumerate(value) for p in places(v, (*at, k))]
    return ([at] if at else []) + inside


SOUND = tax_story()
SOUND.compact(kept=(SOUND.rows[0]["uuid"],))
PLACES = places(SOUND.rows)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(damage=st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=1, max_size=6))
def test_damaged_rows_are_read_as_far_as_they_go(tmp_path: Path, damage: list[Any]) -> None:
    rows = copy.deepcopy(SOUND.rows)
    for place, junk in damage:
        target: Any = rows
        try:
            for step in place[:-1]:
                target = target[step]
            target[place[-1]] = junk
        except (KeyError, IndexError, TypeError):
            continue  # an earlier damage took this place away
    text = "".join(json.dumps(r) + "\n" for r in rows)
    (tmp_path / "s-1.jsonl").write_text(text, encoding="utf-8")
    result = run(tmp_path, CANDIDATES, jobs=1, budgets=(100,))
    assert all(not o.violation for b in result.boundaries for o in b.outcomes.values())
