"""Codex goes on in a session whose compaction was undone."""

import json
from pathlib import Path

import pytest

from support.codex import NEWEST, OLDEST, ResponsesApi, Said

from .codex_stage import PROMPT, WORK_FACTS, CodexStage, work

pytestmark = pytest.mark.client


@pytest.mark.parametrize("version", [NEWEST, OLDEST])
def test_codex_resumes_a_session_as_it_was_before_its_compaction(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    responses.say(*work())
    responses.tokens = 20_000
    stage.codex.exec(PROMPT)
    responses.tokens = 70_000
    stage.codex.resume("Full now.")
    responses.tokens = 9_000
    responses.say([Said("On.")])
    stage.codex.resume("Go on.")
    assert len(responses.compactions) == 1
    (rollout,) = stage.codex.rollouts()
    before = rollout.read_bytes()
    session = rollout.stem[-36:]
    made = json.loads(stage.holdfast("session", "uncompact", session, "--json"))
    assert made["resume"] == f"codex resume {made['session']}"
    responses.say([Said("On.")])
    stage.codex.exec("resume", made["session"], "What was the order?")
    told = json.dumps(responses.requests[-1])
    assert [name for name, words in WORK_FACTS.items() if words not in told] == []
    assert responses.summary not in told
    assert stage.briefs(responses.requests[-1]) == []
    assert rollout.read_bytes() == before
