"""A user with the client, our command line and `holdfast team serve`, all on one data folder.

Owns the set-up: the hooks come from `holdfast install`, as a user puts them in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

import holdfast
from support.claude import Client, Reply, ScriptedApi, newest_client, tool, wait_until
from support.live_service import LiveService

SOURCES = str(Path(holdfast.__file__).parents[1])
SNAPSHOTS = {"agent_type": "compact-snapshot"}

Json = dict[str, Any]


class User:
    def __init__(self, root: Path, api: ScriptedApi, env: Mapping[str, str] | None = None) -> None:
        tools = root / "bin"
        tools.mkdir()
        (tools / "claude").symlink_to(newest_client())
        path = f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        self.client = Client(root, api, env={"PATH": path, **(env or {})})
        self.data = self.client.home / ".local/share/holdfast"
        self.settings = self.client.config_dir / "settings.json"
        self.service = LiveService("", self.data)
        assert self.holdfast("install").returncode == 0

    def __enter__(self) -> User:
        self.service.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.service.kill()

    def holdfast(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            env={**self.client.environment(), "PYTHONPATH": SOURCES, "COLUMNS": "200"},
            cwd=self.client.project,
            capture_output=True,
            text=True,
            check=False,
        )

    def get(self, path: str, /, **parameters: Any) -> Json:
        """`curl` with a query."""
        answer = httpx.get(self.service.url + path, params=parameters, timeout=30)
        assert answer.status_code == 200, answer.text
        told: Json = answer.json()
        return told

    def post(self, path: str, /, **body: Any) -> Json:
        """`curl -X POST -d`."""
        answer = httpx.post(self.service.url + path, json=body, timeout=30)
        assert answer.status_code in (200, 201), answer.text
        told: Json = answer.json()
        return told

    def restore(self, session: str, **more: Any) -> Json:
        return self.post("/api/compact/restore", session_id=session, **more)

    def snapshots(self, session: str = "") -> list[Json]:
        found: list[Json] = self.get("/api/agent-contexts", agent_id=session, **SNAPSHOTS)[
            "contexts"
        ]
        return found

    def triggers(self, session: str) -> list[str]:
        return [one["role_context"]["trigger"] for one in self.snapshots(session)]

    def ended(self, session: str) -> None:
        """The last of a session is kept in the background, after the client is gone."""
        wait_until(lambda: self.get(f"/api/sessions/{session}")["ended"], 20)

    def hook(self, event: str) -> list[str]:
        """The command that the client runs for an event, as it stands in the settings."""
        entry = json.loads(self.settings.read_text())["hooks"][event][0]["hooks"][0]
        return [entry["command"], *entry["args"]]


def write_files(user: User, names: list[str]) -> Reply:
    """Many files in one message, as a model does it."""
    calls = [
        tool("Write", file_path=str(user.client.project / name), content=f"Lorem ipsum {name}\n")
        for name in names
    ]
    whole = calls[0]
    for call in calls[1:]:
        whole = whole + call
    return whole
