"""`Chats`: many chats of which a few are live.

A live client is a process of more than a hundred megabytes. Those that were idle longest are
parked, and resumed by their session's id when a message for them comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, Message

from holdfast.records import NamedTuple
from holdfast.sdk.claude.chat import DEFAULT_PATIENCE, JOBS_ENDED, Chat
from holdfast.sdk.guard import wait_guarded
from holdfast.sdk.keeper import Keeper

MAX_PARKED = 10_000  # of which the session's id is remembered; others go on from their brief


@dataclasses.dataclass
class _Live:
    chat: Chat | None = None  # none before it is opened
    waiting: int = 0  # messages that are being answered or wait for it
    idle_since: float = 0.0
    is_parking: bool = False
    # Held while the client starts or ends: other chats do not wait for that.
    changing: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)

    @property
    def is_idle(self) -> bool:
        return self.chat is not None and not self.waiting and not self.is_parking


class _Parked(NamedTuple):
    session: str
    used: int  # tokens
    jobs: str  # what ran when the client was ended


class Chats:
    """`options_for` gives the options of a chat; `chat_options` are those of `Chat`.

    At most `live` clients run while others can be parked; one that has been idle for
    `idle_seconds` is parked too, `patience` seconds later where a job runs in it. Use as an
    async context manager.
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
        self._parked: dict[str, _Parked] = {}
        self._sweeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Chats:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    @property
    def live(self) -> list[str]:
        """The chats whose client runs, or starts."""
        return list(self._live)

    async def ask(self, chat_id: str, text: str) -> AsyncGenerator[Message, None]:
        """As `Chat.ask`, of the chat of this id."""
        entry = self._live.setdefault(chat_id, _Live())
        entry.waiting += 1
        if self._sweeping is None:
            self._sweeping = asyncio.create_task(self._close_idle())
        try:
            chat = await self._take_client(chat_id, entry)
            async with contextlib.aclosing(chat.ask(text)) as answer:
                async for message in answer:
                    yield message
        finally:
            entry.waiting -= 1
            entry.idle_since = time.monotonic()
            self._drop_unused(chat_id, entry)

    async def park(self, chat_id: str) -> bool:
        """End the client of an idle chat. False where it is not live or not idle."""
        entry = self._live.get(chat_id)
        return entry is not None and entry.is_idle and await self._park_client(chat_id, entry)

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeping
            self._sweeping = None
        for chat_id, entry in list(self._live.items()):
            async with entry.changing:
                self._live.pop(chat_id, None)
                if entry.chat is not None:
                    await entry.chat.disconnect()

    async def _take_client(self, chat_id: str, entry: _Live) -> Chat:
        async with entry.changing:
            if entry.chat is None:
                await self._make_room()
                entry.chat = await self._open_client(chat_id)
            return entry.chat

    async def _open_client(self, chat_id: str) -> Chat:
        options = self._options_for(chat_id)
        parked = self._parked.pop(chat_id, None)
        memory = self._keeper.chat(chat_id)
        if parked is not None and not options.resume:
            resumed = dataclasses.replace(options, resume=parked.session)
            chat = Chat(resumed, memory, **self._chat_options)
            chat.used = parked.used
            chat.carry(parked.jobs)
            # Its transcript may be gone: the brief is not.
            if await wait_guarded(f"resuming {chat_id}", lambda: _is_connected(chat), False):
                return chat
            await chat.disconnect()
        fresh = Chat(options, memory, **self._chat_options)
        await fresh.connect()
        return fresh

    async def _make_room(self) -> None:
        """Chats in which a job runs are parked last: it would end with the client."""
        live = [entry for entry in self._live.values() if not entry.is_parking]
        idle = sorted(
            (bool(entry.chat and entry.chat.describe_jobs()), entry.idle_since, chat_id)
            for chat_id, entry in self._live.items()
            if entry.is_idle
        )
        for _, _, chat_id in idle[: max(0, len(live) - self._limit)]:
            await self._park_client(chat_id, self._live[chat_id])

    async def _park_client(self, chat_id: str, entry: _Live) -> bool:
        """Of an idle entry. Who speaks to it meanwhile waits, and opens it again."""
        entry.is_parking = True
        try:
            async with entry.changing:
                chat, entry.chat = entry.chat, None
                if chat is not None:
                    self._remember_session(chat_id, chat)
                    await chat.disconnect()
        finally:
            entry.is_parking = False
        self._drop_unused(chat_id, entry)
        return chat is not None

    def _remember_session(self, chat_id: str, chat: Chat) -> None:
        if not chat.session_id:
            return
        jobs = chat.describe_jobs(JOBS_ENDED)
        self._parked[chat_id] = _Parked(chat.session_id, chat.used, jobs)
        while len(self._parked) > MAX_PARKED:
            del self._parked[next(iter(self._parked))]

    def _drop_unused(self, chat_id: str, entry: _Live) -> None:
        """An entry without a client, for which no caller waits."""
        unused = entry.chat is None and not entry.waiting and not entry.changing.locked()
        if unused and self._live.get(chat_id) is entry:
            del self._live[chat_id]

    def _idle_limit(self, entry: _Live) -> float:
        has_jobs = entry.chat is not None and entry.chat.describe_jobs()
        patience = self._chat_options.get("patience", DEFAULT_PATIENCE)
        return self._idle_seconds + (patience if has_jobs else 0.0)

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(max(self._idle_seconds / 4, 0.05))
            now = time.monotonic()
            for chat_id, entry in list(self._live.items()):
                if entry.is_idle and now - entry.idle_since > self._idle_limit(entry):
                    await wait_guarded(
                        f"parking {chat_id}", partial(self._park_client, chat_id, entry), False
                    )


async def _is_connected(chat: Chat) -> bool:
    await chat.connect()
    return True
