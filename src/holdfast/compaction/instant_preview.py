"""What an instant compaction would leave now: the state as text, and the messages that stay.

For `holdfast brief --instant`, from the transcript alone. The client hands its messages to the
native module; here they are read from the rows behind the last boundary, with the ones that the
boundary names as kept. Must not write.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from holdfast.brief.verbatim_messages import ConversationMessage, select_verbatim
from holdfast.clients.claude_code.transcript.json_fields import (
    as_object,
    as_objects,
    as_text,
    as_texts,
    content_text,
)
from holdfast.clients.claude_code.transcript.user_text import HOLDFAST_OPENINGS, extract_user_text
from holdfast.compaction.module_handlers import MAX_KEPT_CHARS, compose_instant_text
from holdfast.redact import redact
from holdfast.state import State
from holdfast.transcript.reader import Loads, TranscriptReader, parse_line

EMPTY_MESSAGES = ("user: ", "assistant: ")  # a row of thoughts alone


class InstantPreview(NamedTuple):
    text: str  # in place of everything before
    messages: tuple[str, ...]  # word for word, each with who said it


def preview_instant_compaction(
    path: str, state: State, *, loads: Loads | None = None
) -> InstantPreview:
    rows = _read_conversation(path, loads or parse_line)
    heard = [_describe_message(row) for row in rows]
    kept = select_verbatim(heard, MAX_KEPT_CHARS)
    made = compose_instant_text(state, state.session.updated, path)
    told = (_format_message(rows[place]) for place in kept)
    return InstantPreview(made.text, tuple(one for one in told if one not in EMPTY_MESSAGES))


def _read_conversation(path: str, loads: Loads) -> list[dict[str, Any]]:
    """The messages since the last boundary, in the order of the file."""
    rows: list[dict[str, Any]] = []
    with TranscriptReader(path, loads=loads, final=True) as reader:
        for row in reader.rows():
            data = row.data
            if data.get("isSidechain") is True or data.get("agentId"):
                continue
            if data.get("subtype") == "compact_boundary":
                details = as_object(data.get("compactMetadata"))
                named = set(as_texts(as_object(details.get("preservedMessages")).get("uuids")))
                rows = [one for one in rows if one.get("uuid") in named]
            elif data.get("type") in ("user", "assistant") and data.get("isMeta") is not True:
                rows.append(data)
    return rows


def _describe_message(row: dict[str, Any]) -> ConversationMessage:
    content = as_object(row.get("message")).get("content")
    blocks = as_objects(content)
    calls = tuple(as_text(b.get("id")) for b in blocks if b.get("type") == "tool_use")
    answers = tuple(as_text(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result")
    role = as_text(row.get("type"))
    said = content_text(content).lstrip()
    summary = row.get("isCompactSummary") is True
    typed = role == "user" and not answers and not summary and bool(extract_user_text(said))
    return ConversationMessage(
        role,
        len(_format_message(row)),
        typed,
        calls,
        answers,
        said.startswith(HOLDFAST_OPENINGS) or summary,
    )


def _format_message(row: dict[str, Any]) -> str:
    content = as_object(row.get("message")).get("content")
    parts = [content] if isinstance(content, str) else []
    for block in as_objects(content):
        kind = block.get("type")
        if kind == "text":
            parts.append(as_text(block.get("text")))
        elif kind == "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False)
            parts.append(f"{as_text(block.get('name'))} {given}")
        elif kind == "tool_result":
            parts.append(content_text(block.get("content")))
    return redact(f"{as_text(row.get('type'))}: " + "\n".join(parts))
