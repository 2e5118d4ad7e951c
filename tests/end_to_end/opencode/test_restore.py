"""OpenCode compacts, by itself and by hand, and what was lost stands in every request, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.opencode import ChatApi, Said, Server

from .opencode_stage import PROMPT, WORK_FACTS, OpenCodeStage, work

pytestmark = pytest.mark.client


def check_facts(stage: OpenCodeStage) -> str:
    request = stage.api.requests[-1]
    (told,) = stage.briefs(request)
    assert [name for name, words in WORK_FACTS.items() if words not in told] == []
    assert stage.log() == ""
    return told


def test_a_manual_compaction_is_restored_with_the_next_prompt(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    chat.say(*work(), [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.compact(session)
        server.say(session, "Go on.")
        first = check_facts(stage)
        server.say(session, "And on.")
        assert check_facts(stage) == first  # in every request, and the same
    assert len(chat.compactions) == 1
    stage.client.resume("On, in a new process.")
    assert check_facts(stage) == first
