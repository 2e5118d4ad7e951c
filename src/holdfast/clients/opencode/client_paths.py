"""Where OpenCode keeps its configuration, and where the sessions are that we write down of it.

Owns both layouts; the environment is handed in. The client's own sessions are in a database that
is never opened here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from holdfast.clients.opencode.fastpath.hook_client import SESSION_FILE
from holdfast.fastpath.session_dir import SessionDir

# What the plugin puts into the environment of the agent's commands.
SESSION_VARIABLE = "HOLDFAST_OPENCODE_SESSION"


def config_dir(environ: Mapping[str, str], home: str) -> str:
    """The client's folder; "" where neither a variable nor a home says."""
    shared = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    return os.path.join(shared, "opencode") if shared else ""


def project_dir(environ: Mapping[str, str], cwd: str) -> str:
    return cwd


def agent_session_id(environ: Mapping[str, str]) -> str:
    """The session whose agent runs this process, "" outside of one."""
    return environ.get(SESSION_VARIABLE, "")


def sessions_dir(config: str, data: str) -> str:
    return os.path.join(data, "sessions")


def find_transcript(config: str, session: str, data: str) -> str | None:
    path = f"{SessionDir(data, session).path}/{SESSION_FILE}"
    return path if session and os.path.isfile(path) else None


def has_own_name(path: str) -> bool:
    return _name(path) == SESSION_FILE


def is_transcript(path: str) -> bool:
    return _name(path) == SESSION_FILE


def transcript_session_id(transcript: str) -> str:
    """The name of the folder that it is in."""
    return os.path.basename(os.path.dirname(transcript))


def _name(path: str) -> str:
    return os.path.basename(path).removesuffix(".gz")
