"""The real Gemini CLI, driven by a scripted model on loopback.

`gemini_client` installs and runs the client, `gemini_api` is the model, `gemini_terminal` types
into the client's own screen for what `gemini -p` cannot do: compressing by hand.
"""

from .gemini_api import Call, GeminiApi, Said, context_texts
from .gemini_client import NEWEST, Gemini, npm_client
from .gemini_terminal import GeminiTerminal

__all__ = [
    "NEWEST",
    "Call",
    "Gemini",
    "GeminiApi",
    "GeminiTerminal",
    "Said",
    "context_texts",
    "npm_client",
]
