"""The native module takes part in the client's own compaction: it tells the summariser what to
keep, and the model what the summary lost. That is still there after a resume in a new process."""

import base64
import json

import pytest

from end_to_end.stage import steering
from support.claude import (
    SMALL_WINDOW,
    Lane,
    ScriptedApi,
    bash,
    compaction_by_error,
    mid_turn_compaction,
    run_subagent,
    subagent_that_compacts,
    texts,
    tool,
    wait_until,
)

from .conftest import MakeScene
from .plugin_stage import (
    RESTORED,
    RULE,
    SUMMARY,
    conversation,
    delivered_by_hooks,
    many_rules,
    restored,
)

pytestmark = pytest.mark.client

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_what_a_manual_compaction_lost_is_told_and_survives_a_resume(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene()
    api.summarise_with("A shop. Open tasks:\n- #1 Wire the cart to checkout: with totals")
    with scene.client.session() as live:
        scene.work(live)
        live.compact()
        live.ask("go on")
        said = conversation(api.last)
        (text,) = restored(api.last)
        assert said[0].startswith(SUMMARY)
        assert RULE in text
        assert "Sketch the price table" in text.partition("Done, not to be redone:")[2]
        assert "Wire the cart" not in text  # the summary says it
        assert delivered_by_hooks(api.last) == [text]
        session = live.session_id
    scene.client.run("and on", resume=session)
    assert restored(api.last) == [text]
    assert conversation(api.last)[0].startswith(SUMMARY)
    with scene.store() as store:
        deliveries = [(d.kind, d.channel) for d in store.deliveries(session)]
        assert deliveries.count(("brief", "session.compact")) == 1
        assert [channel for what, channel in deliveries if what == "gap"] == []
    assert scene.log() == ""


@pytest.mark.parametrize("automatic", [False, True])
def test_a_kept_change_of_a_task_does_not_count_as_the_task(
    make_scene: MakeScene, api: ScriptedApi, automatic: bool
) -> None:
    scene = make_scene()
    api.summarise_with("The user wants a shop.")
    with scene.client.session() as live:
        api.say(
            tool("TaskCreate", subject="Task A: status page", description="first"),
            tool("TaskCreate", subject="Second task", description="then"),
            "Planned.",
        )
        live.ask("Plan the shop.")
        changed = [
            tool("TaskUpdate", taskId="1", status="completed"),
            tool("TaskUpdate", taskId="2", status="in_progress"),
        ]
        if automatic:
            api.say(*changed, *mid_turn_compaction("Going on."))
            live.ask("work on")
        else:
            api.say(*changed, "Begun.")
            live.ask("work on")
            live.compact()
            live.ask("go on")
        (text,) = restored(api.last)
    if automatic:  # what misled: it names the tasks by their numbers
        assert any(piece.text.startswith("TaskUpdate") for piece in texts(api.last))
    assert "Second task" in text
    assert "Task A: status page" in text.partition("Done, not to be redone:")[2]


def test_an_automatic_compaction_keeps_its_last_round_and_nothing_older_after_a_resume(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene()
    with scene.client.session() as live:
        scene.work(live)
        for n in range(3):
            api.say(bash(f"echo older {n}"), f"Older answer {n}.")
            live.ask(f"older request {n}")
        api.say(*mid_turn_compaction(bash("echo after"), "Finished."))
        live.ask("work on")
        (text,) = restored(api.last)
        assert RULE in text
        summaries = [request for request in api.requests if request.lane is Lane.SUMMARY]
        assert RULE in steering(summaries[0])
        session = live.session_id
    scene.client.run("and on", resume=session)
    said = conversation(api.last)
    assert said[0].startswith(SUMMARY)
    assert restored(api.last) == [text]
    # The restored text may quote it; the message itself is gone.
    assert not any(message.startswith("older request 0") for message in said)
    # The kept messages stand once, calls with their results.
    assert len([message for message in said if message.startswith("before the refusal")]) == 1
    assert len([message for message in said if message == "Finished."]) == 1


def test_it_is_as_long_as_the_state_needs(make_scene: MakeScene, api: ScriptedApi) -> None:
    scene = make_scene()
    rules = many_rules(44)
    carried = rules[7]
    api.summarise_with(f"The user said: {carried}")
    with scene.client.session() as live:
        for start in range(0, len(rules), 11):
            live.ask("\n".join(rules[start : start + 11]))
        live.compact()
        live.ask("go on")
    (text,) = restored(api.last)
    assert 10_000 < len(text) <= 16_000
    assert carried not in text
    assert [rule for rule in rules if rule not in text and rule != carried] == []


def test_a_second_compaction_tells_it_once_more_and_only_once(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene()
    with scene.client.session() as live:
        scene.work(live)
        live.compact()
        api.say(bash("echo more"), "More done.")
        live.ask("more")
        live.compact()
        live.ask("go on")
    (text,) = restored(api.last)
    assert text.count(f'- [r1] "{RULE}"') == 1
    open_tasks = text.partition("Open tasks:\n")[2].partition("Done, not to be redone:")[0]
    assert "#1 Wire the cart to checkout" in open_tasks
    assert "Sketch the price table" not in open_tasks


def test_kept_images_are_left_as_they_are(make_scene: MakeScene, api: ScriptedApi) -> None:
    scene = make_scene()
    picture = scene.client.project / "dot.png"
    picture.write_bytes(base64.b64decode(DOT))
    with scene.client.session() as live:
        scene.work(live)
        look = tool("Read", file_path=str(picture))
        api.say(look, *compaction_by_error(bash("echo after"), "Seen."))
        live.ask("look at the picture")
        (text,) = restored(api.last)
        assert RULE in text
        assert '"image"' in json.dumps(api.last.body["messages"])


def test_a_subagents_own_compaction_gets_its_own_state(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene(env=SMALL_WINDOW)
    with scene.client.session() as live:
        scene.work(live)
        api.script(Lane.SUBAGENT, subagent_that_compacts())
        api.say(run_subagent("look into the cart"), "Launched.")
        live.ask("send somebody")
        wait_until(lambda: "subagent's result" in str(api.last.body))
    inside = [request for request in api.requests if request.lane is Lane.SUBAGENT]
    assert any(conversation(request)[0].startswith(SUMMARY) for request in inside)
    assert [request for request in inside if restored(request)] == []
    told = [words for words in delivered_by_hooks(inside[-1]) if words.startswith("Holdfast: ")]
    assert len(told) == 1
    assert "look into the cart" in told[0]
    assert RULE not in str(inside[-1].body)


def test_the_command_tells_what_was_saved_and_restored(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene()
    with scene.client.session() as live:
        scene.work(live)
        live.compact()
        told = live.ask("/holdfast").text
    assert "its summary kept 0 of" in told
    assert "state restored (session.compact" in told
    assert RESTORED not in told
