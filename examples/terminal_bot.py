"""A bot on the terminal that never runs out of context.

    python examples/terminal_bot.py              with your Claude login or ANTHROPIC_API_KEY
    python examples/terminal_bot.py --scripted   with a model in this file, to see it work

Type a line, get an answer; an empty line or Ctrl-D ends it. Started again, it goes on.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, TextBlock

from holdfast.sdk import Keeper
from holdfast.sdk.claude import Chat


def tell_user(reset):
    print(
        f"  (the context was at {reset.before:,} tokens: started afresh in"
        f" {reset.seconds * 1000:.0f} ms, with {len(reset.brief):,} characters of what we know)"
    )


async def talk(options, keeper, chat_id):
    async with Chat(options, keeper.chat(chat_id), on_reset=tell_user) as chat:
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            async for message in chat.ask(line):
                if isinstance(message, AssistantMessage):
                    for block in message.content:
                        if isinstance(block, TextBlock):
                            print("bot:", block.text, flush=True)


class ScriptedApi(BaseHTTPRequestHandler):
    """A model that repeats what it was told first, and says that its context fills up."""

    answers = 0

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        stated = [
            line.strip('- "')
            for line in json.dumps(request["messages"]).replace("\\n", "\n").splitlines()
            if "Never" in line
        ]
        if request.get("tools"):
            ScriptedApi.answers += 1
        known = stated[0][-60:] if stated else "nothing"
        # By what is sent, not by a count of requests: the client makes some of its own in between.
        turns = sum(said["role"] == "assistant" for said in request["messages"])
        usage = {"input_tokens": 40_000 * turns + 1_000, "output_tokens": 9}
        text = f"Answer {ScriptedApi.answers}. I was told: {known}"
        message = {"id": f"msg_{ScriptedApi.answers}", "type": "message", "role": "assistant"}
        message |= {"model": "scripted", "stop_sequence": None, "usage": usage}
        block = {"type": "text", "text": ""}
        events = [
            {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": text},
            },
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 9},
            },
            {"type": "message_stop"},
        ]
        if request.get("stream"):
            kind = "text/event-stream"
            sent = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
        else:
            kind = "application/json"
            content = [{"type": "text", "text": text}]
            sent = json.dumps(message | {"content": content, "stop_reason": "end_turn"})
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(sent.encode())))
        self.end_headers()
        self.wfile.write(sent.encode())

    def log_message(self, *_):
        pass


def scripted_options():
    """A client with a home of its own that talks to this process alone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedApi)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = tempfile.mkdtemp(prefix="holdfast-bot-")
    environment = {
        "HOME": home,
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return ClaudeAgentOptions(
        env=environment, cwd=home, model="claude-sonnet-4-5", setting_sources=[]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scripted", action="store_true", help="a model that needs no key")
    parser.add_argument("--chat", default="terminal", help="the name of the conversation")
    parser.add_argument("--database", default="", help="a file or a postgresql:// URL")
    chosen = parser.parse_args()
    options = scripted_options() if chosen.scripted else ClaudeAgentOptions(cwd=os.getcwd())
    with Keeper(chosen.database) as keeper:
        asyncio.run(talk(options, keeper, chosen.chat))


if __name__ == "__main__":
    main()
