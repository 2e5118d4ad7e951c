"""The plugin on every supported Python of this machine: commands reach the model whole."""

import pytest
from tools.interpreters import Interpreter, find_interpreters

from support.claude import ScriptedApi, bash

from .conftest import MakeScene
from .plugin_stage import conversation, delivered_by_hooks

pytestmark = pytest.mark.client

COMMAND = "sh ./check_totals.sh"


@pytest.mark.parametrize("python", find_interpreters(), ids=lambda python: python.version)
def test_a_failed_command_is_told_with_its_last_letter(
    make_scene: MakeScene, api: ScriptedApi, python: Interpreter
) -> None:
    scene = make_scene(env={"HOLDFAST_PYTHON": python.path})
    with scene.client.session() as live:
        api.say(bash(COMMAND), "It fails.")
        live.ask("Run the check of the totals.")
        scene.settled(live)
        live.compact()
        live.ask("go on")
    assert (scene.data / "plugin" / "python").read_text().strip() == python.path
    told = "\n".join([*conversation(api.last), *delivered_by_hooks(api.last)])
    lines = [line for line in told.splitlines() if "check_totals" in line]
    assert lines
    assert [line for line in lines if COMMAND not in line] == []
