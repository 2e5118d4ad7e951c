from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.claude import ScriptedApi

from .stage import Stage

MakeStage = Callable[..., Stage]


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as scripted:
        yield scripted


@pytest.fixture
def make_stage(tmp_path: Path, api: ScriptedApi) -> MakeStage:
    def make(**more: object) -> Stage:
        return Stage(tmp_path, api, **more)  # type: ignore[arg-type]

    return make


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    return make_stage()
