"""Where Gemini CLI keeps things on disk, its settings, and when it compresses.

Owns the layout below the client's folder, and the variable that moves it; the environment is handed
in. A chat's name holds the first eight characters of its session's id alone: the whole one is read
from its first row. A session that is resumed leaves a second file behind, of which no message
comes: it is not a transcript.

It compresses before a request when the last one had a share of the model's limit, which is
1,048,576 tokens for all of Google's Gemini models: half of it, or what `model.compressionThreshold`
says. Read from the source of 0.61, and seen with a threshold that was set low.
"""

import os
import re
from collections.abc import Mapping

from holdfast.clients import client_protocol
from holdfast.files import file_size
from holdfast.lazy_regex import lazy_compile_bytes
from holdfast.transcript.reader import TranscriptError, read_head

_SESSION_ID = lazy_compile_bytes(rb'\{"sessionId":"([^"\\]{1,200})"')
_SUBAGENT_MARK = b'"kind":"subagent"'
_HEAD_BYTES = 1024
# Before its first message a chat has the context of the session: the names of some hundred files.
_OPENING_BYTES = 256 * 1024
_MESSAGE = b'\n{"id":"'
GEMMA_TOKENS = 256_000


class GeminiPaths(client_protocol.ClientPaths):
    FOLDER, SESSIONS = ".gemini", "tmp"
    PROJECT_VARIABLE, SESSION_VARIABLE = "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID"
    # Below the project's short name, which the client gives out: a subagent's chats are one deeper.
    TRANSCRIPTS = os.path.join("*", "chats", "session-*-SESSION.jsonl")
    OWN_NAME = r"session-\d{4}-\d\d-\d\dT\d\d-\d\d-([0-9a-zA-Z]{8})"

    def config_dir(self, environ: Mapping[str, str], home: str) -> str:
        home = environ.get("GEMINI_CLI_HOME") or home
        return super().config_dir(environ, home)

    def find_transcript(self, config: str, session: str, data: str) -> str | None:
        """The longest is the one with messages."""
        found = self.list_transcripts(config, session[:8], data) if session else []
        found = [path for path in found if self.transcript_session_id(path) == session]
        return max(found, key=file_size, default=None)

    def is_transcript(self, path: str) -> bool:
        """Not a subagent's, and not what a resume left."""
        head = _read_head(path, _OPENING_BYTES) if self.has_own_name(path) else b""
        return _SUBAGENT_MARK not in head[:_HEAD_BYTES] and _MESSAGE in head

    def transcript_session_id(self, transcript: str) -> str:
        """The id that a chat's first row gives; without one, what its name has of it."""
        if found := _SESSION_ID.match(_read_head(transcript, _HEAD_BYTES)):
            return found[1].decode("utf-8", "replace")
        named = re.search(self.OWN_NAME, transcript)
        return named[1] if named else super().transcript_session_id(transcript)


def _read_head(path: str, most: int) -> bytes:
    try:
        return read_head(path, most)
    except TranscriptError:
        return b""


class GeminiWindow(client_protocol.ContextWindow):
    """The client has a table of limits: a window is not guessed from the model's name."""

    DEFAULT_TOKENS, SHARE = 1_048_576, 0.5
    SHARE_SETTING = "model.compressionThreshold"

    def compaction_point(
        self, chosen: client_protocol.WindowConfig, model: client_protocol.RunningModel
    ) -> client_protocol.CompactionPoint:
        by_name = GEMMA_TOKENS if model.name.startswith("gemma-4") else self.DEFAULT_TOKENS
        return super().compaction_point(chosen, model._replace(window=model.window or by_name))


class GeminiClient(client_protocol.Client):
    """A chat begins with the row that names its session and its project."""

    name = "gemini"
    title = "Gemini CLI"
    paths = GeminiPaths()
    context_window = GeminiWindow(paths)
    installer = "holdfast.install.gemini:INSTALLER"
    opening, opening_holds = b'{"sessionId":"', b'"projectHash":'


CLIENT = GeminiClient()
