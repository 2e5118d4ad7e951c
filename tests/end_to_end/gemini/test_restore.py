"""Gemini CLI compresses, by itself and by hand, and what was lost is back in the next request."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from end_to_end.test_secrets import everything
from support.gemini import Call, GeminiApi, GeminiTerminal, Said, context_texts

from .gemini_stage import BRIEF, FACTS, PROMPT, GeminiStage, run, work

pytestmark = pytest.mark.client

# Tokens that an answer claims, and the point between the two.
CALM, FULL = 9_000, 70_000
COMPACT_AT = 60_000


def check_facts(stage: GeminiStage, request: dict[str, Any] | None = None) -> str:
    (told,) = stage.briefs(request or stage.api.requests[-1])
    assert [name for name, words in FACTS.items() if words not in told] == []
    assert stage.log() == ""
    return told


def compress_in_a_turn(stage: GeminiStage, prompt: str) -> None:
    """The answer that calls a tool fills the window: the client compresses before it goes on."""
    before = len(stage.api.compressions)
    stage.api.tokens = FULL
    stage.api.say([Said("First the receipt."), run("echo receipt")])
    stage.gemini.resume(prompt)
    assert len(stage.api.compressions) == before + 1
    stage.api.tokens = CALM


@pytest.mark.core
def test_a_compression_in_the_middle_of_a_turn(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    subprocess.run(["git", "init", "-q", "-b", "kiosk"], cwd=stage.gemini.project, check=True)
    stage.install()
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start(PROMPT)
    assert [stage.briefs(request) for request in model.requests] == [[]] * len(model.requests)
    compress_in_a_turn(stage, "Now the receipt.")
    assert "branch kiosk" in check_facts(stage)
    before = len(model.requests)
    model.say([run("echo one")], [run("echo two")], [Said("Done.")])
    stage.gemini.resume("And on.")
    # Once in every later request, kept by the client itself, also over a resume.
    for request in model.requests[before:]:
        check_facts(stage, request)


@pytest.mark.core
def test_a_compression_before_the_turn_of_a_resumed_session(
    tmp_path: Path, model: GeminiApi
) -> None:
    """What the client counts then is an estimate of the history."""
    stage = GeminiStage(tmp_path, model, compact_at=5_000)
    stage.install()
    model.tokens = 1_000
    model.say(*work()[:-1], [run("seq 1 6000")], work()[-1])
    stage.gemini.start(PROMPT)
    assert model.compressions == []
    before = len(model.requests)
    model.say([Said("On it."), run("echo one")], [run("echo two")], [Said("Done.")])
    stage.gemini.resume("Go on.")
    assert len(model.compressions) == 1
    for request in model.requests[before:]:
        check_facts(stage, request)


def test_a_manual_compression_is_restored_with_the_next_prompt(
    tmp_path: Path, model: GeminiApi
) -> None:
    stage = GeminiStage(tmp_path, model)
    stage.install()
    model.tokens = CALM
    model.say(*work())
    with GeminiTerminal(stage.gemini) as terminal:
        terminal.type(PROMPT)
        terminal.wait_for(lambda: FACTS["id"] in terminal.screen, "the end of the turn")
        terminal.type("/compress")
        terminal.wait_for(lambda: "history compressed" in terminal.screen, "the compression")
        for number, prompt in enumerate(("Go on.", "And on.", "And on again.")):
            said = f"Answer number {number}."
            model.say([Said(said)])
            terminal.type(prompt)
            terminal.wait_for(lambda: said in terminal.screen, said)  # noqa: B023
            check_facts(stage)
        assert "Holdfast: " not in terminal.screen
    assert len(model.compressions) == 1


def test_without_holdfast_the_facts_are_gone(tmp_path: Path, model: GeminiApi) -> None:
    """The control: what the tests above find is there by our doing."""
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start(PROMPT)
    compress_in_a_turn(stage, "Now the receipt.")
    after = str(model.requests[-1]["contents"])
    # The name of a file stands in the listing that the client gives of the folder.
    gone = {name: words for name, words in FACTS.items() if name != "file"}
    assert [name for name, words in gone.items() if words in after] == []


def test_only_what_the_summary_lost_is_told(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    stage.install()
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start("Build a shop on port 8123.")
    stage.gemini.resume(FACTS["rule"])
    model.summary = f"The user said: {FACTS['rule']}"
    compress_in_a_turn(stage, "Now the receipt.")
    (told,) = stage.briefs(model.requests[-1])
    assert [name for name, words in FACTS.items() if words not in told] == ["rule"]


def test_after_a_second_compression_nothing_stale_is_told(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    stage.install()
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start(PROMPT)
    compress_in_a_turn(stage, "Now the receipt.")
    check_facts(stage)
    (stage.gemini.project / "mended").touch()
    done = [{"description": FACTS["task"], "status": "completed"}]
    model.say([run("./pytest -q")], [Call("write_todos", {"todos": done})], [run("seq 1 3000")])
    stage.gemini.resume("Mend the test.")
    compress_in_a_turn(stage, "And the next receipt.")
    told = stage.briefs(model.requests[-1])
    assert len(told) == 1
    assert FACTS["rule"] in told[0]
    assert "test_total_rounds_half_even" not in told[0]
    assert f"Open tasks: {FACTS['task']}" not in told[0]


def test_a_subagent_gets_nothing_of_the_main_thread(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    stage.install()
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start(PROMPT)
    task = "Look at the limiter and report."
    finish = {"result": {"response": "The limiter is fine."}}
    delegate = Call("invoke_agent", {"agent_name": "generalist", "prompt": task})
    model.tokens = FULL
    model.say([Said("I delegate."), run("echo receipt")])
    model.say([delegate], [run("echo within")], [Call("complete_task", finish)], [Said("Done.")])
    stage.gemini.resume("Delegate it.")
    own = [one for one in model.requests if is_subagents(one, task)]
    assert len(own) >= 2
    assert [context_texts(one, BRIEF) for one in own] == [[]] * len(own)
    check_facts(stage)
    assert task not in stage.holdfast("status", "--all", "--json")


def is_subagents(request: dict[str, Any], task: str) -> bool:
    return task in str(request["contents"][0])


SECRET = "AKIA" + "Q3ZV7XJ2MNB5KLPW"
PASSWORD = "c0rrect-h0rse-9182"


def test_secrets_are_nowhere_in_what_was_written_or_said(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    stage.install()
    model.tokens = CALM
    model.say(
        *work()[:-1],
        [run(f"echo aws_access_key_id={SECRET}; exit 1")],
        [Said(f"The database password is {PASSWORD}."), run("echo on")],
        work()[-1],
    )
    stage.gemini.start(f"{PROMPT} The password is {PASSWORD}, never print it.")
    model.summary = f"The user said: the password is {PASSWORD}. The key is {SECRET}."
    compress_in_a_turn(stage, "Now the receipt.")
    stage.gemini.resume("Go on.")
    for request in model.requests:
        for said in stage.briefs(request):
            assert SECRET not in said
            assert PASSWORD not in said
    assert any(stage.briefs(request) for request in model.requests)
    written = list(everything(stage.data))
    leaks = [name for name, data in written if SECRET.encode() in data or PASSWORD.encode() in data]
    assert leaks == []
    assert len(written) > 20


def test_the_summary_is_steered_by_a_note_before_the_window_is_full(
    tmp_path: Path, model: GeminiApi
) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    stage.install()
    model.tokens = 56_000
    model.say(*work())
    stage.gemini.start(PROMPT)
    model.tokens = 57_000
    stage.gemini.resume("On.")
    compress_in_a_turn(stage, "Fill it.")
    (asked,) = model.compressions
    assert "Keep these facts of the session in the summary" in str(asked["contents"])
    assert "/compact" not in str(asked["contents"])
