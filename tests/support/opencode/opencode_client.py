"""The real OpenCode in a home and a project of its own, with an empty environment.

Owns where it comes from (npm, into the user's cache, once), its configuration and its process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .chat_api import ChatApi

NEWEST = "1.18.33"
INSTALL_SECONDS = 300
TURN_SECONDS = 120


def npm_client(version: str = NEWEST) -> Path:
    """The client, fetched by npm once; a test without npm is skipped."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast-tests"
    folder = cache / f"opencode-{version}"
    binary = folder / "node_modules" / ".bin" / "opencode"
    if binary.exists():
        return binary
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so the real OpenCode cannot be fetched")
    cache.mkdir(parents=True, exist_ok=True)
    fetched = cache / f"opencode-{version}.{os.getpid()}"
    subprocess.run(
        [npm, "install", "--silent", "--prefix", str(fetched), f"opencode-ai@{version}"],
        check=True,
        timeout=INSTALL_SECONDS,
        capture_output=True,
    )
    try:
        os.rename(fetched, folder)
    except OSError:  # another test process was first
        shutil.rmtree(fetched, ignore_errors=True)
    return binary


def plugin_packages(version: str = NEWEST) -> Path:
    """What the client fetches with npm at its first start beside a plugin, fetched once."""
    folder = npm_client(version).parents[2].with_name(f"opencode-packages-{version}")
    if not (folder / "node_modules").is_dir():
        fetched = folder.with_name(f"{folder.name}.{os.getpid()}")
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed, so OpenCode's plugin package cannot be fetched")
        fetched.mkdir(parents=True)
        wanted = {"dependencies": {"@opencode-ai/plugin": version}}
        (fetched / "package.json").write_text(json.dumps(wanted))
        subprocess.run(
            [npm, "install", "--silent", "--ignore-scripts", "--prefix", str(fetched)],
            check=True,
            timeout=INSTALL_SECONDS,
            capture_output=True,
        )
        try:
            os.rename(fetched, folder)
        except OSError:
            shutil.rmtree(fetched, ignore_errors=True)
    return folder


class OpenCode:
    def __init__(self, root: Path, api: ChatApi, *, context: int = 200_000) -> None:
        self.binary = npm_client()
        self.more_environment: dict[str, str] = {}
        self.api = api
        self.home, self.project = root / "home", root / "project"
        self.config.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(plugin_packages() / name, self.config / name)
        (self.config / "node_modules").symlink_to(plugin_packages() / "node_modules")
        model = {"name": "m", "tool_call": True, "limit": {"context": context, "output": 4_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": api.url, "apiKey": "not-a-key"},
            "models": {"m": model},
        }
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/m",
            "small_model": "scripted/m",
            "permission": "allow",
            "provider": {"scripted": provider},
        }
        text = "// The user's own words.\n" + json.dumps(settings, indent=2) + "\n"
        (self.config / "opencode.json").write_text(text)

    @property
    def config(self) -> Path:
        return self.home / ".config" / "opencode"

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "GIT_CONFIG_NOSYSTEM": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            **self.more_environment,
        }

    def run(self, prompt: str, *more: str) -> list[dict[str, Any]]:
        """One prompt in one process."""
        ended = subprocess.run(
            [str(self.binary), "run", "--format", "json", *more, prompt],
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
        return self.run(prompt, "--continue")
