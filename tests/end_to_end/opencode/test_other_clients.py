"""OpenCode beside Codex and Claude Code in one repository: sessions of all, and handoffs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from end_to_end.codex.codex_stage import CodexStage
from end_to_end.codex.codex_stage import work as codex_work
from end_to_end.stage import OFFER, Stage, injected
from support.claude import ScriptedApi
from support.codex import NEWEST as CODEX
from support.codex import ResponsesApi, context_texts
from support.codex import Said as CodexSaid
from support.opencode import NEWEST, ChatApi, Said, list_texts

from .opencode_stage import PROMPT, OpenCodeStage, wait_until, work

pytestmark = pytest.mark.client


def test_sessions_of_three_clients_are_listed_searched_and_handed_over(
    tmp_path: Path, chat: ChatApi
) -> None:
    with ScriptedApi() as api, ResponsesApi.running() as responses:
        claude = Stage(tmp_path, api)
        codex = CodexStage(tmp_path, responses)
        codex.holdfast("install", "--client", "codex")
        stage = OpenCodeStage(tmp_path, chat)
        stage.install()
        responses.say(*codex_work(), [CodexSaid("Wait for me.")])
        codex.codex.exec("Build the till.")
        # What was left in Codex is offered in OpenCode ...
        chat.say(*work(), [Said("The receipt comes next.")])
        stage.client.run(PROMPT)
        (offer,) = list_texts(chat.requests[0], OFFER)
        assert "Build the till." in offer
        wait_until(lambda: stage.list_processes() == [])
        # ... what was left there in Claude Code, and in Codex.
        api.say("Hello.")
        claude.client.run("What is next?")
        assert "Write the receipt" in injected(api.last, OFFER)[0]
        codex.codex.exec("And here?")
        assert context_texts(responses.requests[-1], OFFER)
        listed = json.dumps(json.loads(stage.holdfast("status", "--all", "--json")))
        assert [
            n for n in (f"opencode {NEWEST}", f"codex {CODEX}", "claude-code") if n not in listed
        ] == []
        assert "single machine" in stage.holdfast("search", "SQLite")
        audited = json.loads(stage.holdfast("audit", "--json"))
        assert audited["sessions_read"] >= 4
        assert stage.log() == ""
