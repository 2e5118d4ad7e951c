"""Anthropic's messages: compaction on your side, or steering the API's own.

On your side nothing of this module is needed: `messages = chat.compact(messages)`. Where the API
compacts (`context_management`), `compaction_edit` tells it what to keep, and `restore_gap` puts
what its summary lost behind it. Needs `holdfast[anthropic]`.
"""

from typing import Any

from anthropic.types.beta import BetaCompact20260112EditParam, BetaMessage, BetaMessageParam

from holdfast.sdk.keeper import DEFAULT_GAP_CHARS, DEFAULT_STEERING_CHARS, ChatMemory

BETA = "compact-2026-01-12"


def compaction_edit(
    chat: ChatMemory, trigger_tokens: int = 150_000, *, max_chars: int = DEFAULT_STEERING_CHARS
) -> BetaCompact20260112EditParam:
    """For `context_management={"edits": [...]}`: with the facts that a summary would lose."""
    edit: BetaCompact20260112EditParam = {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": trigger_tokens},
        "pause_after_compaction": True,
    }
    steering = chat.steering(max_chars)
    if steering:
        edit["instructions"] = steering
    return edit


def restore_gap(
    chat: ChatMemory,
    messages: list[BetaMessageParam],
    response: BetaMessage,
    *,
    max_chars: int = DEFAULT_GAP_CHARS,
) -> list[BetaMessageParam]:
    """The messages to go on with after this response.

    Where the API compacted, its block replaces all before it, followed by what the summary
    lost; else the messages with the response.
    """
    content: Any = [block.model_dump(exclude_none=True) for block in response.content]
    said: Any = {"role": "assistant", "content": content}
    summary = next(
        (block.content or "" for block in response.content if block.type == "compaction"), None
    )
    if summary is None:
        return [*messages, said]
    gap = chat.gap(summary, max_chars)
    after: list[Any] = [{"role": "user", "content": gap}] if gap else []
    return [said, *_last_request(messages), *after]


def _last_request(messages: list[BetaMessageParam]) -> list[BetaMessageParam]:
    """The words that wait for an answer, which the API has compacted with the rest."""
    last = messages[-1] if messages else None
    if last is None or last["role"] != "user" or not isinstance(last["content"], str):
        return []
    return [last]
