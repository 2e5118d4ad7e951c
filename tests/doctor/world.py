"""A made-up machine: a home, a project, a data folder, and this copy of Holdfast."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import holdfast
from holdfast.doctor.environment import Environment
from holdfast.install.claude_code import INSTALLER as installer

SCRIPT = str(Path(holdfast.__file__).parent / "hooks" / "main.py")
PYTHON = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
NOW = 1_800_000_000.0


@dataclass
class World:
    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in (self.home, self.project):
            folder.mkdir()

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def config(self) -> Path:
        return self.home / ".claude"

    @property
    def around(self) -> Environment:
        return Environment(
            environ={"PATH": str(self.root / "bin"), **self.environ},
            home=str(self.home),
            project=str(self.project),
            data=str(self.data),
            interpreter=PYTHON,
            script=SCRIPT,
            seconds=NOW,
            managed=str(self.root / "managed"),
        )

    def settings(self, scope: str = "user") -> Path:
        if scope == "managed":
            return self.root / "managed" / "managed-settings.json"
        if scope == "user":
            return self.config / "settings.json"
        name = "settings.json" if scope == "project" else "settings.local.json"
        return self.project / ".claude" / name

    def write(self, value: Any, scope: str = "user") -> Path:
        path = self.settings(scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    def install(self, scope: str = "user", interpreter: str = PYTHON, script: str = SCRIPT) -> Path:
        path = self.settings(scope)
        installer.install(
            str(path), data_dir=str(self.data), interpreter=interpreter, script=script
        )
        return path

    def program(self, name: str, *lines: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
        path.chmod(0o755)
        return path

    def plugin(self, name: str, hooks: dict[str, Any]) -> Path:
        folder = self.root / "plugins" / name.partition("@")[0]
        (folder / "hooks").mkdir(parents=True)
        (folder / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
        listing = self.config / "plugins" / "installed_plugins.json"
        listing.parent.mkdir(parents=True, exist_ok=True)
        listed = {"plugins": {name: [{"scope": "user", "installPath": str(folder)}]}}
        listing.write_text(json.dumps(listed))
        return folder


def hook(command: str, **more: Any) -> list[Any]:
    return [{"hooks": [{"type": "command", "command": command, **more}]}]
