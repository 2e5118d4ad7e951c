"""The rows of a session, from the client to the chat: by a session store, or from the transcript.

The store takes the rows, returns at once and never raises: the client's answer waits for it. Rows
are heard in a thread; `flush` waits until they are saved. Must not know any hook.
"""

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from claude_agent_sdk import SessionStore

from holdfast.clients.session_rows import parse_rows
from holdfast.files import file_size, read_from
from holdfast.sdk.guard import run_guarded
from holdfast.sdk.keeper import ChatMemory

# Saving is short and the store has a thread of its own: more would only wait there.
_HEARING = ThreadPoolExecutor(2, thread_name_prefix="holdfast-hear")
# Of a transcript that is read beside a store, for the rows of the turn that still runs.
MAX_TAIL_BYTES = 8_000_000


class RowFeed:
    def __init__(self, chat: ChatMemory) -> None:
        self.chat = chat
        self.rows_received = 0  # by the store
        self.rows_read = 0  # from transcripts
        self._waiting: list[dict[str, Any]] = []
        self._guard = threading.Lock()
        self._last: Future[None] | None = None
        self._read_until: dict[str, int] = {}

    def put(self, rows: Iterable[dict[str, Any]]) -> None:
        """Take rows; they are heard soon."""
        self.rows_received += self._queue(list(rows))

    def _queue(self, rows: list[dict[str, Any]]) -> int:
        with self._guard:
            if rows:
                self._waiting += rows
                self._last = _HEARING.submit(self._hear_rows)
        return len(rows)

    async def flush(self) -> None:
        """Wait until all that was put is saved."""
        with self._guard:
            last = self._last
        if last is not None:
            await asyncio.wrap_future(last)

    async def catch_up(self, transcript: str) -> None:
        """Hear what the client has written and not handed over yet."""
        rows = await asyncio.to_thread(
            run_guarded, f"reading {transcript}", lambda: self._read_rows(transcript), []
        )
        self.rows_read += self._queue(rows)
        await self.flush()

    def _hear_rows(self) -> None:
        with self._guard:
            rows, self._waiting = self._waiting, []
        if rows:
            self.chat.hear(rows)

    def _read_rows(self, transcript: str) -> list[dict[str, Any]]:
        """Whole lines since the last time; at first the end of the file, which is known by ids."""
        size = file_size(transcript)
        if size <= 0:
            return []
        start = self._read_until.get(transcript, max(0, size - MAX_TAIL_BYTES))
        data = read_from(transcript, start, max(0, size - start))
        end = data.rfind(b"\n") + 1
        self._read_until[transcript] = start + end
        return list(parse_rows(data[:end].split(b"\n")))


class FeedStore:
    """A session store that passes rows to the feed, and to `inner`, if there is one.

    Without one, `load` knows nothing, and the client resumes from its own file. The optional
    methods of a store are there where `inner` has them.
    """

    def __init__(self, feed: RowFeed, inner: SessionStore | None = None) -> None:
        self._feed, self._inner = feed, inner

    async def append(self, key: Any, entries: list[Any]) -> None:
        if not key.get("subpath"):  # a subagent's thread
            run_guarded("taking rows", lambda: self._feed.put(entries), None)
        if self._inner is not None:
            await self._inner.append(key, entries)

    async def load(self, key: Any) -> list[Any] | None:
        return None if self._inner is None else await self._inner.load(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._inner is None:
            raise AttributeError(name)
        return getattr(self._inner, name)
