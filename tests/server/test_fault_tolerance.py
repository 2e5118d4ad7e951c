"""What was acknowledged is there, once, whatever was killed or cut meanwhile.

`benchmarks.team_faults` does the same a hundred times over.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.service_faults import FAULTS, staged

ROUNDS = 2


@pytest.mark.database
@pytest.mark.faults
def test_no_fault_costs_a_write_that_was_acknowledged_or_makes_it_two(tmp_path: Path) -> None:
    with staged(tmp_path, agents=3) as stage:
        for _ in range(ROUNDS):
            for kind in FAULTS:
                stage.fault(kind)
        counted = stage.finish()
    assert counted.acknowledged > 0
    assert counted.carried > 0
    assert (counted.missing, counted.doubled) == (0, 0)
    assert counted.outbox_empty
