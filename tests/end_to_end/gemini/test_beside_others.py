"""Gemini CLI beside the other clients: sessions of all four in one repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from end_to_end.codex.codex_stage import CodexStage
from end_to_end.opencode.opencode_stage import OpenCodeStage, wait_until
from end_to_end.opencode.opencode_stage import work as opencode_work
from end_to_end.stage import OFFER, Stage, injected
from holdfast.clients.gemini.client import CLIENT
from support.claude import ScriptedApi
from support.codex import ResponsesApi
from support.codex import Said as CodexSaid
from support.codex import context_texts as codex_texts
from support.gemini import GeminiApi, Said, context_texts
from support.opencode import ChatApi, list_texts
from support.opencode import Said as OpenCodeSaid

from .gemini_stage import FACTS, PROMPT, GeminiStage, work

pytestmark = pytest.mark.client


def test_sessions_of_four_clients_are_listed_searched_shown_and_handed_over(
    tmp_path: Path, model: GeminiApi
) -> None:
    with (
        ScriptedApi() as api,
        ResponsesApi.running() as responses,
        ChatApi.running() as chat,
    ):
        claude, codex = Stage(tmp_path, api), CodexStage(tmp_path, responses)
        opencode, gemini = OpenCodeStage(tmp_path, chat), GeminiStage(tmp_path, model)
        codex.holdfast("install", "--client", "codex")
        opencode.install()
        gemini.install()
        model.say(*work()[:-1], [Said("Wait for me.")])
        gemini.gemini.start(PROMPT)
        # What was left in Gemini CLI is offered in Claude Code ...
        api.say("Hello.")
        claude.client.run("What is next?")
        (offer,) = injected(api.last, OFFER)
        assert "cart_totals.py" in offer
        # ... what is left there in Codex ...
        (claude.client.project / "broken").touch()
        api.say(*claude.work(), "Later.")
        claude.client.run("Use the lighthouse table for prices.")
        responses.say([CodexSaid("Not yet.")])
        codex.codex.exec("Go on.")
        (there,) = codex_texts(responses.requests[0], OFFER)
        assert "lighthouse" in there or "Wire the cart to checkout" in there
        # ... what is left there in OpenCode ...
        chat.say(*opencode_work(), [OpenCodeSaid("The receipt comes next.")])
        opencode.client.run("Go on with the receipts.")
        assert "Not yet." in list_texts(chat.requests[0], OFFER)[0]
        wait_until(lambda: opencode.list_processes() == [])
        # ... and what is left there in Gemini CLI.
        gemini.gemini.start("Go on.")
        (back,) = context_texts(model.requests[-1], OFFER)
        assert "Write the receipt" in back
        others = len(codex.codex.rollouts()) + len(opencode.session_files())
        check_commands(gemini, claude, others)
        assert claude.log() == ""


def check_commands(gemini: GeminiStage, claude: Stage, others: int) -> None:
    """The sessions of all are listed, searched, opened by id, and counted together."""
    listed = gemini.holdfast("status", "--all", "--json")
    for client in ("claude-code", "codex", "opencode", "gemini"):
        assert client in listed
    assert "single machine" in gemini.holdfast("search", "SQLite")
    ids = [CLIENT.paths.transcript_session_id(str(path)) for path in gemini.gemini.chats()]
    shown = [" ".join(gemini.holdfast("show", id_, "--full").split()) for id_ in ids]
    assert any(FACTS["decision"] in text for text in shown)
    own = sorted((claude.client.home / ".claude" / "projects").rglob("*.jsonl"))
    audited = json.loads(gemini.holdfast("audit", "--json"))
    assert audited["sessions_read"] == len(set(ids)) + others + len(own)
