"""The coding agents we read: the only code that knows a vendor's format.

A registry: `get`, `default`, `of_session`, `of_file` and `names` hand out a `Client`
(`clients.client_protocol`), and nothing outside this package imports a client's own folder. The
hooks ask `hook_client`, which is all of a client that they load: which client calls is settled by
which hook was installed. Imports nothing at its top: every fast hook loads this module.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from holdfast.clients.client_protocol import Client
    from holdfast.clients.hook_base import HookClient

DEFAULT_CLIENT = "claude-code"


class UnknownClient(ValueError):
    """No client of this name is known."""


def names() -> tuple[str, ...]:
    return (*_FOLDERS, *_added())


def get(name: str) -> Client:
    """The client of this name; raises UnknownClient."""
    found = _find_known(name)
    if found is None:
        raise UnknownClient(f"no client is called {name!r}")
    return found


def default() -> Client:
    return get(DEFAULT_CLIENT)


def of_session(label: str) -> Client:
    """The client that a session says it runs in: its name and version, as SessionSeen has them.

    The default where it does not say, or names one that this version of Holdfast does not know.
    """
    name = label.partition(" ")[0]
    return (_find_known(name) if name else None) or default()


def _find_known(name: str) -> Client | None:
    if name not in _FOLDERS:
        return _added().get(name)
    found: Client = _load(name, "client", "CLIENT")
    return found


def _load(name: str, part: str, attribute: str) -> Any:
    folder, _, prefix = _FOLDERS[name].partition(":")
    return getattr(load_module(f"holdfast.clients.{folder}.{part}"), prefix + attribute)


def load_module(module: str) -> Any:
    __import__(module)
    return sys.modules[module]


def _added() -> dict[str, Client]:
    """Clients of other packages, by the entry points of the group `holdfast.clients`.

    One that cannot be loaded is left out: another package's fault is not to stop this one.
    """
    if not _ADDED_CLIENTS:
        from importlib.metadata import entry_points

        _ADDED_CLIENTS.append({})
        for entry in entry_points(group=ENTRY_POINT_GROUP):
            try:
                if entry.name not in _FOLDERS:
                    _ADDED_CLIENTS[0][entry.name] = entry.load()
            except (ImportError, AttributeError, SyntaxError):
                continue
    return _ADDED_CLIENTS[0]


def of_file(path: str) -> Client:
    """The client whose session this file is, by how it begins; the default where none says so.

    Raises TranscriptError.
    """
    from holdfast.transcript.reader import read_head

    def candidates() -> Iterator[Client]:
        yield from (get(name) for name in _FOLDERS if name != DEFAULT_CLIENT)
        yield default()
        yield from _added().values()  # last: finding them costs a hook 20 ms

    head = read_head(path)
    return next((client for client in candidates() if client.recognises(head)), default())


def of_name(path: str) -> Client:
    """The client that names its files so; for folders of files that are not to be opened."""
    for name in names():
        if get(name).paths.has_own_name(path):
            return get(name)
    return default()


def sessions_dirs(environ: Mapping[str, str], home: str) -> list[str]:
    """Where the clients keep their sessions; the default's first, the others' where they exist."""
    import os

    from holdfast.paths import data_dir_from

    found = []
    for name in names():
        paths = get(name).paths
        folder = paths.sessions_dir(paths.config_dir(environ, home), data_dir_from(environ))
        if folder not in found and (name == DEFAULT_CLIENT or os.path.isdir(folder)):
            found.append(folder)
    return found


def hook_client(name: str) -> HookClient:
    """What the hooks ask of a client; "" for the default. Raises KeyError."""
    name = name or DEFAULT_CLIENT
    if name not in _FOLDERS:
        return _added()[name].hook_io
    found: HookClient = _load(name, "hooks", "HOOKS")
    return found


# A folder, and for a fork in it how its names begin. Other packages add theirs by an entry point:
# docs/adding-a-client.md.
_FOLDERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
    "kilo": "opencode:KILO_",
    "gemini": "gemini",
    "qwen": "qwen",
    "copilot": "copilot",
}
ENTRY_POINT_GROUP = "holdfast.clients"
_ADDED_CLIENTS: list[dict[str, Client]] = []  # empty until asked for
