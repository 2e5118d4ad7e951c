import pytest

from holdfast.lifecycle.thresholds import crossed, threshold


@pytest.mark.parametrize(
    ("tokens", "reached"),
    [(0, 0), (49_999, 0), (50_000, 50_000), (59_999, 50_000), (60_000, 60_000), (187_500, 180_000)],
)
def test_the_first_is_at_50_000_and_then_every_10_000(tokens: int, reached: int) -> None:
    assert threshold(tokens) == reached


def test_each_is_due_once_and_a_jump_is_one_checkpoint() -> None:
    assert crossed(52_000, []) == "tokens:50000"
    assert crossed(52_000, ["tokens:50000"]) == ""
    assert crossed(95_000, ["precompact:auto", "tokens:50000"]) == "tokens:90000"
    assert crossed(70_000, ["tokens:90000"]) == ""
    assert crossed(10_000, []) == ""
