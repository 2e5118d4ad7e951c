"""Whose state is whose: sessions side by side, worktrees, subagents, resume, clear and fork."""

import subprocess
from pathlib import Path

import pytest

from support.claude import (
    Lane,
    Reply,
    Request,
    ScriptedApi,
    bash,
    text,
    tool,
    wait_until,
)

from .conftest import MakeStage
from .stage import BRIEF, FACTS, OFFER, RULE, Stage, injected

pytestmark = pytest.mark.client

CATS = "Always paint the cats green. The cat service listens on port 4444."
DOGS = "Always paint the dogs blue. The dog service listens on port 5555."


def requests_of(api: ScriptedApi, session_id: str) -> list[Request]:
    return [request for request in api.main_requests if request.session_id == session_id]


def test_two_sessions_of_one_project_at_once_do_not_mix(stage: Stage, api: ScriptedApi) -> None:
    def answer(request: Request) -> Reply:
        who = "cats" if "paint the cats" in request else "dogs"
        done = len(requests_of(api, request.session_id))
        return (
            tool("TaskCreate", subject=f"Feed the {who}", description="")
            if done == 1
            else text("ok")
        )

    api.script(Lane.MAIN, answer)
    with stage.client.session() as one, stage.client.session() as other:
        one.send(CATS)
        other.send(DOGS)
        one.wait()
        other.wait()
        one.send("/compact")
        other.send("/compact")
        one.wait()
        other.wait()
        one.ask("go on")
        other.ask("go on")
    (cats,) = injected(requests_of(api, one.session_id)[-1], BRIEF)
    (dogs,) = injected(requests_of(api, other.session_id)[-1], BRIEF)
    assert [word in cats for word in ("cats green", "4444", "Feed the cats")] == [True] * 3
    assert [word in dogs for word in ("dogs blue", "5555", "Feed the dogs")] == [True] * 3
    assert [word in cats for word in ("dogs", "5555")] == [False] * 2
    assert [word in dogs for word in ("cats", "4444")] == [False] * 2
    assert stage.log() == ""


def test_a_worktree_is_offered_nothing_of_the_main_checkout(
    tmp_path: Path, api: ScriptedApi
) -> None:
    shared = {"HOLDFAST_HOME": str(tmp_path / "data")}
    main = Stage(tmp_path / "main", api, env=shared)
    git(main.client.project, "init", "-q")
    git(main.client.project, "commit", "-q", "--allow-empty", "-m", "start")
    (tmp_path / "side").mkdir()
    git(main.client.project, "worktree", "add", "-q", str(tmp_path / "side" / "project"))
    side = Stage(tmp_path / "side", api, env=shared)

    api.say(*main.work(), "Begun.")
    with main.client.session() as live:
        live.ask(f"Build the shop on port 8123. {RULE}")
    wait_for_end(main, live.session_id)

    side.client.run("hello from the worktree")
    assert injected(api.last, OFFER) == []
    main.client.run("hello from the main checkout")
    (offer,) = injected(api.last, OFFER)
    assert "Wire the cart to checkout" in offer
    assert len(offer) <= 600
    with main.store() as store:
        places = {(s.project, s.worktree) for s in store.sessions()}
    project = str(main.client.project)
    assert places == {(project, project), (project, str(side.client.project))}


def test_a_finished_session_is_not_offered(stage: Stage, api: ScriptedApi) -> None:
    api.say(bash("echo hello"), "All done.")
    done = stage.client.run("say hello")
    wait_for_end(stage, done.session_id)
    stage.client.run("another thing")
    assert injected(api.last, OFFER) == []


def test_a_session_whose_last_words_announce_a_next_step_is_offered(
    stage: Stage, api: ScriptedApi
) -> None:
    api.say(bash("echo renamed"), "Step 1 of 3 is done, next I do step 2.")
    left = stage.client.run("Rename the shop in three steps, one at a time.")
    wait_for_end(stage, left.session_id)
    stage.client.run("hello")
    (offer,) = injected(api.last, OFFER)
    assert "next I do step 2" in offer
    assert "Rename the shop in three steps" in offer
    assert len(offer) <= 600


def test_resume_goes_on_with_the_state_and_says_nothing(stage: Stage, api: ScriptedApi) -> None:
    api.say(*stage.work(), "Begun.")
    first = stage.client.run(f"Build the shop on port 8123. {RULE}")
    wait_for_end(stage, first.session_id)
    with stage.client.session(resume=first.session_id) as live:
        live.ask("go on")
        assert injected(api.last, OFFER) == []
        live.compact()
        live.ask("go on")
        (brief,) = injected(api.last, BRIEF)
    assert RULE in brief
    assert "Wire the cart to checkout" in brief


def test_clear_offers_what_was_left_open_in_a_few_lines(stage: Stage, api: ScriptedApi) -> None:
    with stage.client.session() as live:
        api.say(*stage.work(), "Begun.")
        before = live.ask(f"Build the shop on port 8123. {RULE}").session_id
        stage.settled(live)
        live.ask("/clear")
        after = live.ask("hello").session_id
    assert before != after
    (offer,) = injected(api.last, OFFER)
    assert "Wire the cart to checkout" in offer
    assert before[:8] in offer
    assert len(offer) <= 600


def test_clear_is_a_fresh_window_with_all_that_was_known_where_the_user_chose_it(
    make_stage: MakeStage, api: ScriptedApi
) -> None:
    stage = make_stage(env={"HOLDFAST_HANDOFF_INJECT": "on"})
    with stage.client.session() as live:
        api.say(*stage.work(), "Begun.")
        live.ask(f"Build the shop on port 8123. {RULE}")
        stage.settled(live)
        live.ask("/clear")
        live.ask("hello")
        live.ask("and on")
    (page,) = injected(api.last, "Holdfast: the handoff page of an earlier session")
    assert [name for name, words in FACTS.items() if words not in page] == []
    assert api.summary_requests == []


def test_a_fork_has_the_state_of_its_parent_and_its_own_latches(
    stage: Stage, api: ScriptedApi
) -> None:
    api.say(*stage.work(), "Begun.")
    with stage.client.session() as live:
        live.ask(f"Build the shop on port 8123. {RULE}")
        live.compact()
        parent = live.session_id
    with stage.client.session(resume=parent, fork=True) as fork:
        fork.ask("try another way")
        fork.compact()
        fork.ask("go on")
        assert fork.session_id != parent
        brief = injected(api.last, BRIEF)[-1]
    assert RULE in brief
    assert "try another way" in brief
    assert stage.log() == ""


def wait_for_end(stage: Stage, session_id: str) -> None:
    """The detached part of SessionEnd outlives the client."""

    def ended() -> bool:
        with stage.store() as store:
            session = store.session(session_id)
        return session is not None and session.ended != ""

    wait_until(ended, 20)


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True)
