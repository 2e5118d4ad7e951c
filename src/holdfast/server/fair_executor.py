"""The threads that do the work of requests, shared fairly: no project can take all of them.

Work waits in one queue per project; free threads serve the queues in turn, and a project has at
most `MAX_THREADS_PER_PROJECT` of them at a time. So a project that sends more than the service
can do, or whose writers wait for a lock, slows itself down and leaves room for the others.

Knows nothing of what the work is; `routing` hands it over.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from fastapi import Request

from holdfast.records import NamedTuple
from holdfast.server.auth import Caller
from holdfast.store.protocol import StoreBusy
from holdfast.sync.project_id import make_project_id

# As many as there are connections to the database: no request waits for one while its
# deadline runs. More do not help: they take turns at the interpreter.
WORKER_THREADS = 12
# What one project may have at a time. Measured by `python -m benchmarks.team_latency`.
MAX_THREADS_PER_PROJECT = 4
# Beyond that a queue is refused: its callers have given up before their turn comes.
MAX_QUEUED_PER_PROJECT = 500
MAX_WAIT_SECONDS = 20.0
_MAX_SESSIONS = 10_000


class _Job(NamedTuple):
    since: float
    done: Future[Any]
    call: Callable[[], Any]


class FairExecutor:
    def __init__(self, threads: int = WORKER_THREADS, share: int = MAX_THREADS_PER_PROJECT) -> None:
        self._free, self._share = threads, share
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="holdfast")
        # Taken again by work that ends while it is being started.
        self._guard = threading.RLock()
        self._running: Counter[str] = Counter()
        # In the order of their turns: who was served goes to the end.
        self._waiting: dict[str, deque[_Job]] = {}

    def submit(self, whose: str, call: Callable[[], Any]) -> Future[Any]:
        """Done in a thread, when its project's turn comes. Raises StoreBusy."""
        work = _Job(time.monotonic(), Future(), call)
        with self._guard:
            queue = self._waiting.setdefault(whose, deque())
            if len(queue) >= MAX_QUEUED_PER_PROJECT:
                raise StoreBusy(f"{len(queue)} requests of this project are already waiting")
            queue.append(work)
            self._start()
        return work.done

    def _start(self) -> None:
        """Under the guard: whatever may run now."""
        while self._free and (whose := self._next()) is not None:
            queue = self._waiting.pop(whose)
            work = queue.popleft()
            if queue:
                self._waiting[whose] = queue
            if not work.done.set_running_or_notify_cancel():
                continue  # the caller has gone
            waited = time.monotonic() - work.since
            if waited > MAX_WAIT_SECONDS:
                work.done.set_exception(StoreBusy(f"waited {waited:.0f} seconds for its turn"))
                continue
            self._free -= 1
            self._running[whose] += 1
            self._threads.submit(work.call).add_done_callback(partial(self._end, whose, work))

    def _next(self) -> str | None:
        return next((one for one in self._waiting if self._running[one] < self._share), None)

    def _end(self, whose: str, work: _Job, ended: Future[Any]) -> None:
        error = ended.exception()
        if error is not None:
            work.done.set_exception(error)
        else:
            work.done.set_result(ended.result())
        with self._guard:
            self._free += 1
            self._running[whose] -= 1
            if not self._running[whose]:
                del self._running[whose]
            self._start()


class QueueKeys:
    """For which project a request is, as far as that is known before its work begins."""

    def __init__(self) -> None:
        self._of_session: dict[tuple[str, str], str] = {}

    def key_for(self, request: Request, values: dict[str, Any]) -> str:
        caller: Caller | None = getattr(request.state, "caller", None)
        if caller is None:
            return ""
        if caller.projects is not None and len(caller.projects) == 1:
            return make_project_id(caller.projects[0])
        body = values.get("body")
        named = _text_field(body, "project_id") or values.get("project_id") or ""
        if not named:
            path = _text_field(body, "project") or _text_field(
                getattr(body, "session", None), "project"
            )
            path = path or _text_field(body, "cwd")
            named = make_project_id(path) if path else ""
        session = values.get("session_id") or _text_field(body, "session_id")
        if not session:
            return named or caller.name
        if not named:
            return self._of_session.get((caller.name, session), caller.name)
        if len(self._of_session) >= _MAX_SESSIONS:
            self._of_session.clear()
        self._of_session[caller.name, session] = named
        return str(named)


def _text_field(body: Any, name: str) -> str:
    found = getattr(body, name, "")
    return found if isinstance(found, str) else ""
