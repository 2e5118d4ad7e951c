"""Records sessions with the real client: `python -m support.claude.record_sample [NAME ...]`.

Plays a story in a temporary project and writes the client's transcript with this machine's paths
replaced: `shop` to tests/support/demonstration/, the others to tests/brief/recorded/. Run it
from `tests/` when the client's format moves on.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Protocol

from . import backup_story, sample_story, station_story
from .client_process import Client
from .compaction_scripts import SMALL_WINDOW
from .model_api import ScriptedApi
from .model_replies import Reply

REPOSITORY = Path(__file__).parents[3]
RECORDED = REPOSITORY / "tests" / "brief" / "recorded"
TARGETS = {
    "shop": REPOSITORY / "tests" / "support" / "demonstration" / "session.jsonl",
    "station": RECORDED / "station.jsonl",
    "backup": RECORDED / "backup.jsonl",
}


class Story(Protocol):
    """What a module of a story holds."""

    PROJECT: dict[str, str]

    def turns(self, root: Path) -> list[tuple[str, list[Reply]]]: ...

    def summaries(self) -> list[Reply]: ...


STORIES: dict[str, Story] = {
    "shop": sample_story,
    "station": station_story,
    "backup": backup_story,
}

HOME_AS = "/home/dev"
PYTHON_AS = "/usr"

# Copies of what was sent to the model, prompts and tool descriptions included: 600 KB that
# say nothing about the session.
REQUEST_COPIES = frozenset({"api-request", "api-request-blob", "api-request-shape"})
PROMPT_ATTACHMENTS = frozenset(
    {
        "agent_listing_delta",
        "environment",
        "prompt_snapshot",
        "remote_session_change",
        "skill_listing",
    }
)

IDENTITY = {
    "GIT_AUTHOR_NAME": "Dev",
    "GIT_AUTHOR_EMAIL": "dev@example.com",
    "GIT_COMMITTER_NAME": "Dev",
    "GIT_COMMITTER_EMAIL": "dev@example.com",
    "USER": "dev",
    "LOGNAME": "dev",
}


def record(root: Path, name: str) -> str:
    """Play a story under `root` and return the transcript, as it may be published."""
    story = STORIES[name]
    with ScriptedApi(summaries=story.summaries()) as api, taken_port(sample_story.TAKEN_PORT):
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        client = Client(root, api, env={**IDENTITY, **SMALL_WINDOW, "PATH": path})
        make_project(client.project, client.environment(), story.PROJECT)
        with client.session() as live:
            for prompt, replies in story.turns(client.project):
                api.say(*replies)
                live.ask(prompt)
        return published(client.transcript_path(live.session_id).read_text(), client, name)


def make_project(folder: Path, env: dict[str, str], files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run(["git", *words], cwd=folder, env=env, check=True)


def taken_port(port: int) -> socket.socket:
    """Somebody else's server, for the story's dead end; it may be running already."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError:
        listener.close()
    return listener


def published(transcript: str, client: Client, name: str) -> str:
    """The transcript without the client's own prompts and with made-up folders."""
    folders = [
        (str(client.project), f"{HOME_AS}/{name}"),
        (str(client.home), HOME_AS),
        (str(client.root), HOME_AS),
        (sys.prefix, PYTHON_AS),
        (sys.base_prefix, PYTHON_AS),
    ]
    for real, shown in folders:
        transcript = transcript.replace(real, shown)
        # The client names a session's folder after the project's path.
        transcript = transcript.replace(as_folder_name(real), as_folder_name(shown))
    transcript = re.sub(r"/tmp/claude-\d+/", "/tmp/claude-1000/", transcript)
    rows = (json.loads(line) for line in transcript.splitlines())
    kept = [without_prompts(row) for row in rows if row["type"] not in REQUEST_COPIES]
    return "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in kept)


def without_prompts(row: dict[str, Any]) -> dict[str, Any]:
    """An attachment of the client's own prompt text stays as a link of the chain, emptied."""
    attachment = row.get("attachment") or {}
    if attachment.get("type") not in PROMPT_ATTACHMENTS:
        return row
    emptied = {**row, "attachment": {"type": attachment["type"]}}
    emptied.pop("rendered", None)
    return emptied


def as_folder_name(path: str) -> str:
    return re.sub(r"[^a-zA-Z0-9]", "-", path)


def main(names: list[str]) -> None:
    for name in names or list(STORIES):
        with tempfile.TemporaryDirectory() as folder:
            transcript = record(Path(folder).resolve(), name)
        target = TARGETS[name]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(transcript)
        sys.stdout.write(f"{target}: {transcript.count(chr(10))} rows, {len(transcript)} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
