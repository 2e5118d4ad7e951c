"""The same proof on the oldest client that we claim to support and on the newest."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.claude import (
    OLDEST_VERSION,
    SMALL_WINDOW,
    ScriptedApi,
    bash,
    fills_the_window,
    newest_client,
    oldest_client,
    run_subagent,
    subagent_that_compacts,
    text,
    wait_until,
    where,
)

from .stage import BRIEF, FACTS, GAP, RULE, STEERED_FACTS, Stage, injected, steering

pytestmark = pytest.mark.client

OPENING = f"Build the shop on port 8123. {RULE}"
# Old clients keep a todo list instead when nobody watches them; at a terminal they have tasks.
TASKS = {"CLAUDE_CODE_ENABLE_TASKS": "1"}
SUMMARY = "The user is building something."


@pytest.fixture(params=["oldest", "newest"])
def binary(request: pytest.FixtureRequest) -> Path:
    return oldest_client() if request.param == "oldest" else newest_client()


def missing(words: str, facts: Mapping[str, str] = FACTS) -> list[str]:
    return [name for name, fact in facts.items() if fact not in words]


@pytest.mark.core
@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_a_compaction_is_steered_and_followed_by_the_brief(
    tmp_path: Path, api: ScriptedApi, binary: Path, trigger: str
) -> None:
    stage = Stage(tmp_path, api, env=SMALL_WINDOW | TASKS)
    stage.client.binary = binary
    full = [fills_the_window(bash("echo busy")), bash("echo on")] if trigger == "auto" else []
    api.say(*stage.work(), "Begun.", *full, "After.")
    api.summarise_with(SUMMARY)
    with stage.client.session() as live:
        live.ask(OPENING)
        if trigger == "manual":
            live.compact()
        live.ask("go on with the cart")
        stage.settled(live)
    (request,) = api.summary_requests
    assert missing(steering(request), STEERED_FACTS) == []
    (brief,) = injected(api.last, BRIEF)
    assert missing(brief) == []
    assert stage.log() == ""
    with stage.store() as store:
        (compaction,) = store.compactions(live.session_id)
        assert (compaction.trigger, compaction.summary) == (trigger, SUMMARY)


@pytest.mark.core
def test_a_subagents_compaction_is_given_its_own_state_and_nothing_of_the_main_thread(
    tmp_path: Path, binary: Path
) -> None:
    with ScriptedApi(
        [run_subagent("find the shelf"), text("Main went on.")],
        subagent=subagent_that_compacts("The shelf is empty."),
    ) as api:
        stage = Stage(tmp_path, api, env=SMALL_WINDOW)
        stage.client.binary = binary
        with stage.client.session() as live:
            live.ask(f"Ask a subagent. {RULE}")
            live.ask("go on")
        assert [request.from_subagent for request in api.summary_requests] == [True]
        for request in [*api.subagent_requests, *api.summary_requests]:
            assert not where(request, RULE)
        told = injected(api.subagent_requests[-1], BRIEF)
        if binary == newest_client():  # an older one does not say which subagent compacts
            (own,) = told
            assert "find the shelf" in own
            assert "find the shelf" in steering(api.summary_requests[0])
        else:
            assert told == []
            assert not where(api.summary_requests[0], "Holdfast")
        assert injected(api.last, BRIEF) == []
        assert injected(api.last, GAP) == []
    assert stage.log() == ""
    with stage.store() as store:
        assert list(store.compactions(live.session_id)) == []


def test_a_subagent_that_compacts_in_the_background_is_given_its_own_either(
    tmp_path: Path, binary: Path
) -> None:
    # Slow answers: the main thread's turn is over when the subagent compacts. It fills up as it
    # goes, since the last row before a compaction may not be on disk yet.
    filling = [bash("echo more").with_usage(input_tokens=60_000, output_tokens=9) for _ in range(2)]
    slowly = [reply.after(0.7) for reply in [*filling, *subagent_that_compacts("Empty.")[2:]]]
    with ScriptedApi(
        [run_subagent("find the shelf", background=True), text("Launched.")], subagent=slowly
    ) as api:
        stage = Stage(tmp_path, api, env=SMALL_WINDOW)
        stage.client.binary = binary
        with stage.client.session() as live:
            live.send(f"Ask a subagent. {RULE}")
            live.wait()
            wait_until(lambda: len(api.subagent_requests) >= len(slowly))
            session_id = live.session_id
        assert [request.from_subagent for request in api.summary_requests] == [True]
        for request in [*api.subagent_requests, *api.summary_requests]:
            assert not where(request, RULE)
        own = [] if binary == oldest_client() else ["find the shelf"]
        told = injected(api.subagent_requests[-1], BRIEF)
        assert [name for words in told for name in own if name in words] == own
    with stage.store() as store:
        assert list(store.compactions(session_id)) == []
        assert list(store.deliveries(session_id)) == []
    assert stage.log() == ""


def test_the_oldest_client_is_the_one_that_doctor_names() -> None:
    from holdfast.doctor.check_client import MIN_CLIENT_VERSION

    assert ".".join(map(str, MIN_CLIENT_VERSION)) == OLDEST_VERSION
