"""`Chat`: a conversation that starts afresh, with its state, before the client has to compact.

One message is in flight at a time; others wait in the order of their coming. Between two turns,
when the context is nearly full, the conversation is cleared and goes on from the brief. A turn
that grows too long by itself ends at a tool boundary and goes on in the fresh conversation. The
client's own compaction stays below as a net (`protection`).
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Message,
    ResultMessage,
    SystemMessage,
)

from holdfast.records import NamedTuple
from holdfast.sdk.claude.protection import MAX_HOOK_CHARS, Protection, add_hook
from holdfast.sdk.guard import LOGGER, wait_guarded
from holdfast.sdk.keeper import ChatMemory

# Where the client compacts, of a window whose point it does not report: 167,000 of 200,000.
DEFAULT_POINT = 167_000
GO_ON = (
    "The context was full, so the conversation was cleared in the middle of your work. What was"
    " said and done so far is above: go on with the last request from there."
)
STOP_REASON = "Holdfast: the context is full; a fresh conversation goes on from here"
JOBS_RUN = "Still running in the background:"
# A job ends with the client that started it.
JOBS_ENDED = "These ran in the background and were ended; start them again if they are needed:"
MAX_JOBS_CHARS = 450
MAX_CONTINUATIONS = 25  # of one request: a loop that fills every context must end
RESET_SECONDS = 60.0
DEFAULT_PATIENCE = 300.0
# A message that waits behind a turn of the client's own is taken up at once when that ends.
TAKEN_UP_SECONDS = 10.0
# Since this client a message can say that it is words. For an earlier one, and while it is not
# known which runs, a zero-width space comes before the "/".
COMPOSED_SINCE = (2, 1, 248)
NO_COMMAND = "\u200b"
_TOKENS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_ENDED = frozenset(("completed", "failed", "stopped", "killed", "cancelled", "error"))


class Reset(NamedTuple):
    """What happened, for the code that tells the user."""

    before: int  # tokens
    seconds: float
    method: str  # "clear" | "process"
    brief: str


OnReset = Callable[[Reset], Any]
_Turn = asyncio.Queue[Message | None]  # its messages; None where the client has ended
# The chats whose callback this code runs in.
_CALLING: ContextVar[tuple[Chat, ...]] = ContextVar("calling", default=())


class ChatClosed(RuntimeError):
    """The client ended while a message was in flight."""


class Chat:
    """Use as an async context manager.

    `reset_at` and `stop_at` are parts of the point at which the client compacts, or tokens. While
    background jobs run a reset waits, for at most `patience` seconds, and so does a message while
    the client is in a turn that it began by itself. `method` is "auto", or
    "process" to always start a new one. A user's text that begins with "/" is sent as words,
    unless `commands` is True. `on_reset` is called with a `Reset`, `on_idle` with messages that
    answer nobody, such as those of a job that ended; both may be async. The chat waits for them,
    so neither may wait for the chat: `ask` and `reset` raise there.
    """

    def __init__(
        self,
        options: ClaudeAgentOptions,
        memory: ChatMemory,
        *,
        reset_at: float = 0.75,
        stop_at: float = 0.9,
        on_reset: OnReset | None = None,
        on_idle: Callable[[Message], Any] | None = None,
        method: str = "auto",
        patience: float = DEFAULT_PATIENCE,
        commands: bool = False,
    ) -> None:
        if method not in ("auto", "process"):
            raise ValueError(f'method is "auto" or "process", not {method!r}')
        self.memory = memory
        self.used = 0  # tokens in context, as of the last answer
        self.session_id = options.resume or ""
        self.resets = 0
        self._reset_at, self._stop_at = reset_at, stop_at
        self._on_reset, self._on_idle = on_reset, on_idle
        self._patience, self._commands = patience, commands
        self._clears = method == "auto" and not options.verbatim_prompts
        self._protection = Protection(memory)
        guarded = self._protection.apply(options, owns_prompts=True)
        self._options = add_hook(guarded, "PostToolBatch", self._after_tools)
        self._lock = asyncio.Lock()
        self._client: ClaudeSDKClient | None = None
        self._reading: asyncio.Task[None] | None = None
        self._turn: _Turn | None = None
        self._point = 0
        self._learning: asyncio.Task[None] | None = None
        self._jobs: dict[str, str] = {}
        self._postponed = 0.0  # since when a reset waits for jobs
        self._handoff = ""  # what the next prompt carries
        self._stopping = False
        self._stops = True  # whether a turn that grows too long is ended
        self._quiet = asyncio.Event()  # set while no turn of the client's own runs
        self._quiet.set()
        self._version: tuple[int, ...] = ()
        self._callbacks = 0  # that run now

    async def __aenter__(self) -> Chat:
        await self.connect()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.disconnect()

    async def connect(self) -> None:
        """Start the client. A chat that is known already goes on from its brief."""
        if not (self._options.resume or self._options.continue_conversation):
            self._handoff = await self.memory.abrief(MAX_HOOK_CHARS)
        await self._start_client(self._options)

    async def disconnect(self) -> None:
        await self._end_client()
        await self._protection.feed.flush()

    async def interrupt(self) -> None:
        if self._client is not None:
            await self._client.interrupt()

    async def ask(self, text: str) -> AsyncGenerator[Message, None]:
        """One message and its answer, up to the ResultMessage; others wait their turn."""
        self._refuse_in_callback()
        async with self._lock:
            await self._wait_for_quiet()
            if self._reading is not None and self._reading.done():
                # The client has died since: a new one goes on from the brief.
                await self._restart_client(await self._make_brief(JOBS_ENDED))
            elif self._must_reset() and await self._may_reset():
                await self._reset_client()
            last: ResultMessage | None = None
            for _ in range(MAX_CONTINUATIONS):
                last = None
                async with contextlib.aclosing(self._send_prompt(text)) as answer:
                    async for message in answer:
                        if isinstance(message, ResultMessage):
                            last = message
                        else:
                            yield message
                if last is None:
                    raise ChatClosed("the client ended before its answer")
                if not (self._stopping and last.terminal_reason == "hook_stopped"):
                    break
                if await self._may_reset():
                    await self._reset_client()
                else:
                    self._stops = False
                text = self.memory.mark(GO_ON)
            self._stopping, self._stops = False, True
            if last is not None:
                yield last

    async def reset(self) -> Reset:
        """Start afresh now, with what is known."""
        self._refuse_in_callback()
        async with self._lock:
            await self._wait_for_quiet()
            return await self._reset_client()

    async def _send_prompt(self, text: str) -> AsyncGenerator[Message, None]:
        client = self._client
        if client is None:
            raise ChatClosed("the chat is not connected")
        turn: _Turn = asyncio.Queue()
        ended = False
        try:
            self._turn = turn
            await client.query(self._prompt(text))
            async with contextlib.aclosing(_read_answer(turn)) as answer:
                async for message in answer:
                    if isinstance(message, ResultMessage):
                        ended = True
                        await self._protection.feed.flush()
                        if not self._point and self._learning is None:
                            self._learning = asyncio.create_task(self._learn_point(client))
                    yield message
            ended = True
        finally:
            self._turn = None
            if not ended:
                await wait_guarded("leaving a turn", lambda: self._abandon_turn(client, turn), None)

    async def _abandon_turn(self, client: ClaudeSDKClient, turn: _Turn) -> None:
        """The caller is gone: the turn ends, so that the next answer is the next one's."""
        self._turn = turn
        try:
            await client.interrupt()
            async with asyncio.timeout(RESET_SECONDS):
                async for _ in _read_answer(turn):
                    pass
        finally:
            self._turn = None

    async def _prompt(self, text: str) -> AsyncIterator[dict[str, Any]]:
        is_command = text.startswith("/") and not self._commands
        if is_command and self._version < COMPOSED_SINCE:
            text = NO_COMMAND + text
        content: Any = text
        before = self._handoff or self._protection.take_gap()
        if before:
            content = [{"type": "text", "text": before}, {"type": "text", "text": text}]
            self._handoff = ""
        made: dict[str, Any] = {
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": None,
        }
        if is_command:
            made["client_composed"] = True
        yield made

    def _must_reset(self) -> bool:
        point = self._point or DEFAULT_POINT
        if self.used < _to_tokens(self._reset_at, point):
            self._postponed = 0.0
            return False
        if not self._jobs or self.used >= _to_tokens(self._stop_at, point):
            return True
        self._postponed = self._postponed or time.monotonic()
        return time.monotonic() - self._postponed > self._patience

    async def _may_reset(self) -> bool:
        """Not while the brief would be older than the conversation: that would lose what is newer.

        Then the client compacts when it has to, as without us.
        """
        if self.memory.has_unsaved:
            await self.memory.ahear(())  # the store may answer again
        if self._protection.is_current:
            return True
        LOGGER.warning("chat %s is not saved, so it is not reset", self.memory.id)
        return False

    async def _reset_client(self) -> Reset:
        started, before = time.monotonic(), self.used
        await self._protection.feed.flush()
        method, brief = "clear", await self._make_brief(JOBS_RUN)
        if not (self._clears and await self._clear_session(brief)):
            method, brief = "process", await self._make_brief(JOBS_ENDED)
            await self._restart_client(brief)
        self.used, self._postponed, self._stopping = 0, 0.0, False
        self.resets += 1
        done = Reset(before, time.monotonic() - started, method, brief)
        if self._on_reset is not None:
            await self._call_guarded("on_reset", self._on_reset, done)
        return done

    async def _clear_session(self, brief: str) -> bool:
        """`/clear` on the open client. Whether it has, is seen by its effect: some do not."""
        client, before = self._client, self.session_id
        if client is None:
            return False
        self._protection.handoff = brief
        turn: _Turn = asyncio.Queue()
        self._turn = turn
        cleared = False
        try:
            await client.query("/clear")
            async with asyncio.timeout(RESET_SECONDS):
                async for message in _read_answer(turn):
                    cleared = cleared or type(message).__name__ == "ConversationResetMessage"
        except TimeoutError:
            LOGGER.warning("the client did not answer to /clear")
        finally:
            self._turn = None
        cleared = cleared or (bool(before) and self.session_id != before)
        # Where no hook took it, it goes with the next prompt.
        self._handoff, self._protection.handoff = self._protection.handoff, ""
        self._clears = cleared
        return cleared

    async def _restart_client(self, brief: str) -> None:
        await self._end_client()
        self._jobs.clear()
        self._handoff = brief
        fresh = dataclasses.replace(
            self._options, resume=None, session_id=None, continue_conversation=False
        )
        await self._start_client(fresh)

    async def _make_brief(self, of_jobs: str) -> str:
        """What is known, and the jobs that run behind this sentence."""
        brief = await self.memory.abrief(MAX_HOOK_CHARS - MAX_JOBS_CHARS)
        jobs = self.describe_jobs(of_jobs)
        return f"{brief}\n{jobs}" if jobs else brief

    def describe_jobs(self, sentence: str = JOBS_RUN) -> str:
        """The jobs that run in the background, as text for the model; "" where none does."""
        if not self._jobs:
            return ""
        listed = "; ".join(about[:60] for about in list(self._jobs.values())[:4])
        return self.memory.mark(f"{sentence} {listed}")

    def carry(self, text: str) -> None:
        """Put this before the next prompt."""
        self._handoff = "\n".join(one for one in (self._handoff, text) if one)

    async def _after_tools(self, _: dict[str, Any]) -> dict[str, Any]:
        """End a turn that has outgrown the context, with its tools' results kept."""
        is_ours = self._turn is not None and self._stops
        if not is_ours or self.used < _to_tokens(self._stop_at, self._point or DEFAULT_POINT):
            return {}
        self._stopping = True
        return {"continue_": False, "stopReason": STOP_REASON}

    async def _start_client(self, options: ClaudeAgentOptions) -> None:
        client = ClaudeSDKClient(options)
        await client.connect()
        self._client = client
        self._reading = asyncio.create_task(self._read_messages(client))

    async def _end_client(self) -> None:
        client, self._client = self._client, None
        reading, self._reading = self._reading, None
        learning, self._learning = self._learning, None
        if learning is not None:
            # A client that has ended answers no more; the next one is asked with its first turn.
            learning.cancel()
            await asyncio.wait((learning,))
        if client is not None:
            await wait_guarded("disconnecting", client.disconnect, None)
        if reading is not None:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await wait_guarded("reading", partial(asyncio.wait_for, reading, None), None)

    async def _read_messages(self, client: ClaudeSDKClient) -> None:
        """Every message of the client, for as long as it lives."""
        try:
            async for message in client.receive_messages():
                self._observe_message(message)
                if self._turn is not None:
                    self._turn.put_nowait(message)
                    continue
                # A job that ends starts a turn by itself; what is sent meanwhile would join it.
                if isinstance(message, ResultMessage):
                    self._quiet.set()
                elif isinstance(message, SystemMessage) and message.subtype == "init":
                    self._quiet.clear()
                if self._on_idle is not None:
                    await self._call_guarded("on_idle", self._on_idle, message)
        finally:
            self._quiet.set()
            if self._turn is not None:
                self._turn.put_nowait(None)

    async def _wait_for_quiet(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._quiet.wait()

    def _observe_message(self, message: Message) -> None:
        session = getattr(message, "session_id", None)
        # The message of a reset names the session that was left.
        leaves = type(message).__name__ == "ConversationResetMessage"
        if isinstance(session, str) and session and not leaves:
            self.session_id = session
        if isinstance(message, AssistantMessage):
            if message.usage and not message.parent_tool_use_id:
                self.used = sum(message.usage.get(name) or 0 for name in _TOKENS)
            return
        if isinstance(message, SystemMessage) and message.subtype == "init":
            version = str(message.data.get("claude_code_version", ""))
            self._version = tuple(int(part) for part in version.split(".") if part.isdecimal())
        task = getattr(message, "task_id", None)
        if isinstance(task, str):
            status = getattr(message, "status", None)
            if type(message).__name__ == "TaskStartedMessage":
                self._jobs[task] = str(getattr(message, "description", "") or task)
            elif status in _ENDED:
                self._jobs.pop(task, None)

    async def _call_guarded(self, name: str, callback: Callable[[Any], Any], given: Any) -> None:
        async def run() -> None:
            answer = callback(given)
            if inspect.isawaitable(answer):
                await answer

        outer = _CALLING.set((*_CALLING.get(), self))
        self._callbacks += 1
        try:
            await wait_guarded(name, run, None)
        finally:
            self._callbacks -= 1
            _CALLING.reset(outer)

    def _refuse_in_callback(self) -> None:
        """It would wait for the turn that waits for the callback. A task that it started and did
        not wait for is welcome once it has returned."""
        if self._callbacks and self in _CALLING.get():
            raise RuntimeError("the chat waits for on_reset and on_idle: ask when they are done")

    async def _learn_point(self, client: ClaudeSDKClient) -> None:
        """Where this client compacts. Asked once, beside the turns: it takes 100 ms."""
        usage: Any = await wait_guarded("context usage", client.get_context_usage, {})
        point = usage.get("autoCompactThreshold") or usage.get("maxTokens")
        self._point = point if type(point) is int and point > 0 else DEFAULT_POINT


async def _read_answer(turn: _Turn) -> AsyncGenerator[Message, None]:
    """The messages up to the result of what was sent; without one where the client has ended.

    The client may have begun a turn of its own in that moment. What was sent then comes behind its
    result, at once; where nothing does, that turn has taken it in.
    """
    other: ResultMessage | None = None
    while True:
        try:
            async with asyncio.timeout(None if other is None else TAKEN_UP_SECONDS):
                message = await turn.get()
        except TimeoutError:
            assert other is not None
            message, other = other, None
            yield message
            return
        if message is None:
            return
        if not isinstance(message, ResultMessage):
            other = None
            yield message
        elif _answers_us(message):
            yield message
            return
        else:
            other = message


def _answers_us(result: ResultMessage) -> bool:
    """A job that ends starts a turn by itself, with a result that answers no message."""
    origin: Any = getattr(result, "origin", None)
    return origin is None or origin.get("kind") == "human"


def _to_tokens(chosen: float, point: int) -> int:
    return int(chosen * point) if chosen <= 1 else int(chosen)
