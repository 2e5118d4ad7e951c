"""The plugin beside `holdfast install`: whose hooks answer when both are there.

The settings' do, so that nothing is steered, saved or delivered twice; the plugin's answer only
where no settings file names a Holdfast that is still on the disk. Looks for the script's path in
the text and does not parse: this runs at every hook of the plugin.
"""

from __future__ import annotations

import os

from holdfast.files import exists, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT_SUFFIX = "/holdfast/hooks/main.py"
MAX_SETTINGS_BYTES = 4 * 1024 * 1024


def are_settings_hooks_installed(environ: Mapping[str, str]) -> bool:
    return any(_names_a_script(path) for path in _settings_files(environ))


def _settings_files(environ: Mapping[str, str]) -> list[str]:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    config = environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    project = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    files = [f"{config}/settings.json"] if config else []
    return [*files, f"{project}/.claude/settings.json", f"{project}/.claude/settings.local.json"]


def _names_a_script(path: str) -> bool:
    data = read(path, most=MAX_SETTINGS_BYTES)
    if not data:
        return False
    text = data.decode("utf-8", "replace").replace("\\\\", "/")
    at = text.find(SCRIPT_SUFFIX)
    while at >= 0:
        script = text[text.rfind('"', 0, at) + 1 : at] + SCRIPT_SUFFIX
        if exists(script):
            return True
        at = text.find(SCRIPT_SUFFIX, at + 1)
    return False
