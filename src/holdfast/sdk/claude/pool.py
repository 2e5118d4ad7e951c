"""`Chats`: many chats of which a few are live.

A live client is a process of more than a hundred megabytes. Those that were idle longest are
parked, and resumed by their session's id when somebody speaks to them again.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, Message

from holdfast.sdk.claude.chat import Chat
from holdfast.sdk.guard import wait_guarded
from holdfast.sdk.keeper import Keeper

MAX_PARKED = 10_000  # of which the session's id is remembered; others go on from their brief


@dataclasses.dataclass
class _Live:
    chat: Chat
    waiting: int = 0  # messages that are being answered or wait for it
    idle_since: float = 0.0


class Chats:
    """`options_for` gives the options of a chat; `chat_options` are those of `Chat`.

    At most `live` clients run while others can be parked; one that has been idle for
    `idle_seconds` is parked too. Use as an async context manager.
    """

    def __init__(
        self,
        options_for: Callable[[str], ClaudeAgentOptions],
        keeper: Keeper,
        *,
        live: int = 50,
        idle_seconds: float = 300.0,
        **chat_options: Any,
    ) -> None:
        self._options_for, self._keeper = options_for, keeper
        self._limit, self._idle_seconds, self._chat_options = live, idle_seconds, chat_options
        self._live: dict[str, _Live] = {}
        self._parked: dict[str, tuple[str, int]] = {}
        self._guard = asyncio.Lock()
        self._sweeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Chats:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    @property
    def live(self) -> list[str]:
        return list(self._live)

    async def ask(self, chat_id: str, text: str) -> AsyncGenerator[Message, None]:
        """As `Chat.ask`, of the chat of this id."""
        entry = await self._take(chat_id)
        try:
            async with contextlib.aclosing(entry.chat.ask(text)) as answer:
                async for message in answer:
                    yield message
        finally:
            entry.waiting -= 1
            entry.idle_since = time.monotonic()

    async def park(self, chat_id: str) -> bool:
        """End the client of an idle chat. False where it is not live or not idle."""
        async with self._guard:
            return await self._park(chat_id)

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeping
            self._sweeping = None
        async with self._guard:
            for chat_id in list(self._live):
                await self._live.pop(chat_id).chat.disconnect()

    async def _take(self, chat_id: str) -> _Live:
        async with self._guard:
            entry = self._live.get(chat_id)
            if entry is None:
                await self._make_room()
                entry = _Live(await self._open(chat_id))
                self._live[chat_id] = entry
            entry.waiting += 1
            if self._sweeping is None:
                self._sweeping = asyncio.create_task(self._sweep())
            return entry

    async def _open(self, chat_id: str) -> Chat:
        options = self._options_for(chat_id)
        session, used = self._parked.pop(chat_id, ("", 0))
        memory = self._keeper.chat(chat_id)
        if session and not options.resume:
            resumed = dataclasses.replace(options, resume=session)
            chat = Chat(resumed, memory, **self._chat_options)
            chat.used = used
            # Its transcript may be gone: the brief is not.
            if await wait_guarded(f"resuming {chat_id}", lambda: _connected(chat), False):
                return chat
            await chat.disconnect()
        fresh = Chat(options, memory, **self._chat_options)
        await fresh.connect()
        return fresh

    async def _make_room(self) -> None:
        idle = sorted(
            (entry.idle_since, chat_id)
            for chat_id, entry in self._live.items()
            if not entry.waiting
        )
        for _, chat_id in idle[: max(0, len(self._live) - self._limit + 1)]:
            await self._park(chat_id)

    async def _park(self, chat_id: str) -> bool:
        entry = self._live.get(chat_id)
        if entry is None or entry.waiting:
            return False
        del self._live[chat_id]
        if entry.chat.session_id:
            self._parked[chat_id] = (entry.chat.session_id, entry.chat.used)
            while len(self._parked) > MAX_PARKED:
                del self._parked[next(iter(self._parked))]
        await entry.chat.disconnect()
        return True

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(max(self._idle_seconds / 4, 0.05))
            async with self._guard:
                now = time.monotonic()
                for chat_id, entry in list(self._live.items()):
                    if not entry.waiting and now - entry.idle_since > self._idle_seconds:
                        await self._park(chat_id)


async def _connected(chat: Chat) -> bool:
    await chat.connect()
    return True
