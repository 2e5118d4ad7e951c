"""A made-up home with a settings file, and short ways to install into it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.install import hook_edit
from holdfast.install.claude_code import HOOKS
from holdfast.install.claude_code import INSTALLER as installer
from holdfast.install.hook_edit import SettingsEdit
from holdfast.install.installation import InstallOutcome
from holdfast.install.launcher import Launcher, LaunchTarget

PYTHON = "/opt/python/bin/python3.11"
SCRIPT = "/opt/lib/holdfast/hooks/main.py"
LAUNCHER = Launcher("/opt/data/holdfast-hook", LaunchTarget(PYTHON, SCRIPT))
EVENTS = tuple(spec.event for spec in HOOKS)


@dataclass
class Place:
    root: Path

    @property
    def settings(self) -> Path:
        return self.root / "home" / ".claude" / "settings.json"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def launcher(self) -> Path:
        return self.data / "holdfast-hook"

    def write(self, raw: bytes) -> None:
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_bytes(raw)

    def read(self) -> bytes:
        return self.settings.read_bytes()

    def parsed(self) -> Any:
        return json.loads(self.read().decode("utf-8-sig"))

    def install(
        self,
        interpreter: str = PYTHON,
        script: str = SCRIPT,
        dry_run: bool = False,
        statusline: bool = False,
    ) -> InstallOutcome:
        return installer.install(
            str(self.settings),
            data_dir=str(self.data),
            interpreter=interpreter,
            script=script,
            dry_run=dry_run,
            statusline=statusline,
        )

    def uninstall(self, dry_run: bool = False) -> InstallOutcome:
        return installer.uninstall(str(self.settings), data_dir=str(self.data), dry_run=dry_run)

    def files(self) -> dict[str, bytes]:
        """Everything under the home, by relative path."""
        home = self.root / "home"
        return {
            str(path.relative_to(home)): path.read_bytes()
            for path in sorted(home.rglob("*"))
            if path.is_file()
        }


def add_hooks(settings_text: str, launcher: Launcher) -> SettingsEdit:
    return hook_edit.add_hooks(settings_text, launcher, installer)


def our_entry(event: str, launcher: str = LAUNCHER.path) -> dict[str, Any]:
    return {"type": "command", "command": launcher, "args": [event]}


def other_entry(command: str = "notify-send done") -> dict[str, Any]:
    return {"type": "command", "command": command}
