"""The anthropic package against a scripted API: raw messages, and the API's own compaction."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import pytest

from holdfast.sdk import ChatMemory
from holdfast.sdk.anthropic import BETA, compaction_edit, restore_gap
from support.chat_story import FACTS, RULE, SECRET, STORY, anthropic_messages, filler, missing

SUMMARY = "We work on a bakery."


class ScriptedApi:
    """Answers with a compaction where it is asked for one and has not made it yet."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["content-length"])
                said = json.dumps(api.answer(json.loads(self.rfile.read(size)))).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: object) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.client = anthropic.Anthropic(
            api_key="not-a-key", base_url=f"http://127.0.0.1:{self.server.server_port}"
        )

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        content: list[Any] = [{"type": "text", "text": f"Understood {len(self.asked)}."}]
        reason = "end_turn"
        if "context_management" in body and "compaction" not in json.dumps(body["messages"]):
            content, reason = [{"type": "compaction", "content": SUMMARY}], "compaction"
        return {
            "id": f"msg_{len(self.asked)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 2},
        }


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    made = ScriptedApi()
    yield made
    made.client.close()
    made.server.shutdown()
    made.server.server_close()


def test_raw_messages_compacted_twice(chat: ChatMemory, api: ScriptedApi) -> None:
    messages: Any = [*anthropic_messages(STORY + filler(30)), {"role": "user", "content": "Go on."}]
    for number in range(2):
        messages = chat.compact(messages, 6_000, keep=4_000)
        said = api.client.messages.create(model="m", max_tokens=9, messages=messages)
        more = anthropic_messages(filler(30, 500 * (number + 1)), 500 * (number + 1))
        messages = [*messages, {"role": "assistant", "content": said.content}, *more]
    for request in api.asked:
        assert missing(json.dumps(request)) == []
        assert SECRET not in json.dumps(request)
        assert json.dumps(request).count("<holdfast-state") == 1
    assert [fact.text for fact in chat.facts("rule")] == [RULE]


def test_the_api_s_own_compaction_is_steered_and_what_it_lost_stands_behind_it(
    chat: ChatMemory, api: ScriptedApi
) -> None:
    messages: Any = [*anthropic_messages(STORY + filler(30)), {"role": "user", "content": "Go on."}]
    chat.hear(messages)
    for _ in range(2):
        response = api.client.beta.messages.create(
            model="m",
            max_tokens=9,
            betas=[BETA],
            context_management={"edits": [compaction_edit(chat)]},
            messages=messages,
        )
        messages = restore_gap(chat, messages, response)
    first, second = api.asked
    steered = first["context_management"]["edits"][0]["instructions"]
    for name in ("rule", "request", "open task"):
        assert FACTS[name] in steered
    assert second["messages"][0]["content"][0]["type"] == "compaction"
    assert second["messages"][1] == {"role": "user", "content": "Go on."}
    told = json.dumps(second["messages"][1:])
    for name in ("rule", "open task", "failed attempt", "failing test"):
        assert FACTS[name] in told
    assert SECRET not in told
    assert messages[-1]["content"][0]["text"] == "Understood 2."
    chat.hear(messages)
    assert [fact.text for fact in chat.facts("rule")] == [RULE]
