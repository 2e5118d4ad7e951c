"""The first text after a compaction is chosen against its summary, where the client brings that in
time; where it does not, the brief stands alone and the gap follows."""

import json
from pathlib import Path

import pytest

from support.claude import (
    SMALL_WINDOW,
    Lane,
    Reply,
    Request,
    ScriptedApi,
    bash,
    fills_the_window,
    newest_client,
    oldest_client,
    run_subagent,
    text,
    wait_until,
)

from .conftest import MakeStage
from .stage import AGAINST, ALONE, FACTS, FINISHED, GAP, RULE, Stage, injected

pytestmark = pytest.mark.client

OPENING = "Build the shop on port 8123."
TASKS = {"CLAUDE_CODE_ENABLE_TASKS": "1"}
TOLD = ("rule", "open task")
SUMMARY = f"The user said: {RULE}\n\nOpen tasks:\n- #1 {FACTS['open task']}: with totals"


@pytest.fixture(params=["oldest", "newest"])
def binary(request: pytest.FixtureRequest) -> Path:
    return oldest_client() if request.param == "oldest" else newest_client()


def first_request_after(api: ScriptedApi) -> Request:
    """The main thread's first request behind the summary's."""
    requests = api.requests
    place = max(n for n, one in enumerate(requests) if one.lane is Lane.SUMMARY)
    return next(one for one in requests[place + 1 :] if one.lane is Lane.MAIN)


def without_hook(stage: Stage, event: str) -> None:
    """As on a client that has no such event."""
    path = stage.client.config_dir / "settings.json"
    settings = json.loads(path.read_text())
    del settings["hooks"][event]
    path.write_text(json.dumps(settings))


def ending(trigger: str) -> list[Reply]:
    return [fills_the_window(bash("echo busy")), bash("echo on")] if trigger == "auto" else []


@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_what_the_summary_told_is_not_told_again_and_what_it_lost_is_there_at_once(
    make_stage: MakeStage, api: ScriptedApi, binary: Path, trigger: str
) -> None:
    stage = make_stage(env=SMALL_WINDOW | TASKS)
    stage.client.binary = binary
    api.say(*stage.work(), "Begun.", "Noted.", *ending(trigger))
    api.summarise_with(SUMMARY)
    with stage.client.session() as live:
        live.ask(OPENING)
        live.ask(RULE)
        if trigger == "manual":
            live.ask("now the cart")
            live.compact()
        live.ask("go on with the cart")
        (brief,) = injected(first_request_after(api), AGAINST)
        for name, words in FACTS.items():
            assert (words in brief) is (name not in TOLD), name
        wait_until(lambda: not (stage.session_dir(live.session_id) / "compacting").exists())
        live.ask("and on")
        assert injected(api.last, AGAINST) == [brief]
        assert injected(api.last, (ALONE, GAP)) == []
        stage.settled(live)
    left = {path.name for path in stage.session_dir(live.session_id).iterdir()}
    assert left & {"compacting", "summary", "restored"} == set()
    told = stage.holdfast("doctor", "--json", check=False)
    assert "chosen against the summary" in told
    assert stage.log() == ""


@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_without_that_event_the_brief_stands_alone_and_doctor_says_so(
    make_stage: MakeStage, api: ScriptedApi, trigger: str
) -> None:
    stage = make_stage(env=SMALL_WINDOW | TASKS)
    without_hook(stage, "SubagentStop")
    api.say(*stage.work(), "Begun.", "Noted.", *ending(trigger))
    api.summarise_with(SUMMARY)
    with stage.client.session() as live:
        live.ask(OPENING)
        live.ask(RULE)
        if trigger == "manual":
            live.ask("now the cart")
            live.compact()
        live.ask("go on with the cart")
        (brief,) = injected(first_request_after(api), ALONE)
        assert [name for name, words in FACTS.items() if words not in brief] == []
        live.ask("and on")
        assert injected(api.last, (AGAINST, GAP)) == []
        stage.settled(live)
    assert "built without the summary" in stage.holdfast("doctor", "--json", check=False)
    assert stage.log() == ""


def test_a_hook_that_is_killed_at_the_summary_costs_nothing_but_the_choice(
    make_stage: MakeStage, api: ScriptedApi
) -> None:
    stage = make_stage(env=TASKS)
    path = stage.client.config_dir / "settings.json"
    settings = json.loads(path.read_text())
    (group,) = settings["hooks"]["SubagentStop"]
    group["hooks"] = [{"type": "command", "command": "kill -9 $$", "timeout": 10}]
    path.write_text(json.dumps(settings))
    api.say(*stage.work(), "Begun.", "After.")
    api.summarise_with(SUMMARY)
    with stage.client.session() as live:
        live.ask(f"{OPENING} {RULE}")
        live.compact()
        live.ask("go on with the cart")
    (brief,) = injected(first_request_after(api), ALONE)
    assert [name for name, words in FACTS.items() if words not in brief] == []


def test_an_ordinary_subagent_is_followed_after_the_client_was_let_go(
    stage: Stage, api: ScriptedApi
) -> None:
    api.script(Lane.SUBAGENT, [bash("echo looked"), text("The shelf is empty.")])
    api.say(run_subagent("find the shelf"), "Main went on.")
    with stage.client.session() as live:
        live.ask(f"Ask a subagent. {RULE}")
        stage.settled(live)
        session_dir = stage.session_dir(live.session_id)
        assert not (session_dir / "summary").exists()
        assert injected(api.last, (ALONE, AGAINST, GAP)) == []
    assert stage.log() == ""


def test_what_the_summary_says_wrongly_is_told_first(
    make_stage: MakeStage, api: ScriptedApi, binary: Path
) -> None:
    stage = make_stage(env=SMALL_WINDOW | TASKS)
    stage.client.binary = binary
    api.say(*stage.work(), "Begun.", "On.")
    api.summarise_with(
        f"7. Pending Tasks:\n   - {FINISHED}\n\n8. Current Work:\n   All tests pass.\n"
    )
    with stage.client.session() as live:
        live.ask(OPENING)
        live.compact()
        live.ask("go on with the cart")
        (brief,) = injected(first_request_after(api), AGAINST)
        stage.settled(live)
    told = brief.splitlines()[1:4]
    assert "the record is right" in told[0]
    assert f'"{FINISHED}"' in told[1]
    assert '"All tests pass."' in told[2]
    assert "the last run failed: `pytest -q`" in told[2]
    shown = json.loads(stage.holdfast("show", live.session_id, "--compaction", "1", "--json"))
    assert [one["kind"] for one in shown["contradictions"]] == ["task", "check"]
    rows = stage.client.transcript_path(live.session_id).read_text()
    assert all(one["at"] in rows for one in shown["contradictions"])
