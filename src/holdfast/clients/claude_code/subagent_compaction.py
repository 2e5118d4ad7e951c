"""Whose compaction is it, where the client does not say.

Since 2.1.323 the payloads of a subagent's compaction carry its `agent_id`; before, they look like
the main thread's (seen on 2.1.139). What shows it is on disk:

- While the main transcript's last message waits for a subagent in the foreground, the main thread
  cannot be the one that compacts.
- A subagent in the background works beside it. All threads compact at the same fill, so the one
  that compacts is the fullest: a subagent in the middle of its work whose last answer had more
  context than the main thread's. (One with a larger window than the main thread's is misjudged.)

Imported by the lightest hooks: needs `os` alone until there is something to parse.
"""

from __future__ import annotations

from holdfast.files import file_age, file_size, list_names, read_from

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
_CONTEXT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def must_be_subagent_compaction(transcript: str) -> bool:
    """True when an automatic compaction without a name must be a subagent's."""
    tail = _tail_of(transcript)
    if version_has_agent_id(_version_in(tail)):
        return False
    if any(call in tail for call in _CALLS) and waits_for_subagent(tail):
        return True
    # The ends of the subagents' transcripts that were written lately, the latest first.
    folder = transcript.removesuffix(".jsonl") + "/subagents"
    names = [name for name in list_names(folder) if name.endswith(".jsonl")]
    oldest = file_age(transcript, 0) + IDLE_SECONDS if names else 0.0
    ages = sorted((file_age(f"{folder}/{name}", 0), f"{folder}/{name}") for name in names)
    subagents = [_tail_of(path) for age, path in ages[:MAX_SUBAGENTS] if age < oldest]
    full = last_context_tokens(tail) if subagents else 0
    return full > 0 and any(
        is_mid_turn(rows) and last_context_tokens(rows) > full for rows in subagents
    )


def payload_has_agent_id(transcript: str) -> bool:
    """Whether the client that writes this transcript names the subagent that compacts."""
    return version_has_agent_id(_version_in(_tail_of(transcript)))


def _version_in(tail: bytes) -> str:
    found = tail.rpartition(_VERSION)
    return found[2].partition(b'"')[0].decode("ascii", "replace") if found[1] else ""


def version_has_agent_id(version: str) -> bool:
    """Whether a client of this version says which subagent compacts; an unknown one does."""
    parts = version.split(".")
    if len(parts) < 3 or not all(part.isdecimal() for part in parts[:3]):
        return True
    return tuple(int(part) for part in parts[:3]) >= AGENT_ID_SINCE_VERSION


def waits_for_subagent(rows: bytes) -> bool:
    """Whether the last message of the main chain in these rows has an unanswered agent call."""
    waiting: set[str] = set()
    said = ""
    for row, message, blocks in _list_messages(rows):
        if row.get("isSidechain") or row.get("isMeta"):
            continue
        if row["type"] == "user":
            answered = {str(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"}
            # Words of the user's after the call: the call was given up, or never got so far.
            waiting = waiting - answered if answered else set()
            continue
        if str(message.get("id")) != said:
            said, waiting = str(message.get("id")), set()
        calls = (block for block in blocks if block.get("type") == "tool_use")
        waiting |= {str(call.get("id")) for call in calls if call.get("name") in _AGENT_TOOLS}
    return bool(waiting)


def last_context_tokens(rows: bytes) -> int:
    """Tokens that the last answer in these rows was given; 0 where none says so."""
    for row, message, _ in reversed(_list_messages(rows)):
        usage = message.get("usage")
        if row["type"] == "assistant" and type(usage) is dict:
            counts = (usage.get(name) for name in _CONTEXT)
            return sum(count for count in counts if type(count) is int)
    return 0


def is_mid_turn(rows: bytes) -> bool:
    """Whether a subagent is in the middle: the last it wrote is not an answer in words.

    The file lags a little: a tool's result may not be there yet when the call is.
    """
    for _, _, blocks in _list_messages(rows)[-1:]:
        return bool(blocks) and blocks[-1].get("type") in ("tool_use", "tool_result")
    return False


def _list_messages(rows: bytes) -> list[tuple[dict[str, Any], dict[str, Any], list[Any]]]:
    """Each row that is a message, the message, and its blocks."""
    import json

    found = []
    for line in rows.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the cut first line, or one that is being written
        message = row.get("message") if type(row) is dict else None
        if type(message) is dict and row.get("type") in ("assistant", "user"):
            blocks = message.get("content")
            listed = blocks if type(blocks) is list else []
            found.append((row, message, [block for block in listed if type(block) is dict]))
    return found


def _tail_of(path: str) -> bytes:
    return read_from(path, max(0, file_size(path) - TAIL_BYTES), TAIL_BYTES)
