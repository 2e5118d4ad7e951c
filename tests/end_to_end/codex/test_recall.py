"""Codex: a broken rule is quoted with the call's result, a lost fact comes with the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from end_to_end import recall_story as story
from support.codex import AppServer, ResponsesApi, Said, context_texts

from .codex_stage import CodexStage, run

pytestmark = pytest.mark.client


def test_the_rule_comes_with_the_call_and_the_fact_with_the_prompt_each_once(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = CodexStage(tmp_path, responses)
    story.keep_the_brief_short(stage.data)
    stage.holdfast("install", "--client", "codex")
    with AppServer(stage.codex) as server:
        server.trust_hooks()
        thread = server.start_thread()
        responses.say([run(story.PRINT_FACT)], [Said("Noted.")])
        server.turn(thread, story.RULE)
        story.wait_for_guards(stage.data)
        responses.say([run("sleep 1; ls")], [run(story.PUSH)], [run(story.PUSH)], [Said("Done.")])
        server.turn(thread, "Publish the shop.")
        (reminder,) = context_texts(responses.requests[-1], story.GUARD_OPENING)
        assert f'[r1]: "{story.RULE}" This call runs {story.PUSH}.' in reminder
        server.compact(thread)
        story.wait_for_index(stage.data)
        for _ in range(2):
            server.turn(thread, story.ASKED)
            (recalled,) = context_texts(responses.requests[-1], story.RECALL_OPENING)
            assert story.FACT in recalled
    assert stage.log() == ""
