"""The coding agents we read: the only code that knows a vendor's format.

A registry: `get`, `default`, `of_session`, `of_file` and `names` hand out a `Client`
(`clients.client_protocol`), and nothing outside this package imports a client's own folder. The
hooks ask `hook_client`, which is all of a client that they load: which client calls is settled by
which hook was installed. Imports nothing at its top: every fast hook loads this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.clients.client_protocol import Client, HookClient

DEFAULT_CLIENT = "claude-code"


class UnknownClient(ValueError):
    """No client of this name is known."""


def names() -> tuple[str, ...]:
    return tuple(_CLIENTS)


def get(name: str) -> Client:
    """The client of this name; raises UnknownClient."""
    try:
        return _CLIENTS[name]()
    except KeyError:
        raise UnknownClient(f"no client is called {name!r}") from None


def default() -> Client:
    return _CLIENTS[DEFAULT_CLIENT]()


def of_session(label: str) -> Client:
    """The client that a session says it runs in: its name and version, as SessionSeen has them.

    The default where it does not say, or names one that this version of Holdfast does not know.
    """
    return _CLIENTS.get(label.partition(" ")[0], _CLIENTS[DEFAULT_CLIENT])()


def of_file(path: str) -> Client:
    """The client whose session this file is, by how it begins; the default where none says so.

    Raises TranscriptError.
    """
    from holdfast.transcript.reader import read_head

    head = read_head(path)
    for name in names():
        if name != DEFAULT_CLIENT and get(name).recognises(head):
            return get(name)
    return default()


def of_name(path: str) -> Client:
    """The client that names its files so; for folders of files that nobody wants to open."""
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
        if name == DEFAULT_CLIENT or os.path.isdir(folder):
            found.append(folder)
    return found


def hook_client(name: str) -> HookClient:
    """What the hooks ask of a client; "" for the default. Raises KeyError."""
    return _HOOK_CLIENTS[name or DEFAULT_CLIENT]()


def _claude_code() -> Client:
    from holdfast.clients.claude_code.client import CLIENT

    return CLIENT


def _codex() -> Client:
    from holdfast.clients.codex.client import CLIENT

    return CLIENT


def _opencode() -> Client:
    from holdfast.clients.opencode.client import CLIENT

    return CLIENT


def _gemini() -> Client:
    from holdfast.clients.gemini.client import CLIENT

    return CLIENT


def _claude_code_hooks() -> HookClient:
    from holdfast.clients.claude_code.fastpath import hook_client

    return hook_client


def _codex_hooks() -> HookClient:
    from holdfast.clients.codex.fastpath import hook_client

    return hook_client


def _opencode_hooks() -> HookClient:
    from holdfast.clients.opencode.fastpath import hook_client

    return hook_client


def _gemini_hooks() -> HookClient:
    from holdfast.clients.gemini.fastpath import hook_client

    return hook_client


# One line per folder.
_CLIENTS = {
    "claude-code": _claude_code,
    "codex": _codex,
    "opencode": _opencode,
    "gemini": _gemini,
}
_HOOK_CLIENTS = {
    "claude-code": _claude_code_hooks,
    "codex": _codex_hooks,
    "opencode": _opencode_hooks,
    "gemini": _gemini_hooks,
}

# What other packages may import.
__all__ = [
    "claude_code",
    "client_protocol",
    "codex",
    "gemini",
    "holdfast_text",
    "hook_launcher",
    "hook_settings",
    "installation",
    "json_fields",
    "messages",
    "opencode",
    "patches",
    "recent_ids",
    "single_file",
]
