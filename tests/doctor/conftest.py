from pathlib import Path

import pytest

from .world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    # A machine that is busy with other tests is no finding.
    monkeypatch.setattr("holdfast.doctor.hook_trial.SLOW_SECONDS", 60.0)
    return World(tmp_path)
