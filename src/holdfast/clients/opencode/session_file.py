"""The file that we write of a session: JSON lines, only ever appended to.

OpenCode keeps sessions in a database of its own and deletes rows from it when the user goes back;
the plugin hands every finished message over as it comes, and here it is written down without its
secrets, before anything else is done with it. A row is known by its `row`, which is the
client's id of the message. Must not know what rows mean.
"""

import json
import os
import re

from holdfast.clients.json_fields import as_objects, as_text
from holdfast.files import append, exists, file_size, make_private_dir, read_from
from holdfast.paths import PATTERNS_FILE
from holdfast.records import Any
from holdfast.redact import redact_bytes

FORMAT = 1
_HEAD = re.compile(rb'^\{(?:"[a-z]+":\d+,)?"row":"([^"\\]{1,200})"')


def append_rows(path: str, call: dict[str, Any], data: str) -> int:
    """The rows of this call behind those that are there; how many were written.

    Raises OSError: then the plugin keeps them and comes again.
    """
    rows = [row for row in as_objects(call.get("rows")) if as_text(row.get("row"))]
    is_there = exists(path)
    if is_there and call.get("is_fresh"):
        # Another process of the client, or one that got no answer, may have brought them before.
        known = _read_ids(path)
        rows = [row for row in rows if str(row["row"]).encode() not in known]
    if not rows:
        return 0
    # The id first, so that it is found without parsing.
    lines = [_dump_row({"row": row["row"], **row}) for row in rows]
    if not is_there:
        lines.insert(0, _encode_header(call, os.path.basename(path).removesuffix(".jsonl")))
    if exists(f"{data}/{PATTERNS_FILE}"):
        from holdfast.settings.user_patterns import apply_saved_patterns

        apply_saved_patterns(data)
    text = redact_bytes(b"".join(lines))
    make_private_dir(os.path.dirname(path))
    if is_there and read_from(path, file_size(path) - 1, 1) != b"\n":
        text = b"\n" + text  # behind a line that a full disk cut short
    if not append(path, text):
        raise OSError(f"{path}: not all of it could be written")
    return len(rows)


def _encode_header(call: dict[str, Any], client: str) -> bytes:
    fields = {"type": "session", "cwd": as_text(call.get("cwd"))}
    version = as_text(call.get("version"))
    return _dump_row(
        {client: FORMAT, "row": as_text(call["session_id"]), **fields, "version": version}
    )


def _dump_row(row: dict[str, Any]) -> bytes:
    # ASCII: half a surrogate pair, which a client may hand over, cannot be written otherwise.
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _read_ids(path: str) -> set[bytes]:
    with open(path, "rb") as lines:
        return {found[1] for line in lines if (found := _HEAD.match(line))}
