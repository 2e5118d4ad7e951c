"""Whose compaction is it, where the client does not say.

Since 2.1.323 the payloads of a subagent's compaction carry its `agent_id`; before, they look like
the main thread's (seen on 2.1.139). What tells is the main transcript: while its last message
waits for a subagent in the foreground, the main thread cannot be the one that compacts.
A subagent in the background leaves no such mark, and counts as the main thread.

Imported by the lightest hooks: needs `os` alone until there is something to parse.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# While a subagent works, the client appends little to the main transcript.
TAIL = 256 * 1024
NAMES_AGENTS_SINCE = (2, 1, 323)
_AGENT_TOOLS = ("Agent", "Task")
_CALLS = tuple(b'"name":"' + name.encode() + b'"' for name in _AGENT_TOOLS)
_VERSION = b'"version":"'


def main_thread_waits(transcript: str) -> bool:
    """True when an unnamed compaction of this session must be a subagent's."""
    tail = _tail_of(transcript)
    if not any(call in tail for call in _CALLS):
        return False
    place = tail.rfind(_VERSION)
    version = tail[place + len(_VERSION) :].partition(b'"')[0].decode("ascii", "replace")
    if place < 0 or names_agents(version):
        return False
    return waits_for_subagent(tail)


def names_agents(version: str) -> bool:
    """Whether a client of this version says which subagent compacts; an unknown one does."""
    parts = version.split(".")
    if len(parts) < 3 or not all(part.isdecimal() for part in parts[:3]):
        return True
    return tuple(int(part) for part in parts[:3]) >= NAMES_AGENTS_SINCE


def waits_for_subagent(rows: bytes) -> bool:
    """Whether the last message of the main chain in these rows has an unanswered agent call."""
    waiting: set[str] = set()
    message = ""
    for row in _parsed(rows):
        if row.get("isSidechain") or row.get("isMeta"):
            continue
        kind, content = row.get("type"), row.get("message")
        if kind not in ("assistant", "user") or type(content) is not dict:
            continue
        blocks = content.get("content")
        if kind == "user":
            answered = _ids(blocks, "tool_result", "tool_use_id")
            # Words of the user's after the call: the call was given up, or never got so far.
            waiting = waiting - answered if answered else set()
            continue
        if str(content.get("id")) != message:
            message, waiting = str(content.get("id")), set()
        waiting |= _ids(blocks, "tool_use", "id")
    return bool(waiting)


def _ids(blocks: object, kind: str, field: str) -> set[str]:
    found = set()
    for block in blocks if type(blocks) is list else ():
        if type(block) is dict and block.get("type") == kind:
            if kind == "tool_use" and block.get("name") not in _AGENT_TOOLS:
                continue
            found.add(str(block.get(field)))
    return found


def _parsed(rows: bytes) -> list[dict[str, Any]]:
    import json

    found = []
    for line in rows.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the cut first line, or one that is being written
        if type(row) is dict:
            found.append(row)
    return found


def _tail_of(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        size = os.fstat(handle).st_size
        os.lseek(handle, max(0, size - TAIL), os.SEEK_SET)
        return os.read(handle, TAIL)
    except OSError:
        return b""
    finally:
        os.close(handle)
