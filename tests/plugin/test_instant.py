"""*Instant*: Holdfast compacts by itself, with no model request, and the state is carried on."""

from pathlib import Path

import pytest

from support.claude import Lane, Reply, ScriptedApi, bash, mid_turn_compaction, tool

from .conftest import MakeScene
from .plugin_stage import RULE, STATE, SUMMARY, conversation, delivered_by_hooks, many_rules, placed

pytestmark = pytest.mark.client

LONG = "x" * 6_000


def write_file(path: Path, content: str) -> Reply:
    return tool("Write", file_path=str(path), content=content)


def summaries(api: ScriptedApi) -> int:
    return len([request for request in api.requests if request.lane is Lane.SUMMARY])


def test_a_manual_compaction_asks_no_model_and_survives_a_resume(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene(compaction="instant")
    with scene.client.session() as live:
        scene.work(live)
        before = len(api.requests)
        assert len(live.compact().compactions) == 1
        assert len(api.requests) == before
        live.ask("go on")
        said = conversation(api.last)
        (text,) = placed(api.last, STATE)
        assert said[0] == text
        assert RULE in text
        assert "Wire the cart to checkout" in text
        assert said[1].startswith("Build the shop.")  # the current request, word for word
        assert delivered_by_hooks(api.last) == []
        session = live.session_id
    scene.client.run("and on", resume=session)
    again = conversation(api.last)
    assert again[0] == text
    assert again[1].startswith("Build the shop.")
    assert not any(message.startswith(SUMMARY) for message in again)
    assert summaries(api) == 0
    with scene.store() as store:
        assert [c.cause for c in store.checkpoints(session)].count("precompact:manual") == 1
        assert len(store.compactions(session)) == 1
    assert scene.log() == ""


def test_an_automatic_compaction_keeps_the_current_turn_whole_and_nothing_older(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene(compaction="instant")
    with scene.client.session() as live:
        scene.work(live)
        for n in range(9):
            api.say(bash(f"echo older {n}; echo {LONG}"), f"Older answer {n}.")
            live.ask(f"older request {n}")
        api.say(bash("echo current one"), *mid_turn_compaction(bash("echo after"), "Finished."))
        live.ask("the current request")
        session = live.session_id
    scene.client.run("and on", resume=session)
    said = conversation(api.last)
    (text,) = placed(api.last, STATE)
    assert said[0] == text
    assert RULE in text
    assert "the current request" in said
    assert any(message.startswith("current one") for message in said)
    assert any(message.startswith("before the refusal") for message in said)
    assert not any(message.startswith("older 0") for message in said)
    assert "older request 0" not in said
    assert summaries(api) == 0


def test_ten_compactions_lose_nothing_that_stands_and_do_not_grow(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene(compaction="instant")
    topics = "invoices parcels vouchers refunds catalogues baskets pallets barcodes scanners labels"
    rules = many_rules(10)
    sizes = []
    with scene.client.session() as live:
        for n, topic in enumerate(topics.split()):
            api.say(
                write_file(scene.client.project / f"{topic}.py", f"{topic.upper()} = {n}\n"),
                bash(f"echo {topic}; echo {LONG}"),
                tool("TaskCreate", subject=f"Ship the {topic} page", description="later"),
                tool("TaskCreate", subject=f"Draft {topic} wording", description="now"),
                tool("TaskUpdate", taskId=str(2 * n + 2), status="completed"),
                f"Done with {topic}.",
            )
            live.ask(
                f"Work on {topic}. {rules[n]} Let's go with {topic}-v{n} as the format of {topic}"
                " files."
            )
            live.compact()
            live.ask("go on")
            sizes.append(len(str(api.last.body["messages"])))
    (text,) = placed(api.last, STATE)
    for n, topic in enumerate(topics.split()):
        assert rules[n] in text
        assert f"{topic}-v{n}" in text
        assert f"Ship the {topic} page" in text
        assert (
            f"#{2 * n + 2} Draft {topic} wording"
            not in text.partition("Open tasks:")[2].partition("Done")[0]
        )
    assert len(text) <= 18_000
    assert summaries(api) == 0
    assert max(sizes[5:]) < 1.5 * max(sizes[:5])
