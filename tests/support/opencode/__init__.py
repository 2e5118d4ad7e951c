"""The real OpenCode, driven by a scripted model on loopback.

`opencode_client` installs and runs the client, `chat_api` is the model, `server` speaks to a
running client for what `opencode run` cannot do: compacting by hand, forks, reverts.
"""

from .chat_api import Call, ChatApi, Said, list_texts
from .opencode_client import KILO_NEWEST, NEWEST, Kilo, OpenCode, npm_client
from .server import Server

__all__ = [
    "KILO_NEWEST",
    "NEWEST",
    "Call",
    "ChatApi",
    "Kilo",
    "OpenCode",
    "Said",
    "Server",
    "list_texts",
    "npm_client",
]
