"""Compact instructions reach the summary request, by the hook and by CLAUDE.md."""

import pytest

from support.claude import ScriptedApi, last_user_text, mid_turn_compaction

from .stage import Stage, steering

pytestmark = pytest.mark.client

ORDER = "the summary holds, in this order"
OWN = "Keep the number of the change request."


def test_template_and_the_projects_own_words_stand_in_the_summary_request(
    stage: Stage, api: ScriptedApi
) -> None:
    (stage.client.project / "Makefile").write_text("test:\n\ttrue\n")
    own = stage.client.project / ".holdfast"
    own.mkdir()
    (own / "compact.md").write_text(OWN + "\n")
    api.say(*stage.work(), "Begun.", *mid_turn_compaction())
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        live.ask("go on")  # an automatic one
        live.compact("and mind the cart")
    for told in map(steering, api.summary_requests):  # by hand as well: there is no terminal
        assert told.index("Wire the cart to checkout") < told.index(OWN)
        assert "`make test`" in told
        assert told.index("Wire the cart to checkout") < told.index(ORDER)


def test_the_block_in_claude_md_is_in_the_request_and_goes_without_a_trace(
    stage: Stage, api: ScriptedApi
) -> None:
    memory = stage.client.project / "CLAUDE.md"
    memory.write_bytes(b"# Shop\n\nUse tabs.")
    stage.holdfast("dev", "instructions", "--write")
    assert memory.read_bytes().startswith(b"# Shop\n\nUse tabs.\n\n<!-- holdfast")
    with stage.client.session() as live:
        live.ask("hello")
        live.ask("go on")
        live.compact()
    (request,) = api.summary_requests
    assert ORDER in request
    assert ORDER not in last_user_text(request) or ORDER in steering(request)
    stage.holdfast("dev", "instructions", "--remove")
    assert memory.read_bytes() == b"# Shop\n\nUse tabs."


def test_instructions_can_be_left_out(stage: Stage, api: ScriptedApi) -> None:
    folder = stage.client.project / ".holdfast"
    folder.mkdir()
    (folder / "settings.json").write_text('{"instructions": false}')
    api.say(*stage.work(), "Begun.")
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        live.compact()
    told = steering(api.summary_requests[0])
    assert "Wire the cart to checkout" in told
    assert ORDER not in told
