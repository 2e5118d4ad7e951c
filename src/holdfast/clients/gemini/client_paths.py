"""Where Gemini CLI keeps things on disk.

Owns the layout below the client's folder, and the variable that moves it; the environment is
handed in. A chat's name holds the first eight characters of its session's id alone: the whole one
is read from its first row. A session that is resumed leaves a second file behind, of which no
message comes: it is no transcript.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping

from holdfast.files import file_size
from holdfast.transcript.reader import TranscriptError, read_head

# Below the project's short name, which the client gives out: a subagent's chats are one deeper.
_CHATS = os.path.join("*", "chats")
_NAME = re.compile(r"session-\d{4}-\d\d-\d\dT\d\d-\d\d-([0-9a-zA-Z]{8})\.jsonl(?:\.gz)?")
_SESSION_ID = re.compile(rb'\{"sessionId":"([^"\\]{1,200})"')
_SUBAGENT_MARK = b'"kind":"subagent"'
_HEAD_BYTES = 1024
# Before its first message a chat has the context of the session: the names of some hundred files.
_OPENING_BYTES = 256 * 1024
_MESSAGE = b'\n{"id":"'


def config_dir(environ: Mapping[str, str], home: str) -> str:
    """The client's folder; "" where neither the variable nor a home says."""
    home = environ.get("GEMINI_CLI_HOME") or home
    return os.path.join(home, ".gemini") if home else ""


def project_dir(environ: Mapping[str, str], cwd: str) -> str:
    """Where the client was started: it starts hooks and tools there."""
    return environ.get("GEMINI_PROJECT_DIR") or cwd


def agent_session_id(environ: Mapping[str, str]) -> str:
    """The session whose agent runs this process, "" outside of one."""
    return environ.get("GEMINI_SESSION_ID", "")


def sessions_dir(config: str, data: str) -> str:
    """The folder below which the chats of all projects are."""
    return os.path.join(config, "tmp")


def find_transcript(config: str, session: str, data: str) -> str | None:
    """The chat of this id, whichever project's it is; the longest is the one with messages."""
    if not session or session != os.path.basename(session):
        return None
    name = f"session-*-{glob.escape(session[:8])}.jsonl"
    pattern = os.path.join(glob.escape(sessions_dir(config, data)), _CHATS, name)
    found = [path for path in glob.glob(pattern) if transcript_session_id(path) == session]
    return max(found, key=file_size) if found else None


def has_own_name(path: str) -> bool:
    return _NAME.fullmatch(os.path.basename(path)) is not None


def is_transcript(path: str) -> bool:
    """Whether this is a session's file, not a subagent's, and not what a resume left."""
    if not has_own_name(path):
        return False
    try:
        head = read_head(path, _OPENING_BYTES)
    except TranscriptError:
        return False
    return _SUBAGENT_MARK not in head[:_HEAD_BYTES] and _MESSAGE in head


def transcript_session_id(transcript: str) -> str:
    """The id that a chat's first row gives; without one, what its name has of it."""
    try:
        head = read_head(transcript, _HEAD_BYTES)
    except TranscriptError:
        head = b""
    found = _SESSION_ID.match(head)
    if found is not None:
        return found[1].decode("utf-8", "replace")
    named = _NAME.fullmatch(os.path.basename(transcript))
    if named is not None:
        return named[1]
    return os.path.basename(transcript).removesuffix(".gz").removesuffix(".jsonl")
