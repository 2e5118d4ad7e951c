"""The status line alone, for the plugin, which has its hooks from the client: put in, taken out.

A plugin cannot set the client's status line, and the client moves a plugin's folder with each
version. So it starts a copy in the data folder, by the launcher that hooks are started by.
"""

import os
import sys
from collections.abc import Mapping

from holdfast import own_copy
from holdfast.install import launcher, settings_file
from holdfast.install.claude_code import INSTALLER


def switch_statusline(word: str, environ: Mapping[str, str], data: str) -> str:
    """What was done, in words; raises SettingsError."""
    path = INSTALLER.settings_path("user", environ, os.path.expanduser("~"), "")
    if word == "off":
        has_hooks = any(map(INSTALLER.list_events, settings_file.read_texts([path])))
        outcome = INSTALLER.uninstall(path, data_dir=data, statusline_only=has_hooks)
        names = settings_file.read_texts([launcher.launcher_path(data)])
        names += settings_file.read_installed(data)
        own_copy.remove_unused(data, names)
        if outcome.action == "removed":
            return f"Holdfast's status line is out of {path}; the rest is as it was."
        return f"Holdfast's status line is not in {path}."
    there = launcher.read_launcher(launcher.launcher_path(data))
    if there is None or not os.path.exists(there.script):
        own_copy.ensure_lasting(data, of_plugin=True)
        script = own_copy.find_hook_script(data, of_plugin=True)
        there = launcher.LaunchTarget(sys.executable, script)
    made = launcher.build_launcher(data, *there)
    settings_file.install(path, INSTALLER, made, data_dir=data, statusline=True, hooks=False)
    return (
        f"Holdfast's status line is in {path}, behind yours if you have one: context left,"
        " compactions and what came back. `/holdfast:statusline off` takes it out."
    )
