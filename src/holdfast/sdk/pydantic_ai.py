"""pydantic-ai: a history processor that keeps the chat and compacts it when it has grown.

    Agent(model, capabilities=[ProcessHistory(history(keeper.chat("42"), above=120_000))])

Needs `holdfast[pydantic-ai]`.
"""

from collections.abc import Awaitable, Callable

from pydantic_ai.messages import ModelMessage, ModelResponse

from holdfast.clients.messages.shapes import read_message
from holdfast.sdk.keeper import DEFAULT_COMPACT_CHARS, DEFAULT_KEEP_CHARS, ChatMemory
from holdfast.text import estimate_tokens

History = Callable[[list[ModelMessage]], Awaitable[list[ModelMessage]]]


def history(
    chat: ChatMemory,
    above: int = 120_000,
    *,
    max_chars: int = DEFAULT_COMPACT_CHARS,
    keep: int = DEFAULT_KEEP_CHARS,
    redact: bool = True,
) -> History:
    """Hears every message; where the last request had more than `above` tokens, compacts."""

    async def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        await chat.ahear(messages)
        if count_tokens(messages) <= above:
            return messages
        return await chat.acompact(messages, max_chars, keep, redact=redact)

    return process


def count_tokens(messages: list[ModelMessage]) -> int:
    """What the provider counted with the last answer, and an estimate of what came since."""
    counted = 0
    since: list[ModelMessage] = []
    for message in reversed(messages):
        if isinstance(message, ModelResponse) and message.usage.input_tokens:
            counted = message.usage.input_tokens + message.usage.output_tokens
            break
        since.append(message)
    return counted + estimate_tokens(sum(read_message(one).size for one in since))
