"""The real Claude Code client against a scripted model API on loopback, for tests.

    with ScriptedApi([bash("ls"), text("done")]) as api:
        client = Client(tmp_path, api, settings=recording_hooks_settings(tmp_path / "hooks"))
        with client.session() as live:
            live.ask("look around")
            live.compact("keep the port")
            live.ask("go on")
        assert "the port" in api.last

`model_replies` says what a model may answer, `model_requests` what it was asked, `model_api` plays
a script, `client_process` runs the client, `hook_recording` listens to its hooks,
`compaction_scripts` forces compactions, `terminal` is the client as a person sees it,
`oldest_client` fetches the oldest client we support.
"""

from .client_process import Client, ClientFailed, LiveSession, Run, Turn, newest_client, wait_until
from .compaction_scripts import (
    SMALL_WINDOW,
    compaction_by_error,
    compaction_by_window,
    filling,
    fills_the_window,
    mid_turn_compaction,
    run_subagent,
    subagent_that_compacts,
)
from .hook_recording import EVENTS, Recorded, additional_context, recorded, recording_hooks_settings
from .model_api import ScriptedApi
from .model_replies import Reply, bash, error, prompt_too_long, summary, text, thinking, tool
from .model_requests import Lane, Request, TextAt, last_user_text, message_text, texts, where
from .oldest_client import OLDEST_VERSION, oldest_client
from .terminal import Terminal

__all__ = [
    "EVENTS",
    "OLDEST_VERSION",
    "SMALL_WINDOW",
    "Client",
    "ClientFailed",
    "Lane",
    "LiveSession",
    "Recorded",
    "Reply",
    "Request",
    "Run",
    "ScriptedApi",
    "Terminal",
    "TextAt",
    "Turn",
    "additional_context",
    "bash",
    "compaction_by_error",
    "compaction_by_window",
    "error",
    "filling",
    "fills_the_window",
    "last_user_text",
    "message_text",
    "mid_turn_compaction",
    "newest_client",
    "oldest_client",
    "prompt_too_long",
    "recorded",
    "recording_hooks_settings",
    "run_subagent",
    "subagent_that_compacts",
    "summary",
    "text",
    "texts",
    "thinking",
    "tool",
    "wait_until",
    "where",
]
