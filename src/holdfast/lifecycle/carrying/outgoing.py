"""Messages of this machine on their way to the service: one file each, posted by the carrier.

    outgoing/<time>-<key>.json           waits
    outgoing/refused/<the same>          the service did not want it, and says why

The key in the file makes a message one, however often it is posted.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, NamedTuple

from holdfast.files import make_folder, names, read, remove, replace

FOLDER, REFUSED = "outgoing", "refused"
SUFFIX = ".json"


class Outgoing(NamedTuple):
    path: str
    key: str
    body: dict[
        str, Any
    ]  # as the service takes it; the project is told by its `folder`, and perhaps by a `name`
    reason: str = ""  # of the service, where it did not want it


def put(data: str, body: dict[str, Any]) -> str:
    """The key of the message, which is on disk now."""
    key = os.urandom(16).hex()
    folder = f"{data}/{FOLDER}"
    make_folder(folder)
    # By time first: they are posted in the order in which they were written.
    name = f"{time.time_ns():020d}-{key}{SUFFIX}"
    replace(f"{folder}/{name}", json.dumps({"key": key, "body": body}).encode())
    return key


def waiting(data: str) -> list[Outgoing]:
    return _read(f"{data}/{FOLDER}")


def refused(data: str) -> list[Outgoing]:
    return _read(f"{data}/{FOLDER}/{REFUSED}")


def done(letter: Outgoing) -> None:
    remove(letter.path)


def set_aside(letter: Outgoing, reason: str) -> None:
    folder, _, name = letter.path.rpartition("/")
    make_folder(f"{folder}/{REFUSED}")
    said = {"key": letter.key, "body": letter.body, "reason": reason}
    replace(f"{folder}/{REFUSED}/{name}", json.dumps(said).encode())
    remove(letter.path)


def _read(folder: str) -> list[Outgoing]:
    found = []
    for name in sorted(names(folder)):
        if not name.endswith(SUFFIX):
            continue
        path = f"{folder}/{name}"
        try:
            said = json.loads(read(path) or b"")
            reason = str(said.get("reason", ""))
            found.append(Outgoing(path, str(said["key"]), dict(said["body"]), reason))
        except (ValueError, KeyError, TypeError):
            continue  # not one of ours
    return found
