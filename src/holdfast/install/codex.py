"""Installing into Codex: its hooks.json has the form of Claude Code's settings.

The client trusts a hook by its place in the file and a checksum of its entry: ours go behind all
others, and name nothing that changes with a version.
"""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast import clients
from holdfast.clients.codex.client import read_config
from holdfast.install import codex_config, codex_program, installation
from holdfast.install.installer import Installer
from holdfast.install.launcher import Launcher
from holdfast.paths import home_from

# What these print reaches the model. Without this the client cuts it at 2,500 tokens.
_UNCUT = frozenset(("SessionStart", "UserPromptSubmit", "PostToolUse"))


class CodexInstaller(Installer):
    client = clients.get("codex")
    # SessionEnd is cut to 3 seconds; asking for more is warned of at every start. What a hook
    # prints in the background is lost where the turn ends first, so PostToolUse, which may
    # deliver, is waited for: it leaves its work to a process of its own.
    hooks = (
        installation.HookSpec("SessionStart"),
        installation.HookSpec("UserPromptSubmit"),
        installation.HookSpec("PostToolUse"),
        installation.HookSpec("Stop", run_async=True, timeout_seconds=60),
        installation.HookSpec("PreCompact"),
        installation.HookSpec("PostCompact"),
        installation.HookSpec("SessionEnd", timeout_seconds=3),
    )
    next_steps = (
        "Codex runs a hook only after you have trusted it, and does not say when it skips one.",
        "Start codex, type /hooks, look through Holdfast's entries and trust them; or run "
        "`holdfast install --client codex --trust`, which has Codex trust these entries alone.",
    )
    settings_name = "hooks.json"
    project_folder = ".codex"
    guards_command = False

    def build_entry(self, spec: installation.HookSpec, launcher: Launcher) -> dict[str, Any]:
        entry = super().build_entry(spec, launcher)
        return {**entry, "additionalContextLimit": 0} if spec.event in _UNCUT else entry

    def finish_install(self, path: str, options: installation.InstallOptions) -> list[str]:
        """Has the client trust what was installed, where the user asked for that, and start recall.

        Recall goes with the user's own hooks: the client's command knows no other place for it.
        """
        lines = self._trust_entries(path, options) if options.trust else []
        if options.windows:
            lines += self._switch_windows(path, options, codex_config.add_windows)
        if options.recall and self._is_users(path, options):
            config = self._config_path(options.environ, options.home)
            lines += codex_program.add_recall(options, config)
        return lines

    def _is_users(self, path: str, options: installation.InstallOptions) -> bool:
        return path == self.settings_path("user", options.environ, options.home, "")

    def _config_path(self, environ: Mapping[str, str], home: str) -> str:
        return os.path.join(self.client.paths.config_dir(environ, home), "config.toml")

    def _trust_entries(self, path: str, options: installation.InstallOptions) -> list[str]:
        assert options.launcher is not None
        commands = [str(self.build_entry(spec, options.launcher)["command"]) for spec in self.hooks]
        if codex_program.find_program(options.environ) is None:
            raise installation.SettingsError(
                "--trust asks Codex itself, and there is no `codex` on the PATH"
            )
        if options.dry_run:
            return ["Codex would be asked to trust these commands:", *commands]
        count = codex_program.trust(options.environ, options.project, path, commands)
        if count < len(commands):
            return [
                f"Codex runs {count} of {len(commands)} of these commands. It does not list the "
                "others for this folder, or they were turned off in it; type /hooks in codex.",
                *commands,
            ]
        return ["Codex now trusts these commands, and runs them:", *commands]

    def _switch_windows(
        self, path: str, options: installation.InstallOptions, change: Callable[[str], str]
    ) -> list[str]:
        """The change as a diff; nothing where there is none."""
        config = os.path.join(os.path.dirname(path), "config.toml")
        changed = codex_config.edit(config, options.data_dir, change, options.dry_run)
        if changed is None:
            return []
        before, after = (text.splitlines() for text in changed)
        diff = difflib.unified_diff(before, after, config, config, n=1, lineterm="")
        return [f"{'Would change' if options.dry_run else 'Changed'} {config}:", *diff]

    def begin_uninstall(self, path: str, options: installation.InstallOptions) -> list[str]:
        """Takes the trust of our entries out of config.toml, no matter who gave it, and recall."""
        config = self._config_path(options.environ, options.home)
        lines = _forget_trust(path, config, options)
        lines += self._switch_windows(path, options, codex_config.remove_windows)
        if self._is_users(path, options):
            lines += codex_program.remove_recall(options, config)
        return lines

    def list_disabling_switches(
        self, environ: Mapping[str, str], sources: Sequence[installation.SettingsSource]
    ) -> list[installation.DisablingSwitch]:
        """`[features] hooks = false` in config.toml turns all of them off."""
        path = self._config_path(environ, home_from(environ))
        features = read_config(path).get("features")
        if isinstance(features, dict) and features.get("hooks") is False:
            return [installation.DisablingSwitch(f'"hooks" is off under [features] in {path}')]
        return []

    def list_untrusted(self, environ: Mapping[str, str], project: str) -> list[str] | None:
        return codex_program.list_untrusted(environ, project)


def _forget_trust(path: str, config: str, options: installation.InstallOptions) -> list[str]:
    try:
        changed = codex_config.forget(path, config, options.data_dir, options.dry_run)
    except installation.UnsafeEdit as error:
        return [f"The trust of these hooks stays in {config}, without effect: {error}."]
    if not changed:
        return []
    if options.dry_run:
        return [f"The trust that Codex keeps for these hooks would go from {config}."]
    return [f"Removed the trust that Codex kept for these hooks from {config}."]


INSTALLER = CodexInstaller()
