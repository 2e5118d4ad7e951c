"""Shares, paired differences and repositories left out."""

from benchmarks.quality.shares import Unit, compute_difference, compute_share, leave_one_out


def units(*got: float) -> list[Unit]:
    return [Unit(str(n), f"s{n // 2}", f"r{n % 3}", 2.0, g) for n, g in enumerate(got)]


def test_a_share_is_weight_over_weight_with_an_interval_around_it() -> None:
    found = compute_share(units(2, 1, 0, 1, 2, 2))
    assert found is not None
    assert found.value == 8 / 12
    assert found.low < found.value < found.high
    assert compute_share([]) is None


def test_a_difference_is_taken_on_the_same_units() -> None:
    ours, theirs = units(2, 2, 2, 2), units(1, 1, 1, 1)
    found = compute_difference(ours, theirs[:2])
    assert found is not None
    assert (found.value, found.n) == (0.5, 2)
    assert (found.low, found.high) == (0.5, 0.5)  # the same everywhere: no doubt at all


def test_each_repository_is_left_out_once() -> None:
    found = {one.repo: one for one in leave_one_out(units(2, 0, 0, 2, 0, 0))}
    assert set(found) == {"r0", "r1", "r2"}
    assert (found["r0"].alone, found["r0"].others, found["r0"].n) == (1.0, 0.0, 2)
