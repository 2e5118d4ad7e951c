"""The real Gemini CLI in a home and a project of its own, with an empty environment.

Owns where it comes from (npm, into the user's cache, once), its settings and its process.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from support.npm_client import newest, npm_program

from .gemini_api import GeminiApi

PACKAGE = "@google/gemini-cli"
NEWEST = newest(PACKAGE, "0.61.0")
MODEL = "gemini-2.5-pro"
MODEL_TOKENS = 1_048_576
TURN_SECONDS = 120


def npm_client(version: str = NEWEST) -> Path:
    """The client, fetched by npm once; a test without npm is skipped."""
    return npm_program(PACKAGE, version, "gemini")


class Gemini:
    def __init__(self, root: Path, api: GeminiApi, *, compact_at: int | None = None) -> None:
        self.binary = npm_client()
        self.api = api
        self.home, self.project = root / "home", root / "project"
        self.config.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        self.settings: dict[str, Any] = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "ui": {"hideTips": True, "hideBanner": True},
            "model": {"name": MODEL},
        }
        if compact_at is not None:
            self.settings["model"]["compressionThreshold"] = compact_at / MODEL_TOKENS
        self.save_settings()

    @property
    def config(self) -> Path:
        return self.home / ".gemini"

    def save_settings(self) -> None:
        text = "// The user's own words.\n" + json.dumps(self.settings, indent=2) + "\n"
        (self.config / "settings.json").write_text(text)

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "GEMINI_API_KEY": "not-a-key",
            "GOOGLE_GEMINI_BASE_URL": self.api.url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "NO_BROWSER": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def prompt(self, *words: str) -> str:
        """One prompt in one process."""
        ended = subprocess.run(
            [str(self.binary), "--skip-trust", "--yolo", "-o", "stream-json", *words],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TURN_SECONDS,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
        return ended.stdout + ended.stderr

    def start(self, prompt: str) -> str:
        return self.prompt("-p", prompt)

    def resume(self, prompt: str) -> str:
        return self.prompt("--resume", "latest", "-p", prompt)

    def run(self, *words: str) -> str:
        """Another command of the client, such as `extensions list`; both its streams."""
        ended = subprocess.run(
            [str(self.binary), *words],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TURN_SECONDS,
            check=True,
        )
        return ended.stdout + ended.stderr

    def chats(self) -> list[Path]:
        return sorted((self.config / "tmp").glob("*/chats/session-*.jsonl"))
