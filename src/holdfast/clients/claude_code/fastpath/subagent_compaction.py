"""Whose compaction is it, where the client does not say.

Since 2.1.323 the payloads of a subagent's compaction carry its `agent_id`; before, they look like
the main thread's (seen on 2.1.139). What tells is on disk:

- While the main transcript's last message waits for a subagent in the foreground, the main thread
  cannot be the one that compacts.
- A subagent in the background works beside it. All threads compact at the same fill, so the one
  that compacts is the fullest: a subagent in the middle of its work whose last answer had more
  context than the main thread's. (One with a larger window than the main thread's is misjudged.)

Imported by the lightest hooks: needs `os` alone until there is something to parse.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# While a subagent works, the client appends little to the main transcript.
TAIL_BYTES = 256 * 1024
AGENT_ID_SINCE_VERSION = (2, 1, 323)
# A subagent that has not written for so long, measured by the main transcript, is not at work.
IDLE_SECONDS = 600.0
MAX_SUBAGENTS = 8
_AGENT_TOOLS = ("Agent", "Task")
_CALLS = tuple(b'"name":"' + name.encode() + b'"' for name in _AGENT_TOOLS)
_VERSION = b'"version":"'
# To open a pipe waits for its writer, and this is on the agent's clock.
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0)


def must_be_subagent_compaction(transcript: str) -> bool:
    """True when an automatic compaction that names nobody must be a subagent's."""
    tail = _tail_of(transcript)
    if version_has_agent_id(_version_in(tail)):
        return False
    if any(call in tail for call in _CALLS) and waits_for_subagent(tail):
        return True
    return _has_larger_context(_subagents_at_work(transcript), tail)


def payload_has_agent_id(transcript: str) -> bool:
    """Whether the client that writes this transcript names the subagent that compacts."""
    return version_has_agent_id(_version_in(_tail_of(transcript)))


def _version_in(tail: bytes) -> str:
    place = tail.rfind(_VERSION)
    if place < 0:
        return ""
    return tail[place + len(_VERSION) :].partition(b'"')[0].decode("ascii", "replace")


def version_has_agent_id(version: str) -> bool:
    """Whether a client of this version says which subagent compacts; an unknown one does."""
    parts = version.split(".")
    if len(parts) < 3 or not all(part.isdecimal() for part in parts[:3]):
        return True
    return tuple(int(part) for part in parts[:3]) >= AGENT_ID_SINCE_VERSION


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


def _has_larger_context(subagents: list[bytes], main: bytes) -> bool:
    if not subagents:
        return False
    full = last_context_tokens(main)
    return full > 0 and any(
        is_mid_turn(rows) and last_context_tokens(rows) > full for rows in subagents
    )


def last_context_tokens(rows: bytes) -> int:
    """Tokens that the last answer in these rows was given; 0 where none says so."""
    for row in reversed(_parsed(rows)):
        message = row.get("message")
        usage = message.get("usage") if type(message) is dict else None
        if row.get("type") == "assistant" and type(usage) is dict:
            counts = (usage.get(name) for name in _CONTEXT)
            return sum(count for count in counts if type(count) is int)
    return 0


_CONTEXT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def is_mid_turn(rows: bytes) -> bool:
    """Whether a subagent is in the middle: the last it wrote is no answer in words.

    The file lags a little: a tool's result may not be there yet when the call is.
    """
    for row in reversed(_parsed(rows)):
        message = row.get("message")
        if row.get("type") in ("assistant", "user") and type(message) is dict:
            blocks = message.get("content")
            last = blocks[-1] if type(blocks) is list and blocks else {}
            return type(last) is dict and last.get("type") in ("tool_use", "tool_result")
    return False


def _subagents_at_work(transcript: str) -> list[bytes]:
    """The ends of the subagents' transcripts that were written lately, the latest first."""
    folder = transcript.removesuffix(".jsonl") + "/subagents"
    try:
        names = os.listdir(folder)
        since = os.stat(transcript).st_mtime - IDLE_SECONDS
    except OSError:
        return []  # as in nearly every session
    found = []
    for name in names:
        if name.endswith(".jsonl"):
            try:
                written = os.stat(f"{folder}/{name}").st_mtime
            except OSError:
                continue
            if written > since:
                found.append((written, f"{folder}/{name}"))
    return [_tail_of(path) for _, path in sorted(found, reverse=True)[:MAX_SUBAGENTS]]


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
        handle = os.open(path, os.O_RDONLY | _WITHOUT_WAITING)
    except OSError:
        return b""
    try:
        size = os.fstat(handle).st_size
        os.lseek(handle, max(0, size - TAIL_BYTES), os.SEEK_SET)
        return os.read(handle, TAIL_BYTES)
    except OSError:
        return b""
    finally:
        os.close(handle)
