"""The plugin beside `holdfast install`: nothing is steered, saved or delivered twice."""

import os
import sys
from pathlib import Path

import pytest

import holdfast
from end_to_end.stage import STEERED, steering
from holdfast.install.claude_code import INSTALLER as installer
from support.claude import Lane, ScriptedApi, wait_until

from .conftest import MakeScene
from .plugin_stage import RULE, break_module, copied, delivered_by_hooks, restored

pytestmark = pytest.mark.client

SCRIPT = Path(holdfast.__file__).parent / "hooks" / "main.py"
INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def install(config: Path, root: Path, script: Path = SCRIPT) -> None:
    installer.install(
        str(config / "settings.json"),
        data_dir=str(root / "install"),
        interpreter=INTERPRETER,
        script=str(script),
    )


@pytest.mark.parametrize("native", [True, False])
def test_plugin_and_settings_hooks_deliver_once(
    make_scene: MakeScene, api: ScriptedApi, tmp_path: Path, native: bool
) -> None:
    plugin = copied(tmp_path)
    if not native:
        break_module(
            plugin, "const messages = e.messages", "return next(e); const messages = e.messages"
        )
    scene = make_scene(plugin=plugin)
    install(scene.client.config_dir, tmp_path)
    with scene.client.session() as live:
        scene.work(live)
        live.compact()
        live.ask("go on")
        told = delivered_by_hooks(api.last)
        assert len(told) == 1
        assert RULE in told[0]
        live.ask("and on")
        assert delivered_by_hooks(api.last) == told
        session = live.session_id
    (summary,) = (request for request in api.requests if request.lane is Lane.SUMMARY)
    assert steering(summary).count(STEERED) == 1
    with scene.store() as store:
        causes = [c.cause for c in store.checkpoints(session)]
        assert causes.count("precompact:manual") == 1
        # A hook of the next turn writes down what was printed; it may still be at it.
        wait_until(lambda: [d.kind for d in store.deliveries(session)].count("brief") == 1)


def test_settings_hooks_of_a_holdfast_that_is_gone_do_not_silence_the_plugin(
    make_scene: MakeScene, api: ScriptedApi, tmp_path: Path
) -> None:
    scene = make_scene()
    install(scene.client.config_dir, tmp_path, tmp_path / "gone/holdfast/hooks/main.py")
    with scene.client.session() as live:
        scene.work(live)
        live.compact()
        live.ask("go on")
    (text,) = restored(api.last)
    assert RULE in text
