from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.claude import ScriptedApi

from .plugin_stage import Scene

MakeScene = Callable[..., Scene]


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as scripted:
        yield scripted


@pytest.fixture
def make_scene(tmp_path: Path, api: ScriptedApi) -> MakeScene:
    def make(**more: object) -> Scene:
        return Scene(tmp_path, api, **more)  # type: ignore[arg-type]

    return make
