"""Gemini CLI: a broken rule is quoted with the call's result, a lost fact comes with the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from end_to_end import recall_story as story
from support.gemini import GeminiApi, Said

from .gemini_stage import GeminiStage, run

pytestmark = pytest.mark.client


def test_the_rule_comes_with_the_call_and_the_fact_with_the_prompt_each_once(
    tmp_path: Path, model: GeminiApi
) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=60_000)
    story.keep_the_brief_short(stage.data)
    stage.install()
    model.tokens = 9_000
    model.say([run(story.PRINT_FACT)], [Said("Noted.")])
    stage.gemini.start(story.RULE)
    story.wait_for_guards(stage.data)
    model.say([run("sleep 2; ls")], [run(story.PUSH)], [run(story.PUSH)], [Said("Done.")])
    stage.gemini.resume("Publish the shop.")
    assert str(model.requests[-1]).count(f"{story.GUARD_OPENING} [r1]") == 1
    model.tokens = 70_000
    model.say([Said("First the receipt."), run("echo receipt")])
    stage.gemini.resume("Now the receipt.")
    assert len(model.compressions) == 1
    model.tokens = 9_000
    story.wait_for_index(stage.data)
    for _ in range(2):
        stage.gemini.resume(story.ASKED)
        request = str(model.requests[-1])
        assert request.count(story.RECALL_OPENING) == 1
        assert story.FACT in request.partition(story.RECALL_OPENING)[2]
    assert stage.log() == ""
