"""Codex beside Claude Code: subagents, and sessions of both in one repository."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from end_to_end.stage import BRIEF as CLAUDE_BRIEF
from end_to_end.stage import OFFER, Stage, injected
from holdfast.clients.codex.client import CLIENT
from support.claude import Lane, ScriptedApi, bash, text
from support.codex import NEWEST, OLDEST, Call, ResponsesApi, Said, context_texts

from .codex_stage import BRIEF, PROMPT, WORK_FACTS, CodexStage, run, work

pytestmark = pytest.mark.client

CATS = "Always paint the cats green. The cat service listens on port 4444."
DOGS = "Always paint the dogs blue. The dog service listens on port 5555."


def spawn(message: str) -> Call:
    return Call("spawn_agent", {"message": message, "agent_type": "explorer"}, "multi_agent_v1")


def test_sessions_of_both_are_listed_searched_shown_and_handed_over(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    with ScriptedApi() as api:
        claude = Stage(tmp_path, api)
        codex = CodexStage(tmp_path, responses)
        codex.holdfast("install", "--client", "codex")
        responses.say(*work(), [Said("Wait for me.")])
        codex.codex.exec(PROMPT)
        # What was left in Codex is offered in Claude Code ...
        api.say("Hello.")
        claude.client.run("What is next?")
        (offer,) = injected(api.last, OFFER)
        assert "Edited last: cart_totals.py" in offer
        # ... and what was left there is offered in Codex.
        (claude.client.project / "broken").touch()
        api.say(*claude.work(), "Later.")
        claude.client.run("Use the lighthouse table for prices.")
        codex.codex.exec("Go on.")
        (back,) = context_texts(responses.requests[-1], OFFER)
        assert "lighthouse" in back or "Wire the cart to checkout" in back
        listed = json.loads(codex.holdfast("status", "--all", "--json"))
        found = json.dumps(listed)
        assert '"codex 0.166.0"' in found or "codex" in found
        searched = codex.holdfast("search", "SQLite")
        assert "single machine" in searched
        _check_show_and_audit(codex)
        assert claude.log() == ""


def test_both_at_work_at_once_in_one_repository_do_not_mix(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    with ScriptedApi() as api, ThreadPoolExecutor(1) as beside:
        claude = Stage(tmp_path, api)
        codex = CodexStage(tmp_path, responses, compact_at=60_000)
        codex.holdfast("install", "--client", "codex")
        api.script(
            Lane.MAIN, lambda _: bash("echo stir") if len(api.main_requests) < 4 else text("ok")
        )

        def work_in_codex() -> None:
            responses.tokens = 20_000
            responses.say(*work(), [Said("Wait for me.")])
            codex.codex.exec(DOGS)
            responses.tokens = 70_000
            codex.codex.resume("Full now.")
            responses.tokens = 9_000
            codex.codex.resume("Go on.")

        with claude.client.session() as live:
            live.ask(CATS)
            # A session that had ended before would be offered here.
            other = beside.submit(work_in_codex)
            live.compact()
            live.ask("go on")
            other.result()
            live.ask("and on")
        (cats,) = injected(api.last, CLAUDE_BRIEF)
        (dogs,) = codex.briefs(responses.requests[-1])
        assert "paint the cats" in cats
        assert "dogs" not in str(api.main_requests)
        assert not any(words in cats for words in WORK_FACTS.values())
        assert [name for name, words in WORK_FACTS.items() if words not in dogs] == []
        assert "cats" not in str(responses.requests)
        assert claude.log() == ""


@pytest.mark.parametrize("version", [NEWEST, OLDEST])
def test_a_subagent_gets_nothing_of_the_main_thread(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    responses.say(*work(), [Said("Now full.")])
    responses.tokens = 20_000
    stage.codex.exec(PROMPT)
    responses.tokens = 70_000
    stage.codex.resume("Full now.")
    responses.tokens = 9_000
    task = "Look at the limiter and report."
    # Whoever of the two asks next is kept busy, so that both come to ask.
    responses.say([Said("I delegate."), spawn(task)], [run("sleep 2")], [run("sleep 2")])
    stage.codex.resume("Delegate it.")
    own = [one for one in responses.requests if _is_subagents(one, task)]
    assert own
    assert [context_texts(one, BRIEF) for one in own] == [[]] * len(own)
    with_brief = [one for one in responses.requests if context_texts(one, BRIEF)]
    assert all(WORK_FACTS["id"] in str(one) for one in with_brief)
    stored = stage.holdfast("status", "--all", "--json")
    assert task not in stored


def _is_subagents(request: dict[str, Any], task: str) -> bool:
    users = [item for item in request["input"] if item.get("role") == "user"]
    return any(task in str(item.get("content")) for item in users)


def _check_show_and_audit(codex: CodexStage) -> None:
    """Both clients' sessions are opened by id, and counted together."""
    first = CLIENT.paths.transcript_session_id(str(codex.codex.rollouts()[0]))
    assert WORK_FACTS["decision"] in " ".join(codex.holdfast("show", first, "--full").split())
    own = sorted((codex.codex.home / ".claude" / "projects").rglob("*.jsonl"))
    told = [codex.holdfast("show", path.stem, "--full") for path in own]
    assert any("lighthouse table" in text for text in told)
    audited = json.loads(codex.holdfast("audit", "--json"))
    assert audited["sessions_read"] == len(codex.codex.rollouts()) + len(own)
