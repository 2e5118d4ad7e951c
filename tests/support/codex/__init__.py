"""The real Codex CLI, driven by a scripted model on loopback.

`codex_client` installs and runs the client, `responses_api` is the model, `app_server` speaks to
the client for what `codex exec` cannot do: compacting by hand, forks, reverts, the list of hooks.
"""

from .app_server import AppServer
from .codex_client import CODE_MODE_MODEL, NEWEST, OLDEST, Codex, npm_client
from .responses_api import Call, Part, Patch, ResponsesApi, Said, Script, context_texts

__all__ = [
    "CODE_MODE_MODEL",
    "NEWEST",
    "OLDEST",
    "AppServer",
    "Call",
    "Codex",
    "Part",
    "Patch",
    "ResponsesApi",
    "Said",
    "Script",
    "context_texts",
    "npm_client",
]
