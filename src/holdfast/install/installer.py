"""What nearly every installer does: our hooks in a settings file of the form that Claude Code has.

A client's installer is a subclass that writes down what differs (`install/gemini.py` is a good
one to read). Texts are those of settings files. Whatever opens or parses one raises SettingsError.
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from holdfast.clients.client_protocol import Client, RunningModel, WindowConfig
from holdfast.install import hook_edit, hook_entries, installation, settings_file
from holdfast.install import launcher as hook_launcher
from holdfast.install.hook_edit import SettingsEdit
from holdfast.install.hook_entries import parse_root
from holdfast.install.launcher import Launcher, build_launcher, format_guarded
from holdfast.paths import home_from
from holdfast.settings import atomic_file


class Installer:
    """Puts our hooks into the client's settings, takes them out, and reads what is there."""

    client: ClassVar[Client]
    hooks: ClassVar[tuple[installation.HookSpec, ...]] = ()
    next_steps: ClassVar[tuple[str, ...]] = ()
    """What the user reads after an install, a sentence each; the second is also what
    `holdfast doctor` advises where hooks may not run.
    """
    scopes: ClassVar[tuple[installation.Scope, ...]] = ("user", "project")
    settings_name: ClassVar[str] = "settings.json"
    """Below the client's folder, and below the folder of that name in a project."""
    project_folder: ClassVar[str] = ""
    has_statusline: ClassVar[bool] = False
    guards_command: ClassVar[bool] = True
    """Whether the command looks first if the launcher is still there: for clients that take a
    command which is not found for a refusal.
    """
    off_switch: ClassVar[str] = ""
    """The top-level setting that turns all hooks off, where there is one."""
    timeout_unit: ClassVar[int] = 1
    """How many of the client's units of time are a second."""
    runs_trial: ClassVar[bool] = False
    """Whether its hooks can be played our sample session, which is of the default client."""

    @property
    def prefix(self) -> str:
        """Names the client before the event, in the words that an entry gives the launcher."""
        return f"{self.client.name}:"

    def settings_path(
        self, scope: installation.Scope, environ: Mapping[str, str], home: str, project: str
    ) -> str:
        if scope not in self.scopes:
            known = " or ".join(self.scopes)
            what = "settings of the user alone" if self.scopes == ("user",) else "no such settings"
            raise installation.SettingsError(f"{self.client.title} has {what}; use --scope {known}")
        config = self.client.paths.config_dir(environ, home)
        folder = config if scope == "user" else os.path.join(project, self.project_folder)
        return os.path.join(folder, self.settings_name)

    def build_entry(self, spec: installation.HookSpec, launcher: Launcher) -> dict[str, Any]:
        """One entry: a command for a shell."""
        argv = launcher.build_argv(self.prefix + spec.event)
        command = format_guarded(argv) if self.guards_command else shlex.join(argv)
        entry: dict[str, Any] = {"type": "command", "command": command}
        if spec.run_async:
            entry["async"] = True
        return {**entry, "timeout": spec.timeout_seconds * self.timeout_unit}

    def decode(self, raw: bytes | None) -> tuple[str, Callable[[str], bytes]]:
        """The text of the settings file, and how to turn an edited text back into such a file."""
        return settings_file.decode_file(raw)

    def list_events(self, settings_text: str) -> list[str]:
        """Of our entries in this text."""
        return [entry.event for entry in hook_entries.parse_entries(settings_text)]

    def has_own_statusline(self, settings_text: str) -> bool:
        return hook_edit.is_statusline_installed(settings_text)

    def add_hooks(self, settings_text: str, launcher: Launcher) -> SettingsEdit:
        return hook_edit.add_hooks(settings_text, launcher, self)

    def remove_hooks(self, settings_text: str, base_text: str | None) -> str | None:
        """The text without what is ours; None where the file goes."""
        left = hook_edit.remove_hooks(settings_text, base_text).text
        return hook_edit.remove_statusline(left, base_text)

    def install(
        self,
        path: str,
        *,
        data_dir: str,
        interpreter: str,
        script: str,
        dry_run: bool = False,
        statusline: bool = False,
    ) -> installation.InstallOutcome:
        self.require_supported(statusline)
        launcher = build_launcher(data_dir, interpreter, script)
        return settings_file.install(
            path, self, launcher, data_dir=data_dir, dry_run=dry_run, statusline=statusline
        )

    def uninstall(
        self, path: str, *, data_dir: str, dry_run: bool = False, statusline_only: bool = False
    ) -> installation.InstallOutcome:
        """Gives the file back as it was, where that is known."""
        return settings_file.uninstall(
            path, self, data_dir=data_dir, dry_run=dry_run, statusline_only=statusline_only
        )

    def require_supported(self, statusline: bool) -> None:
        if statusline and not self.has_statusline:
            title = self.client.title
            raise installation.SettingsError(
                f"{title} has no status line that a command could write"
            )

    def finish_install(self, path: str, options: installation.InstallOptions) -> list[str]:
        """What is left to do after an install; a line each of what was done.

        With `dry_run` of what would be done; raises SettingsError where it could not.
        """
        if options.trust:
            raise installation.SettingsError(
                f"{self.client.title} runs a user's hooks without --trust"
            )
        if options.windows:
            raise installation.SettingsError(
                f"{self.client.title} has no windows without a summary"
            )
        return []

    def begin_uninstall(self, path: str, options: installation.InstallOptions) -> list[str]:
        """Undoes that, while our entries are still there; a line each of what was undone."""
        return []

    def parse_settings(self, text: str) -> None:
        """Raises SettingsError where the client could not read the text."""
        parse_root(text)

    def list_settings_files(
        self, environ: Mapping[str, str], home: str, project: str, managed: str
    ) -> list[tuple[str, str]]:
        """Scope and path of each; `managed` is the administrator's folder, "" for the usual."""
        return [(scope, self.settings_path(scope, environ, home, project)) for scope in self.scopes]

    def read_settings_sources(
        self, environ: Mapping[str, str], home: str, project: str, managed: str = ""
    ) -> list[installation.SettingsSource]:
        """The settings files of every scope, in the order in which a later one wins."""
        places = self.list_settings_files(environ, home, project, managed)
        # A project in the home folder has the user's file for its own.
        first = {os.path.realpath(path): (scope, path) for scope, path in reversed(places)}
        kept = sorted(first.values(), key=places.index)
        return [self.read_source(scope, path) for scope, path in kept]

    def read_source(self, scope: str, path: str) -> installation.SettingsSource:
        try:
            text, _ = self.decode(atomic_file.read(os.path.realpath(path)))
            self.parse_settings(text)
        except (installation.SettingsError, OSError) as error:
            problem = getattr(error, "strerror", "") or str(error)
            return installation.SettingsSource(scope, path, problem=problem)
        return installation.SettingsSource(scope, path, text)

    def read_setting(self, settings_text: str, name: str) -> Any:
        """A top-level value, None where it is not there."""
        return hook_entries.read_setting(settings_text, name)

    def parse_entries(self, settings_text: str) -> list[installation.HookEntry]:
        """Our entries as the client would start them."""
        found = hook_entries.parse_entries(settings_text)
        return [entry._replace(timeout=entry.timeout / self.timeout_unit) for entry in found]

    def build_direct_entries(self, interpreter: str, script: str) -> list[installation.HookEntry]:
        """Our hooks as they run without an install."""
        found = []
        for spec in self.hooks:
            words = hook_launcher.build_arguments(script, self.prefix + spec.event)
            limit = float(spec.timeout_seconds)
            found.append(installation.HookEntry(spec.event, (interpreter, *words), limit))
        return found

    def is_current(self, settings_text: str, launcher: Launcher) -> bool:
        """Whether an install with this launcher would leave the text as it is."""
        return self.add_hooks(settings_text, launcher).text == settings_text

    def list_foreign_hooks(self, settings_text: str) -> list[installation.ForeignHook]:
        return hook_entries.list_foreign_hooks(settings_text, self.hooks)

    def is_switched_off(self, settings_text: str) -> bool:
        """Whether this file keeps all hooks from running."""
        return bool(self.off_switch) and self.read_setting(settings_text, self.off_switch) is True

    def list_disabling_switches(
        self, environ: Mapping[str, str], sources: Sequence[installation.SettingsSource]
    ) -> list[installation.DisablingSwitch]:
        """What keeps our hooks from running although they are installed."""
        return [
            installation.DisablingSwitch(f'"{self.off_switch}" is on in {source.path}')
            for source in sources
            if source.usable and self.is_switched_off(source.text)
        ]

    def read_auto_compact(
        self, environ: Mapping[str, str], home: str, sources: Sequence[installation.SettingsSource]
    ) -> installation.AutoCompact:
        window = self.client.context_window
        chosen = window.read_window_config({**environ, "HOME": home or home_from(environ)}, "")
        if chosen in (WindowConfig(), WindowConfig(auto_compact=False)):
            return installation.AutoCompact()
        return installation.AutoCompact(point=window.compaction_point(chosen, RunningModel()))

    def list_enabled_plugins(
        self, config: str, sources: Sequence[installation.SettingsSource]
    ) -> list[installation.Plugin]:
        return []

    def list_untrusted(self, environ: Mapping[str, str], project: str) -> list[str] | None:
        """The events of ours that the client skips until the user trusts them; None where it
        cannot be asked.
        """
        return []

    def list_silent(self, data_dir: str) -> list[str] | None:
        """The client's hooks that it should have called by now and never did, where we learn
        of calls; None where it never called any.
        """
        return []

    def list_limits(self, environ: Mapping[str, str], project: str) -> list[str]:
        """What the client withholds in this project although our hooks run; a sentence each."""
        return []
