"""What an install hands out, and its errors. Must not know any client's format, and does no I/O.

Errors, all for the user's eyes:

    SettingsError
    ├── InvalidSettings    the client would not read this file either; says where
    ├── UnsafeEdit        reading our edit back gave something else: nothing is written
    ├── SettingsBusy      another install holds the lock
    ├── SettingsChanged   somebody else kept writing the file while we tried
    ├── NotWritable       the operating system said no
    └── Unfinished        our entries are in, and the client did not do the rest
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from holdfast.clients.client_protocol import CompactionPoint
from holdfast.install.launcher import Launcher
from holdfast.paths import data_dir_from
from holdfast.records import NamedTuple

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


class ForeignHook(NamedTuple):
    """Another tool's hook on an event that we use too."""

    event: str
    matcher: str | None
    kind: str
    command: str


class HookSpec(NamedTuple):
    """A hook of ours: unless it says otherwise, the client waits for it, and not for long."""

    event: str
    matcher: str | None = None
    run_async: bool = False
    timeout_seconds: int = 10


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
    hooks: str = ""  # as a settings text, its own folder filled in; "" where it has none


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
    earliest: tuple[CompactionPoint, ...] = ()  # on windows of 200,000 and 1,000,000
    ignored: str = ""  # a window that the client does not take


class InstallOptions(NamedTuple):
    """What an install or uninstall of a client's own is asked, besides the settings file."""

    environ: Mapping[str, str]
    home: str
    project: str
    data_dir: str
    launcher: Launcher | None = None  # None for an uninstall
    recall: Sequence[str] = ()  # starts our MCP server; empty where that cannot be had
    trust: bool = False
    windows: bool = False  # the client is to empty its window where it would summarise
    dry_run: bool = False

    @property
    def moved_data(self) -> dict[str, str]:
        """The variable that names our data folder, where a server would not find it by itself."""
        places = ("HOME", "USERPROFILE", "LOCALAPPDATA")
        kept = {name: self.environ[name] for name in places if name in self.environ}
        return {} if self.data_dir == data_dir_from(kept) else {"HOLDFAST_HOME": self.data_dir}


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
    # Whether our status line is in the file afterwards.
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
