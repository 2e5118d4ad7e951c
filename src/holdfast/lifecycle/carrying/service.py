"""To which service this user's memory is carried: `service.json` in the user's data folder.

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

from holdfast.files import make_folder, read, remove, replace

FILE = "service.json"
SERVICE, TOKEN = "HOLDFAST_SERVICE", "HOLDFAST_TOKEN"


class Connection(NamedTuple):
    url: str
    token: str = ""
    since: str = ""


class Unsafe(Exception):
    """The file is not the user's own, or not for the user alone."""


def connection(data: str) -> Connection | None:
    """None when this user is not connected; raises Unsafe."""
    path = f"{data}/{FILE}"
    try:
        there = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(there.st_mode) or there.st_mode & 0o077 or there.st_uid != os.getuid():
        raise Unsafe(f"{path} is not a file for you alone (chmod 600); it is left out")
    try:
        said = json.loads(read(path) or b"")
        found = Connection(*(str(said.get(name, "")) for name in Connection._fields))
    except (ValueError, AttributeError) as error:
        raise Unsafe(f"{path} cannot be understood: connect again") from error
    return found if is_address(found.url) else None


def chosen(data: str, environ: Mapping[str, str]) -> Connection | None:
    """For commands that a person types: the environment wins. Hooks do not ask it."""
    kept = connection(data)
    url = environ.get(SERVICE, "")
    if not is_address(url):
        token = environ.get(TOKEN, "")
        return kept._replace(token=token) if kept is not None and token else kept
    return Connection(url.rstrip("/"), environ.get(TOKEN, ""))


def connect(data: str, made: Connection) -> str:
    make_folder(data)
    path = f"{data}/{FILE}"
    replace(path, json.dumps(made._asdict()).encode())
    return path


def disconnect(data: str) -> None:
    remove(f"{data}/{FILE}")


def is_address(url: str) -> bool:
    return url.startswith(("http://", "https://"))
