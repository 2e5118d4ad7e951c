import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.session.context_usage import find_due_cause, highest_threshold

PERCENTS = (30, 15, 5)


@pytest.mark.parametrize(
    ("tokens", "reached"),
    [(0, 0), (49_999, 0), (50_000, 50_000), (59_999, 50_000), (60_000, 60_000), (187_500, 180_000)],
)
def test_the_first_is_at_50_000_and_then_every_10_000(tokens: int, reached: int) -> None:
    assert highest_threshold(tokens) == reached


def test_both_figures_can_be_chosen_and_none_at_all() -> None:
    assert highest_threshold(45_000, first=20_000, every=20_000) == 40_000
    assert highest_threshold(45_000, first=0) == 0


def test_each_is_due_once_and_a_jump_is_one_checkpoint() -> None:
    assert find_due_cause(52_000, []) == "tokens:50000"
    assert find_due_cause(52_000, ["tokens:50000"]) == ""
    assert find_due_cause(95_000, ["precompact:auto", "tokens:50000"]) == "tokens:90000"
    assert find_due_cause(70_000, ["tokens:90000"]) == ""
    assert find_due_cause(10_000, []) == ""


def test_what_is_left_comes_before_tokens_each_once() -> None:
    assert find_due_cause(50_000, [], left=29, percents=PERCENTS) == "left:30"
    assert find_due_cause(50_000, ["left:30"], left=29, percents=PERCENTS) == "tokens:50000"
    assert find_due_cause(50_000, ["left:30", "tokens:50000"], left=29, percents=PERCENTS) == ""
    assert find_due_cause(0, ["left:30"], left=14, percents=PERCENTS) == "left:15"
    assert find_due_cause(0, [], left=3, percents=PERCENTS) == "left:5"
    assert find_due_cause(0, ["left:5"], left=14, percents=PERCENTS) == ""
    assert find_due_cause(0, [], left=31, percents=PERCENTS) == ""


@given(st.lists(st.tuples(st.integers(0, 400_000), st.integers(0, 100)), max_size=30))
def test_no_cause_comes_twice(course: list[tuple[int, int]]) -> None:
    causes: list[str] = []
    for tokens, left in course:
        due = find_due_cause(tokens, causes, left=left, percents=PERCENTS)
        assert due not in causes
        causes += [due] if due else []
