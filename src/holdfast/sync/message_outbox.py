"""Messages of this machine on their way to the service: one file each, posted by the sync worker.

    outgoing/<time>-<key>.json           waits
    outgoing/refused/<the same>          the service did not want it, and says why

The key in the file makes a message one, however often it is posted.
"""

import json
import os
import time
from typing import Any

from holdfast.files import list_names, make_private_dir, read, remove, write_atomic
from holdfast.records import NamedTuple

OUTBOX_DIR, REJECTED_DIR = "outgoing", "refused"
SUFFIX = ".json"


class OutgoingMessage(NamedTuple):
    path: str
    key: str
    # As the service takes it; the project is told by its `folder`, and perhaps by a `name`.
    body: dict[str, Any]
    reason: str = ""  # of the service, where it did not want it


def queue_message(data: str, body: dict[str, Any]) -> str:
    """The key of the message, which is on disk now."""
    key = os.urandom(16).hex()
    folder = f"{data}/{OUTBOX_DIR}"
    make_private_dir(folder)
    # By time first: they are posted in the order in which they were written.
    name = f"{time.time_ns():020d}-{key}{SUFFIX}"
    write_atomic(f"{folder}/{name}", json.dumps({"key": key, "body": body}).encode())
    return key


def list_queued(data: str) -> list[OutgoingMessage]:
    return _read_messages(f"{data}/{OUTBOX_DIR}")


def list_rejected(data: str) -> list[OutgoingMessage]:
    return _read_messages(f"{data}/{OUTBOX_DIR}/{REJECTED_DIR}")


def reject_queued(message: OutgoingMessage, reason: str) -> None:
    folder, _, name = message.path.rpartition("/")
    make_private_dir(f"{folder}/{REJECTED_DIR}")
    said = {"key": message.key, "body": message.body, "reason": reason}
    write_atomic(f"{folder}/{REJECTED_DIR}/{name}", json.dumps(said).encode())
    remove(message.path)


def _read_messages(folder: str) -> list[OutgoingMessage]:
    found = []
    for name in sorted(list_names(folder)):
        if not name.endswith(SUFFIX):
            continue
        path = f"{folder}/{name}"
        try:
            said = json.loads(read(path) or b"")
            reason = str(said.get("reason", ""))
            found.append(OutgoingMessage(path, str(said["key"]), dict(said["body"]), reason))
        except (ValueError, KeyError, TypeError):
            continue  # not one of ours
    return found
