"""Where Codex keeps things on disk.

Owns the layout below the client's folder, and the variable that moves it; the environment is
handed in. Opens a rollout for its first bytes alone: its name does not tell a subagent's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from holdfast.clients.codex import rollout_files
from holdfast.files import read_from

# Where a rollout says whose it is; the model's instructions come behind it.
_HEAD_BYTES = 2048
_SUBAGENT_MARKS = (b'"thread_source":"subagent"', b'"source":{"subagent"')


def config_dir(environ: Mapping[str, str], home: str) -> str:
    """The client's folder; "" where neither the variable nor a home says."""
    return environ.get("CODEX_HOME") or (os.path.join(home, ".codex") if home else "")


def project_dir(environ: Mapping[str, str], cwd: str) -> str:
    """Where the client was started: it starts hooks and tools there."""
    return cwd


def agent_session_id(environ: Mapping[str, str]) -> str:
    """The session whose agent runs this process, "" outside of one."""
    return environ.get("CODEX_THREAD_ID", "")


def sessions_dir(config: str, data: str = "") -> str:
    """The folder below which the rollouts of all projects are."""
    return os.path.join(config, rollout_files.SESSION_FOLDERS[0])


def find_transcript(config: str, session: str, data: str = "") -> str | None:
    """The newest file of a thread, wherever it was put."""
    if not session or session != os.path.basename(session):
        return None
    found = []
    for folder in rollout_files.SESSION_FOLDERS:
        for path in rollout_files.iterate_rollouts(os.path.join(config, folder)):
            name = rollout_files.parse_name(path)
            if name is not None and name.thread == session:
                found.append((name.file, path))
    return max(found)[1] if found else None


def has_own_name(path: str) -> bool:
    return rollout_files.parse_name(path) is not None


def is_transcript(path: str) -> bool:
    """Whether this is a session's file, not a subagent's."""
    if rollout_files.parse_name(path) is None:
        return False
    head = read_from(path, 0, _HEAD_BYTES)
    return not any(mark in head for mark in _SUBAGENT_MARKS)


def transcript_session_id(transcript: str) -> str:
    """The thread that a rollout's name gives."""
    name = rollout_files.parse_name(transcript)
    if name is not None:
        return name.thread
    return os.path.basename(transcript).removesuffix(".gz").removesuffix(".jsonl")
