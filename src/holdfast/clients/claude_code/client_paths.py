"""Where Claude Code keeps things on disk.

Owns the layout below the client's configuration folder, and the variables that move it; the
environment is handed in. Must not open the files it names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

# The client's own cut for long project paths; the rest is replaced by a hash of its making.
MAX_PROJECT_KEY_CHARS = 200


def config_dir(environ: Mapping[str, str], home: str) -> str:
    """The folder of the user's configuration; "" where neither the variable nor a home says."""
    return environ.get("CLAUDE_CONFIG_DIR") or (os.path.join(home, ".claude") if home else "")


def project_dir(environ: Mapping[str, str], cwd: str) -> str:
    """The client's idea of the project: where it was started."""
    return environ.get("CLAUDE_PROJECT_DIR") or cwd


def agent_session_id(environ: Mapping[str, str]) -> str:
    """The session whose agent runs this process, "" outside of one."""
    return environ.get("CLAUDE_CODE_SESSION_ID", "")


def sessions_dir(config: str, data: str = "") -> str:
    """The folder below which the transcripts of all projects are."""
    return os.path.join(config, "projects")


def has_own_name(path: str) -> bool:
    """An id and an ending: others do the same."""
    return False


def is_transcript(path: str) -> bool:
    """Whether a file's name and place say that it is a session's, not a subagent's."""
    parts = path.replace("\\", "/").split("/")
    if not parts[-1].endswith((".jsonl", ".jsonl.gz")):
        return False
    return not parts[-1].startswith("agent-") and "subagents" not in parts[:-1]


def project_key(cwd: str) -> str:
    """The folder name of a project: every character but ASCII letters and digits is a dash."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in cwd)


def transcripts_dir(config: str, cwd: str) -> str:
    """Where a project's transcripts are; for a long path, the folder that begins like it."""
    projects = sessions_dir(config)
    key = project_key(cwd)
    exact = os.path.join(projects, key)
    if len(key) <= MAX_PROJECT_KEY_CHARS or os.path.isdir(exact):
        return exact
    cut = key[:MAX_PROJECT_KEY_CHARS]
    similar = [name for name in _names(projects) if name.startswith(cut)]
    return os.path.join(projects, similar[0]) if len(similar) == 1 else exact


def transcript_path(config: str, cwd: str, session: str) -> str:
    return os.path.join(transcripts_dir(config, cwd), f"{session}.jsonl")


def find_transcript(config: str, session: str, data: str = "") -> str | None:
    """A session's transcript in whichever project it is; the newest if there are several."""
    if not session or session != os.path.basename(session):
        return None
    projects = sessions_dir(config)
    found = []
    for name in _names(projects):
        path = os.path.join(projects, name, f"{session}.jsonl")
        try:
            found.append((os.stat(path).st_mtime, path))
        except OSError:
            continue
    return max(found)[1] if found else None


def transcript_session_id(transcript: str) -> str:
    """The session id that a transcript's name gives."""
    name = os.path.basename(transcript)
    return name.removesuffix(".gz").removesuffix(".jsonl")


def session_files_dir(transcript: str) -> str:
    """What the client keeps beside a transcript: subagents, large tool results."""
    return os.path.join(os.path.dirname(transcript), transcript_session_id(transcript))


def list_subagent_transcripts(transcript: str) -> list[str]:
    """The transcripts of the session's subagents, those of workflows included."""
    found = []
    for folder, _, names in os.walk(os.path.join(session_files_dir(transcript), "subagents")):
        found += [
            os.path.join(folder, name)
            for name in names
            if name.startswith("agent-") and name.endswith(".jsonl")
        ]
    return sorted(found)


def tasks_dir(config: str, task_list: str) -> str:
    """The task files of a list: a session id, a team's name, or one the user set."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "-" for c in task_list)
    return os.path.join(config, "tasks", name)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
