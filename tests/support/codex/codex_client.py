"""The real Codex CLI in a home and a project of its own, with an empty environment.

Owns where it comes from (npm, into the user's cache, once), its configuration and its process.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.npm_client import newest, npm_program

from .responses_api import ResponsesApi

PACKAGE = "@openai/codex"
NEWEST = newest(PACKAGE, "0.169.0")
OLDEST = "0.150.1"  # the first seen to tell hooks of compactions
MODEL = "gpt-5.5"
CODE_MODE_MODEL = "gpt-5.6-sol"  # the client offers it one tool, which runs a script
TURN_SECONDS = 90


def npm_client(version: str = NEWEST) -> Path:
    """The client, fetched by npm once; a test without npm is skipped."""
    return npm_program(PACKAGE, version, "codex")


class Codex:
    def __init__(
        self,
        root: Path,
        api: ResponsesApi,
        *,
        version: str = NEWEST,
        encrypted: bool = False,
        compact_at: int | None = None,
        model: str = MODEL,
    ) -> None:
        self.binary = npm_client(version)
        self.api = api
        self.home, self.project = root / "home", root / "project"
        self.config.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        limit = f"model_auto_compact_token_limit = {compact_at}\n" if compact_at else ""
        # OpenAI's own provider has the summary made, and sealed, by its service.
        if encrypted:
            provider, table = f'openai_base_url = "{api.url}"\n', ""
        else:
            provider = 'model_provider = "scripted"\n'
            table = (
                f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{api.url}"\n'
                'wire_api = "responses"\n'
            )
        text = f'# The user\'s own words.\nmodel = "{model}"\n{provider}{limit}\n{table}'
        (self.config / "config.toml").write_text(text)

    @property
    def config(self) -> Path:
        return self.home / ".codex"

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "OPENAI_API_KEY": "not-a-key",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def exec(self, *words: str, extra: Sequence[str] = ()) -> list[dict[str, Any]]:
        """One prompt in one process: `exec PROMPT` or `exec resume --last PROMPT`."""
        ended = subprocess.run(
            [
                str(self.binary),
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-hook-trust",
                "--dangerously-bypass-approvals-and-sandbox",
                "--json",
                *extra,
                *words,
            ],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TURN_SECONDS,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
        return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]

    def resume(self, prompt: str) -> list[dict[str, Any]]:
        return self.exec("resume", "--last", prompt)

    def run(self, *words: str) -> str:
        """Another command of the client, such as `mcp list`."""
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
        return ended.stdout

    def rollouts(self) -> list[Path]:
        return sorted((self.config / "sessions").rglob("rollout-*.jsonl"))
