"""What an instant compaction would leave now: the state as text, and the messages that stay.

For `holdfast brief --instant`, from the transcript alone. The client hands its messages to the
native module; here they are read from the rows behind the last boundary, with the ones that the
boundary names as kept. Must not write.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from holdfast.brief.kept import Heard, choose_kept
from holdfast.clients.claude_code.fields import object_of, objects, shown, text, texts
from holdfast.clients.claude_code.words import OUR_OPENINGS, user_words
from holdfast.lifecycle.native import KEPT, instant_text
from holdfast.redact import redact
from holdfast.state import State
from holdfast.transcript.reader import Loads, Reader, loads_text

NOTHING = ("user: ", "assistant: ")  # a row of thoughts alone


class Left(NamedTuple):
    text: str  # in place of everything before
    messages: tuple[str, ...]  # word for word, each with who said it


def what_is_left(path: str, state: State, *, loads: Loads | None = None) -> Left:
    rows = _conversation(path, loads or loads_text)
    heard = [_heard(row) for row in rows]
    kept = choose_kept(heard, KEPT)
    made = instant_text(state, state.place.updated, path)
    told = (_told(rows[place]) for place in kept)
    return Left(made.text, tuple(one for one in told if one not in NOTHING))


def _conversation(path: str, loads: Loads) -> list[dict[str, Any]]:
    """The messages since the last boundary, in the order of the file."""
    rows: list[dict[str, Any]] = []
    with Reader(path, loads=loads, final=True) as reader:
        for row in reader.rows():
            data = row.data
            if data.get("isSidechain") is True or data.get("agentId"):
                continue
            if data.get("subtype") == "compact_boundary":
                details = object_of(data.get("compactMetadata"))
                named = set(texts(object_of(details.get("preservedMessages")).get("uuids")))
                rows = [one for one in rows if one.get("uuid") in named]
            elif data.get("type") in ("user", "assistant") and data.get("isMeta") is not True:
                rows.append(data)
    return rows


def _heard(row: dict[str, Any]) -> Heard:
    content = object_of(row.get("message")).get("content")
    blocks = objects(content)
    calls = tuple(text(b.get("id")) for b in blocks if b.get("type") == "tool_use")
    answers = tuple(text(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result")
    role = text(row.get("type"))
    said = shown(content).lstrip()
    summary = row.get("isCompactSummary") is True
    typed = role == "user" and not answers and not summary and bool(user_words(said))
    return Heard(
        role, len(_told(row)), typed, calls, answers, said.startswith(OUR_OPENINGS) or summary
    )


def _told(row: dict[str, Any]) -> str:
    content = object_of(row.get("message")).get("content")
    parts = [content] if isinstance(content, str) else []
    for block in objects(content):
        kind = block.get("type")
        if kind == "text":
            parts.append(text(block.get("text")))
        elif kind == "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False)
            parts.append(f"{text(block.get('name'))} {given}")
        elif kind == "tool_result":
            parts.append(shown(block.get("content")))
    return redact(f"{text(row.get('type'))}: " + "\n".join(parts))
