"""What installing our hooks into a client is: the values it hands out, and its errors.

Owns the `Installer` protocol. Must not know any client's settings format, and does no I/O.

Errors, all for the user's eyes:

    SettingsError
    ├── InvalidSettings    the client would not read this file either; says where
    ├── UnsafeEdit        reading our edit back gave something else: nothing is written
    ├── SettingsBusy      another install holds the lock
    ├── SettingsChanged   somebody else kept writing the file while we tried
    ├── NotWritable       the operating system said no
    └── Unfinished        our entries are in, and the client did not do the rest
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from holdfast.clients.client_protocol import CompactionPoint
from holdfast.clients.hook_launcher import Launcher

Scope = Literal["user", "project", "local"]
Action = Literal["installed", "repaired", "unchanged", "removed", "not installed"]


class SettingsError(Exception):
    """Something about a settings file that the user can act on."""


class InvalidSettings(SettingsError):
    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason, self.line, self.column = reason, line, column
        self.path: str | None = None  # filled in by the code that knows the file

    def __str__(self) -> str:
        where = f"{self.path}, " if self.path else ""
        return f"{where}line {self.line}, column {self.column}: {self.reason}"


class UnsafeEdit(SettingsError):
    pass


class SettingsBusy(SettingsError):
    pass


class SettingsChanged(SettingsError):
    pass


class NotWritable(SettingsError):
    pass


class Unfinished(SettingsError):
    pass


class InstalledHook(NamedTuple):
    """An entry of ours, as found. ``argument`` is the event that the entry tells its program."""

    event: str
    program: str
    argument: str
    matcher: str | None
    background: bool
    timeout: float | None


class ForeignHook(NamedTuple):
    """Another tool's hook on an event that we use too."""

    event: str
    matcher: str | None
    kind: str
    command: str


class HookFlags(NamedTuple):
    disable_all_hooks: bool
    # Claude Code 2.1.325 obeys this one in managed settings only.
    allow_managed_hooks_only: bool


class HookSpec(NamedTuple):
    event: str
    matcher: str | None
    run_async: bool
    timeout_seconds: int  # seconds


class HookEntry(NamedTuple):
    """One of our entries, as the client would start it."""

    event: str
    argv: tuple[str, ...]
    timeout: float


class SettingsSource(NamedTuple):
    """One settings file. `problem` says why its text could not be read."""

    scope: str  # "user" | "project" | "local" | "managed"
    path: str
    text: str = ""
    problem: str = ""

    @property
    def usable(self) -> bool:
        return bool(self.text) and not self.problem


class Plugin(NamedTuple):
    """A plugin that the client has installed and enabled."""

    name: str
    folder: str
    is_ours: bool = False


class DisablingSwitch(NamedTuple):
    """What keeps our hooks from running although they are installed."""

    text: str  # which switch, and where it is on
    is_managed: bool = False  # only an administrator can turn it off


class AutoCompact(NamedTuple):
    """What the settings in effect make the client do."""

    disabled_by: str = ""  # the setting that turns it off, "" where it is on
    never: bool = False  # not even the user can compact
    percent: float = 0.0  # of its window, at most; 0 where nothing lowers it
    point: CompactionPoint | None = None  # where a window is configured


class FileChange(NamedTuple):
    """A file before and after; None for no file."""

    path: str
    before: bytes | None
    after: bytes | None


class InstallOutcome(NamedTuple):
    """What was done, or with ``dry_run`` would be. None in before or after: no file."""

    action: Action
    path: str  # the file that holds the bytes: a symlink is followed
    before: bytes | None
    after: bytes | None
    added: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    backup: str | None = None
    # Whether our status line stands in the file afterwards.
    statusline: bool = False
    # The launcher, which the entries name, where it had to be written or goes.
    launcher: FileChange | None = None
    # Uninstall: whether the file is now, byte for byte, what it was before the install.
    # None where no backup is left to tell.
    identical: bool | None = None
    # What the client's own program did besides, or would do; a line each.
    steps: tuple[str, ...] = ()
    # Whether the client was asked to trust our entries.
    trusted: bool = False


class InstructionsDamaged(ValueError):
    """The markers are there and do not belong together: nothing is changed."""


class Installer(Protocol):
    """Puts our hooks into the client's settings, takes them out, and reads what is there.

    Texts are those of settings files. Whatever opens or parses one raises SettingsError.
    """

    @property
    def HOOKS(self) -> tuple[HookSpec, ...]: ...

    @property
    def NEXT_STEPS(self) -> tuple[str, ...]:
        """What the user is told after an install, a sentence each."""

    @property
    def HAS_TRIAL(self) -> bool:
        """Whether its hooks can be played our sample session, which is of the default client."""

    def settings_path(
        self, scope: Scope, environ: Mapping[str, str], home: str, project: str
    ) -> str: ...

    def install(
        self,
        path: str,
        *,
        data_dir: str,
        interpreter: str,
        script: str,
        dry_run: bool = False,
        statusline: bool = False,
    ) -> InstallOutcome: ...

    def uninstall(
        self, path: str, *, data_dir: str, dry_run: bool = False, statusline_only: bool = False
    ) -> InstallOutcome:
        """Gives the file back as it was, where that is known."""

    def finish_install(
        self,
        path: str,
        *,
        environ: Mapping[str, str],
        home: str,
        project: str,
        data_dir: str,
        launcher: Launcher,
        recall: Sequence[str],
        trust: bool,
        dry_run: bool,
    ) -> list[str]:
        """What the client's own program has to do after an install; a line each of what it did.

        `recall` starts our MCP server, and is empty where that cannot be had. With `dry_run` of
        what it would do; raises SettingsError where it could not.
        """

    def begin_uninstall(
        self, path: str, *, environ: Mapping[str, str], home: str, data_dir: str, dry_run: bool
    ) -> list[str]:
        """Undoes that, while our entries are still there; a line each of what was undone."""

    def read_installed(self, data_dir: str) -> list[str]:
        """The texts of the settings files that were installed into and not uninstalled since."""

    def read_install_version(self, data_dir: str, path: str) -> str:
        """The version of Holdfast that installed into this settings file, "" where unknown."""

    def decode_settings(self, raw: bytes | None) -> str: ...

    def read_settings_sources(
        self, environ: Mapping[str, str], home: str, project: str, managed: str = ""
    ) -> list[SettingsSource]:
        """The settings files of every scope, in the order in which a later one wins."""

    def read_setting(self, settings_text: str, name: str) -> Any: ...

    def parse_entries(self, settings_text: str) -> list[HookEntry]: ...

    def build_direct_entries(self, interpreter: str, script: str) -> list[HookEntry]:
        """Our hooks as they run without an install."""

    def is_current(self, settings_text: str, launcher: Launcher) -> bool:
        """Whether an install with this launcher would leave the text as it is."""

    def list_foreign_hooks(self, settings_text: str) -> list[ForeignHook]: ...

    def read_hook_flags(self, settings_text: str) -> HookFlags: ...

    def list_disabling_switches(
        self, environ: Mapping[str, str], sources: Sequence[SettingsSource]
    ) -> list[DisablingSwitch]: ...

    def read_auto_compact(
        self, environ: Mapping[str, str], home: str, sources: Sequence[SettingsSource]
    ) -> AutoCompact: ...

    def list_enabled_plugins(
        self, config: str, sources: Sequence[SettingsSource]
    ) -> list[Plugin]: ...

    def read_plugin_hooks(self, plugin: Plugin) -> str:
        """A plugin's hooks as a settings text; "" where it has none."""

    def list_untrusted(self, environ: Mapping[str, str], project: str) -> list[str] | None:
        """The events of ours that the client skips until the user trusts them; None where it
        cannot be asked.
        """

    def list_silent(self, data_dir: str) -> list[str] | None:
        """The client's hooks that it should have called by now and never did, where we are told
        of calls; None where it never called any.
        """

    def list_limits(self, environ: Mapping[str, str], project: str) -> list[str]:
        """What the client withholds in this project although our hooks run; a sentence each."""

    def list_instructions_files(self, project: str) -> list[str]:
        """Where the client reads a project's instructions, the usual place first."""

    def put_instructions(self, content: bytes | None, text: str) -> bytes:
        """The file with our block in it, once and up to date; raises InstructionsDamaged."""

    def remove_instructions(self, content: bytes | None) -> bytes | None: ...
