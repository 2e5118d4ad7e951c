"""Codex empties its window and writes no summary (`features.token_budget`): neither the user's
prompt nor anything else is left, and what was known is back in the next request, once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.codex import NEWEST, AppServer, Call, ResponsesApi, Said

from .codex_stage import PROMPT, RULE, WORK_FACTS, CodexStage, work

pytestmark = [pytest.mark.client]

SWITCH = "features.token_budget = true"
PLANTED = {**WORK_FACTS, "rule": RULE, "prompt": "Build a shop on port 8123."}
NEW_WINDOW = Call("new_context", {})


def missing(text: str) -> list[str]:
    return [name for name, words in PLANTED.items() if words not in text]


def check_facts(stage: CodexStage) -> str:
    (told,) = stage.briefs(stage.api.requests[-1])
    assert missing(told) == []
    assert stage.api.compactions == []  # no summary was asked for
    assert stage.log() == ""
    return told


def make_stage(root: Path, responses: ResponsesApi, **more: int) -> CodexStage:
    stage = CodexStage(root, responses, version=NEWEST, **more)
    stage.holdfast("install", "--client", "codex", "--trust", "--windows")
    return stage


@pytest.mark.core
def test_five_windows_by_hand_and_by_the_model_and_then_resumed(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = make_stage(tmp_path, responses)
    responses.say(*work(), [Said("Done.")])
    with AppServer(stage.codex) as server:
        thread = server.start_thread()
        server.turn(thread, PROMPT)
        for number in range(5):
            if number % 2:
                responses.say([Said(f"I note ORD-NEW{number}."), NEW_WINDOW], [Said("Going on.")])
                server.turn(thread, f"Part {number}.")
                # In the same turn, with the prompt that the client dropped.
                assert f"Part {number}." in check_facts(stage)
            else:
                server.compact(thread)
                server.turn(thread, "Go on.")
            told = check_facts(stage)
        assert [f"ORD-NEW{number}" in told for number in (1, 3)] == [True, True]
        assert str(responses.requests[-1]).count(WORK_FACTS["id"]) == told.count(WORK_FACTS["id"])
    stage.codex.resume("On, in a new process.")
    assert check_facts(stage) == told


@pytest.mark.core
def test_an_automatic_window_in_the_middle_of_a_turn_and_at_the_next(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = make_stage(tmp_path, responses, compact_at=60_000)
    responses.say(*work()[:-1])
    stage.codex.exec(PROMPT)
    responses.tokens = 70_000
    responses.say(work()[-1], [Said("Going on.")])
    stage.codex.resume("Now the receipt.")
    assert "Now the receipt." in check_facts(stage)
    responses.tokens = 9_000
    stage.codex.resume("And on.")
    check_facts(stage)


def test_without_holdfast_the_window_is_empty(tmp_path: Path, responses: ResponsesApi) -> None:
    """The control: what the tests above find is there by our doing."""
    stage = CodexStage(tmp_path, responses)
    config = stage.codex.config / "config.toml"
    config.write_text(f"{SWITCH}\n{config.read_text()}")
    responses.say(*work(), [Said("Done.")])
    with AppServer(stage.codex) as server:
        thread = server.start_thread()
        server.turn(thread, PROMPT)
        server.compact(thread)
        server.turn(thread, "Go on.")
    assert set(missing(str(responses.requests[-1]["input"]))) == set(PLANTED)


def test_the_switch_is_shown_and_taken_back(tmp_path: Path, responses: ResponsesApi) -> None:
    stage = CodexStage(tmp_path, responses)
    config = stage.codex.config / "config.toml"
    before = config.read_bytes()
    shown = stage.holdfast("install", "--client", "codex", "--windows", "--dry-run")
    assert f"+{SWITCH}" in shown
    assert config.read_bytes() == before
    assert f"+{SWITCH}" in stage.holdfast("install", "--client", "codex", "--windows")
    listed = stage.codex.run("features", "list")
    (line,) = [line for line in listed.splitlines() if line.startswith("token_budget ")]
    assert line.split()[-1] == "true"
    assert f"-{SWITCH}" in stage.holdfast("uninstall", "--client", "codex")
    assert config.read_bytes() == before
