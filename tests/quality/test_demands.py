"""The public kit's sessions: what the user's later words changed is not in force."""

import pytest

pytest.importorskip("compaction_kit")


def test_no_value_that_later_words_change_is_in_force_and_most_statements_survive() -> None:
    from benchmarks.demands.conformance_kit import score

    found = score(0.3, seeds=(1, 2))
    assert found.in_force == 0
    assert found.survival >= 0.9
