"""Whatever happens to the module or to Python, the client compacts, and the classic hooks or
silence follows."""

from pathlib import Path

import pytest

from support.claude import ScriptedApi

from .conftest import MakeScene
from .plugin_stage import (
    GAP,
    RULE,
    SUMMARY,
    break_launcher,
    break_module,
    conversation,
    copied,
    delivered_by_hooks,
    path_without_python,
    placed,
)

pytestmark = pytest.mark.client

HANDLER = "const messages = e.messages.map(briefly)"


def test_a_module_that_throws_leaves_it_to_the_hooks(
    make_scene: MakeScene, api: ScriptedApi, tmp_path: Path
) -> None:
    plugin = copied(tmp_path)
    break_module(plugin, HANDLER, "throw new Error('broken')")
    scene = make_scene(plugin=plugin)
    with scene.client.session() as live:
        scene.work(live)
        assert len(live.compact().compactions) == 1
        live.ask("go on")
    assert conversation(api.last)[0].startswith(SUMMARY)
    (brief,) = delivered_by_hooks(api.last)
    assert RULE in brief


@pytest.mark.parametrize(
    "instead",
    [
        "sleep 30",
        "echo nonsense; exit 0",
        "exit 3",
        "echo '[1, 2]'; exit 0",
        """echo '{"mode": "instant", "text": 5, "keep": "all"}'; exit 0""",
        """echo '{"mode": "instant", "text": "made up", "keep": [99999]}'; exit 0""",
    ],
)
def test_an_answer_that_is_late_or_none_leaves_it_to_the_hooks(
    make_scene: MakeScene, api: ScriptedApi, tmp_path: Path, instead: str
) -> None:
    plugin = copied(tmp_path)
    break_launcher(plugin, "begin", instead)
    scene = make_scene(plugin=plugin)
    with scene.client.session() as live:
        scene.work(live)
        assert len(live.compact().compactions) == 1
        live.ask("go on")
    assert conversation(api.last)[0].startswith(SUMMARY)
    assert placed(api.last) == []
    (brief,) = delivered_by_hooks(api.last)
    assert RULE in brief


@pytest.mark.parametrize("instead", ["sleep 30", "echo nonsense; exit 0"])
def test_what_cannot_be_told_at_once_comes_with_the_next_prompt(
    make_scene: MakeScene, api: ScriptedApi, tmp_path: Path, instead: str
) -> None:
    plugin = copied(tmp_path)
    break_launcher(plugin, "augment", instead)
    scene = make_scene(plugin=plugin)
    with scene.client.session() as live:
        scene.work(live)
        assert len(live.compact().compactions) == 1
        live.ask("go on")
        (gap,) = delivered_by_hooks(api.last)
        assert gap.startswith(GAP)
        assert RULE in gap
        live.ask("and on")
        assert delivered_by_hooks(api.last) == [gap]


def test_without_python_it_says_so_once_and_stays_out_of_the_way(
    make_scene: MakeScene, api: ScriptedApi, tmp_path: Path
) -> None:
    scene = make_scene(env={"PATH": path_without_python(tmp_path)})
    notices = []
    for _ in range(2):
        with scene.client.session() as live:
            live.ask(f"Build the shop. {RULE}")
            assert len(live.compact().compactions) == 1
            live.ask("go on")
            notices += [e for e in live.events if "needs Python 3.11" in str(e)]
        assert conversation(api.last)[0].startswith(SUMMARY)
        assert not any("Holdfast" in text for text in conversation(api.last))
    assert scene.client.debug_log.count("Holdfast is off: it needs Python 3.11") >= 1
    assert len(notices) <= 1
