"""OpenAI Agents: a session around yours that keeps the chat and hands out a compacted history.

    Runner.run(agent, text, session=HoldfastSession(SQLiteSession("42"), keeper.chat("42")))

Your session keeps every item; only what the model is given is compacted. Needs
`holdfast[openai-agents]`.
"""

from typing import Any

from agents.memory import Session
from agents.memory.session_settings import SessionSettings

from holdfast.clients.messages.shapes import read_message
from holdfast.sdk.keeper import DEFAULT_COMPACT_CHARS, DEFAULT_KEEP_CHARS, ChatMemory
from holdfast.text import estimate_tokens


class HoldfastSession:
    """Fulfils `agents.memory.Session`. `above` is tokens, estimated."""

    def __init__(
        self,
        inner: Session,
        chat: ChatMemory,
        above: int = 100_000,
        *,
        max_chars: int = DEFAULT_COMPACT_CHARS,
        keep: int = DEFAULT_KEEP_CHARS,
        redact: bool = True,
    ) -> None:
        self.inner, self.chat = inner, chat
        self.session_id = inner.session_id
        self.session_settings: SessionSettings | None = inner.session_settings
        self._above, self._max_chars, self._keep, self._redact = above, max_chars, keep, redact
        # What replaces the first items, and how many: it stays the same until the next
        # compaction, so that a provider's cache holds.
        self._compacted: list[Any] = []
        self._covers = 0

    async def get_items(self, limit: int | None = None) -> list[Any]:
        items: list[Any] = list(await self.inner.get_items())
        await self.chat.ahear(items)
        if self._covers > len(items):  # items were taken back
            self._compacted, self._covers = [], 0
        shown = [*self._compacted, *items[self._covers :]]
        if count_tokens(shown) > self._above:
            shown = await self.chat.acompact(
                shown, self._max_chars, self._keep, redact=self._redact
            )
            self._compacted, self._covers = shown, len(items)
        return list(shown) if limit is None else list(shown[-limit:] if limit > 0 else [])

    async def add_items(self, items: list[Any]) -> None:
        await self.inner.add_items(items)
        await self.chat.ahear(await self.inner.get_items())

    async def pop_item(self) -> Any:
        return await self.inner.pop_item()

    async def clear_session(self) -> None:
        """The items go, and what is known of the chat with them."""
        self._compacted, self._covers = [], 0
        await self.inner.clear_session()
        await self.chat.aforget()


def count_tokens(items: list[Any]) -> int:
    return estimate_tokens(sum(read_message(item).size for item in items))
