"""Gemini CLI's hooks as processes: what each prints, and in which request a brief stands."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.gemini import model_request
from holdfast.fastpath.session_dir import SessionDir
from holdfast.install import launcher as hook_launcher
from holdfast.session import git_query
from hooks.test_imports import FAST_MODULES, bare, imported
from support.hook_process import SCRIPT, Caller, Ran, wait_for

from .chat_writer import ACKNOWLEDGED, CONTEXT, SESSION, ChatSession

SUMMARY = "<state_snapshot>\nWorking on the shop.\n</state_snapshot>"
RULE = "Never use float for money, always use Decimal with two places."


class GeminiCaller(Caller):
    """One session of Gemini CLI in `root`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, SESSION)
        self.chat = ChatSession(root)

    @property
    def transcript(self) -> Path:
        return Path(self.chat.path)

    def hook(self, event: str, **fields: Any) -> Ran:
        return self.feed(f"gemini:{event}", self.payload_bytes(event, **fields))

    def payload_bytes(self, event: str, **fields: Any) -> bytes:
        """As the client writes it: no spaces, nothing escaped that need not be."""
        fields = self.payload(event, timestamp="2026-11-16T10:00:00Z", **fields)
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()

    def request(self, *messages: str, compressed: bool = True) -> list[str]:
        """BeforeModel; gives the texts of the messages that it sends, [] where it is silent."""
        ran = self.hook("BeforeModel", llm_request=request(*messages, compressed=compressed))
        assert (ran.code, ran.err) == (0, "")
        if not ran.out:
            return []
        sent = json.loads(ran.out)["hookSpecificOutput"]["llm_request"]["messages"]
        return [message["content"] for message in sent]


def request(*texts: str, compressed: bool = True) -> dict[str, Any]:
    messages = [{"role": "user", "content": CONTEXT + (SUMMARY if compressed else "")}]
    if compressed:
        messages.append({"role": "model", "content": ACKNOWLEDGED})
    messages += [{"role": "user", "content": text} for text in texts]
    return {"model": "gemini-2.5-pro", "messages": messages, "config": {"temperature": 1}}


@pytest.fixture
def gemini(tmp_path: Path) -> GeminiCaller:
    caller = GeminiCaller(tmp_path)
    caller.chat.prompt(f"Build a shop. {RULE}")
    caller.chat.answer("Begun.", context=9_000)
    return caller


def compress(gemini: GeminiCaller) -> None:
    gemini.chat.compact("Working on the shop.")
    gemini.chat.prompt("Go on.")


def test_a_request_whose_history_was_not_compressed_is_left_alone(gemini: GeminiCaller) -> None:
    assert gemini.request("Go on.", compressed=False) == []
    assert not gemini.data.exists()


def test_the_brief_stands_last_behind_all_messages_as_they_came(gemini: GeminiCaller) -> None:
    compress(gemini)
    sent = gemini.request('Go "on".', "Zürich 🦀\n<b>")
    assert sent[:-1] == [CONTEXT + SUMMARY, ACKNOWLEDGED, 'Go "on".', "Zürich 🦀\n<b>"]
    assert RULE in sent[-1]
    assert gemini.log() == ""


def test_every_request_has_it_until_a_hook_says_it_whose_words_stay(gemini: GeminiCaller) -> None:
    compress(gemini)
    told = gemini.request("Go on.")[-1]
    assert gemini.request("Go on.", "Please continue.")[-1] == told
    kept = gemini.hook("AfterTool", tool_name="read_file").specific
    assert kept == {"hookEventName": "AfterTool", "additionalContext": told}
    assert gemini.request("Go on.", "Please continue.") == []
    assert gemini.hook("AfterTool", tool_name="read_file").out == ""
    assert gemini.hook("BeforeAgent", prompt="And on.").out == ""


def test_a_prompt_brings_it_where_no_tool_did(gemini: GeminiCaller) -> None:
    compress(gemini)
    told = gemini.request("Go on.")[-1]
    kept = gemini.hook("BeforeAgent", prompt="And on.").specific
    assert kept == {"hookEventName": "BeforeAgent", "additionalContext": told}
    assert gemini.request("Go on.", "And on.") == []


def test_a_hook_that_is_killed_while_it_says_it_leaves_it_waiting(gemini: GeminiCaller) -> None:
    compress(gemini)
    told = gemini.request("Go on.")[-1]
    session_dir = SessionDir(str(gemini.data), SESSION)
    gone = Path(session_dir.path, "request-brief.999999")
    Path(session_dir.path, "request-brief").rename(gone)
    assert gemini.request("Go on.")[-1] == told
    assert gemini.hook("AfterTool", tool_name="read_file").context == told
    assert not gone.exists()


def test_a_resumed_history_is_not_restored_a_second_time(gemini: GeminiCaller) -> None:
    """Its messages are put together in another way, so that the request looks new."""
    compress(gemini)
    assert gemini.request("Go on.") != []
    gemini.hook("BeforeAgent", prompt="And on.")
    gemini.chat.resume()
    assert gemini.request("Something that stands first now.") == []


def test_the_next_compression_is_restored_though_its_summary_is_the_same(
    gemini: GeminiCaller,
) -> None:
    compress(gemini)
    assert gemini.request("Go on.") != []
    gemini.hook("AfterTool", tool_name="read_file")
    gemini.chat.prompt("Deploy to port 8123 only.")
    gemini.chat.compact("Working on the shop.")
    gemini.chat.prompt("And on.")
    assert "8123" in gemini.request("And on.")[-1]


def test_who_speaks_of_a_summary_is_not_restored(gemini: GeminiCaller) -> None:
    assert gemini.request("What is a <state_snapshot>?", compressed=False) == []
    assert gemini.log() == ""


def test_a_subagents_request_and_tools_get_nothing(gemini: GeminiCaller) -> None:
    compress(gemini)
    told = gemini.request("Go on.")[-1]
    gemini.hook("BeforeTool", tool_name="invoke_agent")
    own = request("Look at the limiter.")
    own["messages"][0]["content"] = SUMMARY
    assert gemini.hook("BeforeModel", llm_request=own).out == ""
    assert gemini.hook("AfterTool", tool_name="read_file").out == ""
    assert gemini.hook("AfterTool", tool_name="invoke_agent").context == told


def test_of_two_subagents_the_second_gets_nothing_either(gemini: GeminiCaller) -> None:
    compress(gemini)
    assert gemini.request("Go on.") != []
    for _ in range(2):
        gemini.hook("BeforeTool", tool_name="invoke_agent")
    assert gemini.hook("AfterTool", tool_name="invoke_agent").out == ""
    assert gemini.hook("AfterTool", tool_name="read_file").out == ""
    assert gemini.hook("AfterTool", tool_name="invoke_agent").out != ""


def test_a_start_is_silent_and_waits_for_the_first_prompt(gemini: GeminiCaller) -> None:
    """Which is offered what an earlier session left: `end_to_end/gemini/test_install.py`."""
    assert gemini.hook("SessionStart", source="startup").out == ""
    assert "starting" in gemini.session_dir.pending.list_waiting()
    gemini.hook("BeforeAgent", prompt="Hello.")
    assert "starting" not in gemini.session_dir.pending.list_waiting()


def test_a_resume_reads_the_sessions_own_file_and_not_the_one_that_the_start_names(
    gemini: GeminiCaller,
) -> None:
    left = gemini.transcript.with_name("session-2026-11-16T11-30-8d8d8ddd.jsonl")
    left.write_text("".join(gemini.transcript.read_text().splitlines(keepends=True)[:2]))
    stub = gemini.payload("SessionStart", source="resume", transcript_path=str(left))
    assert gemini.feed("gemini:SessionStart", json.dumps(stub).encode()).out == ""
    gemini.hook("BeforeAgent", prompt="Go on.")
    made = gemini.wait_for_brief()
    assert (made.generation, RULE in made.text) == (0, True)


@pytest.mark.parametrize("told", [False, True], ids=["no summary", "told before"])
def test_a_silent_request_takes_the_fast_path(gemini: GeminiCaller, told: bool) -> None:
    compress(gemini)
    if told:
        gemini.request("Go on.")
        gemini.hook("AfterTool", tool_name="read_file")
    stdin = gemini.payload_bytes("BeforeModel", llm_request=request("Go on.", compressed=told))
    words = hook_launcher.build_arguments(str(SCRIPT), "gemini:BeforeModel")
    found = imported(words, stdin, gemini.environment()) - bare()
    assert found - FAST_MODULES == set()
    assert "_json" not in found or told


def test_a_tool_takes_the_fast_path_and_its_work_goes_on_beside_it(gemini: GeminiCaller) -> None:
    stdin = gemini.payload_bytes("AfterAgent", prompt="x", prompt_response="y")
    assert gemini.feed("gemini:AfterAgent", stdin).out == ""
    assert RULE in gemini.wait_for_brief().text


def test_requests_of_one_compression_have_one_key_and_of_two_not() -> None:
    def key(*texts: str) -> str:
        raw = json.dumps({"llm_request": request(*texts)}, separators=(",", ":")).encode()
        return model_request.compute_key(raw)

    assert key("Go on.") == key("Go on.", "And on.") == key("Go on.", "And on.", 'x"},{"role":"y')
    assert key("Go on.") != key("And on.")


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"<state_snapshot>", b'{"llm_request":', b"[1]", b"\xff<state_snapshot>"]
)
def test_anything_on_stdin_is_survived(gemini: GeminiCaller, raw: bytes) -> None:
    for event in ("BeforeModel", "BeforeAgent", "AfterTool", "SessionStart", "Nonsense"):
        ran = gemini.feed(f"gemini:{event}", raw)
        assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_git_is_in_the_brief(gemini: GeminiCaller) -> None:
    """Asked by the hook at the end of a turn, which nobody waits for."""
    subprocess.run(["git", "init", "-q", "-b", "topic/tills"], cwd=gemini.root, check=True)
    gemini.hook("AfterAgent", prompt_response="Begun.")
    wait_for(Path(gemini.session_dir.path) / git_query.FILE)
    compress(gemini)
    assert "topic/tills" in gemini.request("Go on.")[-1]
