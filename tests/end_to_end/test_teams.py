"""A team of agents in one session: each has its own words back after its own compaction."""

from pathlib import Path

import pytest

from support.claude import (
    SMALL_WINDOW,
    ScriptedApi,
    bash,
    fills_the_window,
    text,
    tool,
    wait_until,
    where,
)

from .stage import BRIEF, RULE, Stage, injected, steering

pytestmark = pytest.mark.client

TASK = "Count the racks of hall B. Never open rack 12, its seal is under warranty."
LATER = "From now on write weights in kilograms, ticket LOG-5521."
REPORT = "I begin with rack ORD-77XQ."


@pytest.mark.core
def test_a_teammate_keeps_what_it_was_told_and_the_lead_what_it_heard(tmp_path: Path) -> None:
    spawned = tool("Agent", description="count", prompt=TASK, subagent_type="general-purpose")
    spawned.blocks[0]["input"] |= {"name": "scout", "run_in_background": True}
    lead = [spawned, tool("SendMessage", to="scout", summary="a rule", message=LATER), text("On.")]
    scout = [
        tool("SendMessage", to="main", summary="begun", message=REPORT),
        bash("pytest -q").after(1),
        fills_the_window(bash("echo third").after(1)),
        bash("echo fourth"),
        text("Counted."),
    ]
    with ScriptedApi(lead, subagent=scout) as api:
        teams = {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}
        stage = Stage(tmp_path, api, env=SMALL_WINDOW | teams)
        (stage.client.project / "broken").touch()
        with stage.client.session() as live:
            live.ask(f"Ask a teammate. {RULE}")
            wait_until(lambda: len(api.subagent_requests) >= len(scout))
            (own,) = injected(api.subagent_requests[-1], BRIEF)
            wait_until(lambda: where(api.last, "finished"))
            live.compact()
            live.ask("and on")
        (brief,) = injected(api.last, BRIEF)
    told = (TASK.partition(".")[0], "Never open rack 12", LATER, "test_total_rounds_half_even")
    assert [words for words in told if words not in own] == []
    assert [words for words in told[:3] if words not in steering(api.summary_requests[0])] == []
    assert RULE not in own
    assert "the user" not in own.lower().partition("quotations")[2]
    assert (RULE in brief, REPORT in brief, "scout" in brief) == (True, True, True)
    assert stage.log() == ""
