"""Installing into OpenCode: one file in the folder from which the client loads plugins.

The client has no hooks in settings and nothing to be trusted. Its own configuration is never
written: recall is added by the plugin while the client reads it.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from importlib import resources

from holdfast import clients
from holdfast.clients.opencode.hooks import COMPACTED, REQUESTED, RESTORES, STEERS, read_hooks
from holdfast.install import installation, settings_file
from holdfast.install.hook_edit import SettingsEdit
from holdfast.install.installer import Installer
from holdfast.install.launcher import Launcher

NAME = "holdfast.js"
_MARK = "// Holdfast in OpenCode"
_CLIENT = 'const CLIENT = "opencode"'
_COMMAND = "const COMMAND = "
_RECALL = "const RECALL = "
_NEXT_STEP = (
    "loads the plugin when it is started the next time; `holdfast doctor` tells which of its hooks "
    "have run."
)


class OpenCodeInstaller(Installer):
    """The file is ours alone, so there is nothing to merge and nothing to keep: an install writes
    it, an uninstall deletes it, and a file of that name that is not ours is left as it is.
    """

    client = clients.get("opencode")
    # What the plugin calls us for, and how long it lets us work.
    hooks = (
        installation.HookSpec("SessionStart", timeout_seconds=12),
        installation.HookSpec("UserPromptSubmit", timeout_seconds=12),
        installation.HookSpec("Stop", run_async=True, timeout_seconds=60),
        installation.HookSpec("PreCompact", timeout_seconds=12),
        installation.HookSpec("PostCompact", run_async=True, timeout_seconds=12),
    )
    next_steps = (f"OpenCode {_NEXT_STEP}",)
    settings_name = os.path.join("plugins", NAME)
    project_folder = ".opencode"

    def __init__(self, recall: Sequence[str] = ()) -> None:
        self.recall = recall  # what the plugin starts for that; else it is as it was

    def decode(self, raw: bytes | None) -> tuple[str, Callable[[str], bytes]]:
        return (raw or b"").decode("utf-8", "replace"), str.encode

    def list_events(self, settings_text: str) -> list[str]:
        return [spec.event for spec in self.hooks] if is_ours(settings_text) else []

    def has_own_statusline(self, settings_text: str) -> bool:
        return False

    def add_hooks(self, settings_text: str, launcher: Launcher) -> SettingsEdit:
        if settings_text and not is_ours(settings_text):
            raise installation.SettingsError(
                f"the {NAME} there is not Holdfast's plugin; move it away to install"
            )
        recall = self.recall or _read_list(settings_text, _RECALL)
        after = format_plugin(self.client.name, launcher, recall)
        if after == settings_text:
            return SettingsEdit(after)
        events = tuple(spec.event for spec in self.hooks)
        return SettingsEdit(after, **{"repaired" if settings_text else "added": events})

    def remove_hooks(self, settings_text: str, base_text: str | None) -> str | None:
        return None

    def uninstall(
        self, path: str, *, data_dir: str, dry_run: bool = False, statusline_only: bool = False
    ) -> installation.InstallOutcome:
        self.require_supported(statusline_only)
        outcome = super().uninstall(path, data_dir=data_dir, dry_run=dry_run)
        # The file was ours alone: without it all is as before, receipt or no receipt.
        gone = outcome.action == "removed" and outcome.after is None
        return outcome._replace(identical=True) if gone else outcome

    def finish_install(self, path: str, options: installation.InstallOptions) -> list[str]:
        """Gives the plugin the server to add for recall, unless one of that name exists."""
        super().finish_install(path, options)
        recall, plugin = options.recall, self.read_source("user", path).text
        if not recall or _read_list(plugin, _RECALL) == list(recall):
            return []
        server = " ".join(recall)
        if options.dry_run:
            return [f"The plugin would add recall from within a session: {server}"]
        assert options.launcher is not None
        told = type(self)(recall)
        settings_file.install(path, told, options.launcher, data_dir=options.data_dir)
        return [f"The plugin adds recall from within a session: {server}"]

    def parse_settings(self, text: str) -> None:
        """The file is ours, and JavaScript."""

    def parse_entries(self, settings_text: str) -> list[installation.HookEntry]:
        command = _read_list(settings_text, _COMMAND)
        if not command:
            return []
        return [
            installation.HookEntry(
                spec.event, (*command, self.prefix + spec.event), float(spec.timeout_seconds)
            )
            for spec in self.hooks
        ]

    def list_disabling_switches(
        self, environ: Mapping[str, str], sources: Sequence[installation.SettingsSource]
    ) -> list[installation.DisablingSwitch]:
        """`opencode --pure` loads no plugins; nothing that lasts turns them off."""
        variable = f"{self.client.name.upper()}_PURE"
        text = f"{variable} is set: {self.client.title} loads no plugins"
        return [installation.DisablingSwitch(text)] if environ.get(variable) else []

    def list_silent(self, data_dir: str) -> list[str] | None:
        """Hooks that the client calls experimental, and may have done away with."""
        told = read_hooks(data_dir, self.client.name)
        if told is None:
            return None
        due = [(REQUESTED, RESTORES), (COMPACTED, STEERS)]
        return [hook for sign, hook in due if sign in told[1] and hook not in told[1]]


class KiloInstaller(OpenCodeInstaller):
    """The same file in the folders of a fork."""

    client = clients.get("kilo")
    next_steps = (f"Kilo CLI {_NEXT_STEP}",)
    project_folder = ".kilo"


def format_plugin(client: str, launcher: Launcher, recall: Sequence[str] = ()) -> str:
    """The plugin that starts this launcher, and this server for recall."""
    text = resources.files("holdfast.clients.opencode").joinpath("plugin.js").read_text("utf-8")
    text = text.replace(_CLIENT, _CLIENT.replace("opencode", client), 1)
    command = launcher.build_argv("")[:-1]  # the event is put behind it
    for name, words in ((_COMMAND, command), (_RECALL, list(recall))):
        text = text.replace(f"\n{name}[]", f"\n{name}{json.dumps(words)}", 1)
    return text


def is_ours(text: str) -> bool:
    return text.startswith(_MARK)


def _read_list(text: str, opening: str) -> list[str]:
    if not is_ours(text):
        return []
    for line in text.split("\n"):
        if line.startswith(opening):
            try:
                found = json.loads(line[len(opening) :])
            except ValueError:
                return []
            return [word for word in found if isinstance(word, str)]
    return []


INSTALLER = OpenCodeInstaller()
KILO = KiloInstaller()
