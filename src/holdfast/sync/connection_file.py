"""The server that this user's sessions are synced to: `service.json` in the user's data folder.

In the data folder and nowhere else: no project's settings, and no variable that a project's
settings could set, sends a user's memory anywhere. A file that others could have written or
read does not count.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.files import make_private_dir, read, remove, write_atomic
from holdfast.paths import CONNECTION_FILE

SERVER_VARIABLE, TOKEN_VARIABLE = "HOLDFAST_SERVICE", "HOLDFAST_TOKEN"


class ServerConnection(NamedTuple):
    url: str
    token: str = ""
    since: str = ""


class UnsafeConnectionFile(Exception):
    """The file is not the user's own, or not for the user alone."""


def load_connection(data: str) -> ServerConnection | None:
    """None when this user is not connected; raises Unsafe."""
    path = f"{data}/{CONNECTION_FILE}"
    try:
        there = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(there.st_mode) or there.st_mode & 0o077 or there.st_uid != os.getuid():
        raise UnsafeConnectionFile(f"{path} is readable by others (chmod 600 it); ignored")
    try:
        said = json.loads(read(path) or b"")
        found = ServerConnection(*(str(said.get(name, "")) for name in ServerConnection._fields))
    except (ValueError, AttributeError) as error:
        raise UnsafeConnectionFile(f"{path} is invalid: connect again") from error
    return found if is_http_url(found.url) else None


def effective_connection(data: str, environ: Mapping[str, str]) -> ServerConnection | None:
    """For commands that a person types: the environment wins. Hooks do not ask it."""
    kept = load_connection(data)
    url = environ.get(SERVER_VARIABLE, "")
    if not is_http_url(url):
        token = environ.get(TOKEN_VARIABLE, "")
        return kept._replace(token=token) if kept is not None and token else kept
    return ServerConnection(url.rstrip("/"), environ.get(TOKEN_VARIABLE, ""))


def save_connection(data: str, made: ServerConnection) -> str:
    make_private_dir(data)
    path = f"{data}/{CONNECTION_FILE}"
    write_atomic(path, json.dumps(made._asdict()).encode())
    return path


def delete_connection(data: str) -> None:
    remove(f"{data}/{CONNECTION_FILE}")


def is_http_url(url: str) -> bool:
    return url.startswith(("http://", "https://"))
