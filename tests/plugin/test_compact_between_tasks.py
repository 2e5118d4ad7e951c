"""The right moment: between two tasks, once context is past the threshold, and only if chosen."""

import pytest

from support.claude import LiveSession, ScriptedApi, tool, wait_until

from .conftest import MakeScene
from .plugin_stage import RULE, Scene, restored

pytestmark = pytest.mark.client


def finish_a_task(scene: Scene, api: ScriptedApi, live: LiveSession) -> None:
    api.say(
        tool("TaskCreate", subject="Draft the price table", description="now"),
        tool("TaskUpdate", taskId="1", status="in_progress"),
        tool("TaskUpdate", taskId="1", status="completed"),
        "Done.",
    )
    live.ask(f"Build the shop. {RULE}")


def answers(scene: Scene) -> int:
    """How often the module has been answered."""
    return scene.client.debug_log.count("$.process.run (holdfast): /bin/sh exited")


def began(scene: Scene, live: LiveSession) -> None:
    """The module asks for the user's choices when the session starts, beside it."""
    live.ask("hello")
    wait_until(lambda: answers(scene) >= 1)


def boundaries(scene: Scene, live: LiveSession) -> int:
    rows = scene.client.rows(live.session_id)
    return len([row for row in rows if row.get("subtype") == "compact_boundary"])


def test_it_compacts_when_a_task_was_completed(make_scene: MakeScene, api: ScriptedApi) -> None:
    scene = make_scene(compact_between_tasks=True, compact_between_tasks_at_percent=1)
    with scene.client.session() as live:
        began(scene, live)
        finish_a_task(scene, api, live)
        wait_until(lambda: boundaries(scene, live) == 1)
        live.ask("go on")
        (text,) = restored(api.last)
        assert RULE in text


def test_it_waits_while_a_task_is_worked_on_and_is_off_unless_chosen(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene(compact_between_tasks=True, compact_between_tasks_at_percent=1)
    with scene.client.session() as live:
        began(scene, live)
        asked = answers(scene)
        api.say(
            tool("TaskCreate", subject="Draft the price table", description="now"),
            tool("TaskUpdate", taskId="1", status="in_progress"),
            "More to do.",
        )
        live.ask(f"Build the shop. {RULE}")
        wait_until(lambda: answers(scene) > asked)
        live.ask("go on")
        assert boundaries(scene, live) == 0
    (scene.data / "settings.json").write_text('{"compact_between_tasks": false}')
    with scene.client.session() as live:
        finish_a_task(scene, api, live)
        live.ask("go on")
        assert boundaries(scene, live) == 0
