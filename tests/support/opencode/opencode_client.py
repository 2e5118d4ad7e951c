"""The real OpenCode in a home and a project of its own, with an empty environment.

Owns where it comes from (npm, into the user's cache, once), its configuration and its process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from support.npm_client import newest, npm_folder, npm_program

from .chat_api import ChatApi

PACKAGE = "opencode-ai"
NEWEST = newest(PACKAGE, "1.18.33")
TURN_SECONDS = 120
SWITCHED_OFF = (
    "AUTOUPDATE",
    "CODEBASE_INDEXING",
    "LSP_DOWNLOAD",
    "MODELS_FETCH",
    "SESSION_INGEST",
    "SHARE",
)
KILO_PACKAGE = "@kilocode/cli"
KILO_NEWEST = newest(KILO_PACKAGE, "7.7.7")


def npm_client(version: str = NEWEST) -> Path:
    """The client, fetched by npm once; a test without npm is skipped."""
    return npm_program(PACKAGE, version, "opencode")


def plugin_packages(version: str = NEWEST) -> Path:
    """What the client fetches with npm at its first start beside a plugin, fetched once."""
    packages = f"@opencode-ai/plugin@{version}"
    return npm_folder(f"opencode-packages-{version}", packages, scripts=False)


class OpenCode:
    name: ClassVar[str] = "opencode"

    def __init__(self, root: Path, api: ChatApi, *, context: int = 200_000) -> None:
        self.binary = self.fetch()
        self.more_environment: dict[str, str] = {}
        self.api = api
        self.home, self.project = root / "home", root / "project"
        self.config.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        self.place_packages()
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
        (self.config / f"{self.name}.json").write_text(text)

    def fetch(self) -> Path:
        return npm_client()

    def place_packages(self) -> None:
        packages = plugin_packages()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(packages / name, self.config / name)
        (self.config / "node_modules").symlink_to(packages / "node_modules")

    @property
    def config(self) -> Path:
        return self.home / ".config" / self.name

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"{self.name.upper()}_DISABLE_{what}": "1" for what in SWITCHED_OFF},
            f"{self.name.upper()}_TELEMETRY_LEVEL": "off",
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


class Kilo(OpenCode):
    """A fork of it, with folders and variables of its own name."""

    name = "kilo"

    def fetch(self) -> Path:
        return npm_program(KILO_PACKAGE, KILO_NEWEST, "kilo")

    def place_packages(self) -> None:
        """An empty one: what it looks for beside a plugin is not at npm in this version."""
        package = "@kilocode/plugin"
        wanted = {"dependencies": {package: KILO_NEWEST}}
        placed = {f"node_modules/{package}": {"version": KILO_NEWEST}}
        lock = {"lockfileVersion": 3, "packages": {"": wanted, **placed}}
        about = {"name": package, "version": KILO_NEWEST}
        folder = self.config / "node_modules" / package
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps(about))
        (self.config / "package.json").write_text(json.dumps(wanted))
        (self.config / "package-lock.json").write_text(json.dumps(lock))
