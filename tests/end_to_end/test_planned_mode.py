"""An agent that was planning when its context was compacted goes on planning."""

import pytest

from support.claude import SMALL_WINDOW, ScriptedApi, newest_client, oldest_client

from .conftest import MakeStage
from .stage import BRIEF, injected

pytestmark = pytest.mark.client


@pytest.mark.parametrize("version", ["oldest", "newest"])
def test_an_agent_that_was_planning_is_told_so_after_a_compaction(
    make_stage: MakeStage, api: ScriptedApi, version: str
) -> None:
    stage = make_stage(env=SMALL_WINDOW)
    stage.client.binary = oldest_client() if version == "oldest" else newest_client()
    api.say("I will look first.", "On.")
    api.summarise_with("The user is building something.")
    with stage.client.session() as live:
        live.set_mode("plan")
        live.ask("Plan the cart, port 8123.")
        live.compact()
        live.ask("go on")
    (brief,) = injected(api.last, BRIEF)
    assert "Mode of the client (plan): planning" in brief.splitlines()[1]
