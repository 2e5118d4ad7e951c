"""A compaction on the real client: what the summariser is told, and what stands afterwards."""

from collections.abc import Mapping

import pytest

from support.claude import (
    SMALL_WINDOW,
    Reply,
    ScriptedApi,
    bash,
    compaction_by_error,
    fills_the_window,
)

from .conftest import MakeStage
from .stage import BRIEF, FACTS, FINISHED, RULE, STEERED_FACTS, Stage, injected, steering

pytestmark = pytest.mark.client

OPENING = f"Build the shop on port 8123. {RULE}"


def missing(text: str, facts: Mapping[str, str] = FACTS) -> list[str]:
    return [name for name, words in facts.items() if words not in text]


def check_all_facts(stage: Stage, api: ScriptedApi) -> None:
    (request,) = api.summary_requests
    assert missing(steering(request), STEERED_FACTS) == []
    (brief,) = injected(api.last, BRIEF)
    assert missing(brief) == []
    assert missing(brief[:2000]) == []
    assert len(brief) <= 9_500
    open_tasks = brief.partition("Open tasks:")[2].partition("Done, not to be redone:")[0]
    assert FINISHED not in open_tasks
    assert FINISHED in brief
    assert stage.log() == ""


@pytest.mark.core
def test_manual_compaction_keeps_every_kind_of_fact(stage: Stage, api: ScriptedApi) -> None:
    api.say(*stage.work(), "Begun.", "Going on.", "After.")
    api.summarise_with("The user is building something.")
    with stage.client.session() as live:
        live.ask(OPENING)
        live.ask("now go on with the cart")
        live.compact("keep the build")
        live.ask("go on")
    check_all_facts(stage, api)
    with stage.store() as store:
        (compaction,) = store.compactions(live.session_id)
        assert (compaction.epoch, compaction.trigger) == (0, "manual")
        assert compaction.summary == "The user is building something."
        assert "r1" in compaction.lost
        assert [c.cause for c in store.checkpoints(live.session_id)][-1] == "precompact:manual"


@pytest.mark.core
@pytest.mark.parametrize("by", ["window", "error"])
def test_automatic_compaction_keeps_every_kind_of_fact(
    make_stage: MakeStage, api: ScriptedApi, by: str
) -> None:
    stage = make_stage(env=SMALL_WINDOW if by == "window" else {})
    ending: list[Reply] = (
        [fills_the_window(bash("echo busy")), bash("echo on")]
        if by == "window"
        else [bash("echo busy"), *compaction_by_error(bash("echo on"))]
    )
    api.say(*stage.work(), "Begun.", *ending, "Went on.", "And on.")
    api.summarise_with("The user is building something.")
    with stage.client.session() as live:
        live.ask(OPENING)
        turn = live.ask("now go on with the cart")
        stage.settled(live)
    assert [c["compact_metadata"]["trigger"] for c in turn.compactions] == ["auto"]
    check_all_facts(stage, api)
    with stage.store() as store:
        (compaction,) = store.compactions(live.session_id)
        assert compaction.trigger == "auto"
        assert compaction.row != ""
        deliveries = {(d.kind, d.epoch) for d in store.deliveries(live.session_id)}
        assert deliveries == {("steering", 0), ("brief", 0)}


def test_two_installs_at_once_deliver_once(stage: Stage, api: ScriptedApi) -> None:
    # The same hooks in the project's settings too, spelled differently, so that both run.
    user = (stage.client.config_dir / "settings.json").read_text()
    project = stage.client.project / ".claude" / "settings.json"
    project.parent.mkdir()
    project.write_text(user.replace('"-I"', '"-I", "-B"'))
    api.say(*stage.work(), "Begun.")
    with stage.client.session() as live:
        live.ask(OPENING)
        live.compact()
        live.ask("go on")
    assert len(injected(api.last, BRIEF)) == 1


def test_rows_are_archived_before_they_leave_the_context(stage: Stage, api: ScriptedApi) -> None:
    api.say(*stage.work(), "Begun.")
    with stage.client.session() as live:
        live.ask(OPENING)
        live.compact()
    with stage.store() as store:
        rows = b"".join(piece[3] for piece in store.read_archive(live.session_id))
    transcript = stage.client.transcript_path(live.session_id).read_bytes()
    assert OPENING.encode() in rows
    assert transcript.startswith(rows)


PASTED = """Here is CONTRIBUTING.md:

House rules:
- Never push to main.

Look at it, and make the build green."""


def test_pasted_rules_are_nobodys_and_a_failing_test_in_a_log_is_told(
    stage: Stage, api: ScriptedApi
) -> None:
    failed = "FAILED tests/test_refund.py::test_half - assert 3 == 4\n1 failed in 0.1s\n"
    (stage.client.project / "build.log").write_text(failed)
    api.say(bash("cat build.log; exit 1"), *compaction_by_error("Went on."))
    with stage.client.session() as live:
        live.ask(f"Build the shop. {RULE}")
        live.ask(PASTED)
    (brief,) = injected(api.last, BRIEF)
    for told in (brief, steering(api.summary_requests[-1])):
        assert "- failed: `cat build.log; exit 1`: tests/test_refund.py::test_half" in told
        rules = [line for line in told.splitlines() if line.startswith("- [r")]
        assert len(rules) <= 1
        assert RULE in told
    with stage.store() as store:
        found = [fact.text for fact in store.facts(live.session_id) if fact.kind == "rule"]
    assert found == [RULE]
