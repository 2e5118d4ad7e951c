"""OpenCode: a broken rule is quoted behind the call's output, a lost fact comes with the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from end_to_end import recall_story as story
from support.opencode import ChatApi, Said, Server

from .opencode_stage import OpenCodeStage, run

pytestmark = pytest.mark.client


def test_the_rule_comes_with_the_call_and_the_fact_with_the_prompt_each_once(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    story.keep_the_brief_short(stage.data)
    stage.install()
    with Server(stage.client) as server:
        session = server.start()
        chat.say([run(story.PRINT_FACT)], [Said("Noted.")])
        server.say(session, story.RULE)
        story.wait_for_guards(stage.data)
        chat.say([run(f"sleep 1; {story.PUSH}")], [run(story.PUSH)], [Said("Done.")])
        server.say(session, "Publish the shop.")
        assert str(chat.requests[-1]).count(f"{story.GUARD_OPENING} [r1]") == 1
        server.compact(session)
        server.say(session, "Go on.")
        story.wait_for_index(stage.data)
        for _ in range(2):
            server.say(session, story.ASKED)
            request = str(chat.requests[-1])
            assert request.count(story.RECALL_OPENING) == 1
            assert story.FACT in request.partition(story.RECALL_OPENING)[2]
    # What was added to the output is not taken for the tool's words.
    assert not any(story.GUARD_OPENING in path.read_text() for path in stage.session_files())
    assert stage.log() == ""
