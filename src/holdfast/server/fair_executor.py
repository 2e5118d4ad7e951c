"""The threads that do the work of requests, shared fairly: no project can take all of them.

A project has at most `MAX_THREADS_PER_PROJECT` pieces of work before the threads at a time, which
do them in the order in which they came; the rest waits in the project's own queue. So a project
that sends more than the service can do, or whose writers wait for a lock, slows itself down and
leaves room for the others.

Knows nothing of what the work is; `routing` hands it over.
"""

import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from fastapi import Request

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


class FairExecutor:
    def __init__(self, threads: int = WORKER_THREADS, share: int = MAX_THREADS_PER_PROJECT) -> None:
        self._share = share
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="holdfast")
        # Taken again by work that ends while it is being started.
        self._guard = threading.RLock()
        # With the threads, or on the way to them.
        self._started: Counter[str] = Counter()
        self._waiting: defaultdict[str, deque[Callable[[], None]]] = defaultdict(deque)

    def submit(self, whose: str, call: Callable[[], Any]) -> Future[Any]:
        """Done in a thread, when its project's turn comes. Raises StoreBusy."""
        done: Future[Any] = Future()
        start = partial(self._start, whose, partial(_run, time.monotonic(), call, done), done)
        with self._guard:
            if self._started[whose] < self._share:
                self._started[whose] += 1
                start()
            elif len(queue := self._waiting[whose]) < MAX_QUEUED_PER_PROJECT:
                queue.append(start)
            else:
                raise StoreBusy(f"{len(queue)} requests of this project are already waiting")
        return done

    def _start(self, whose: str, work: Callable[[], Any], done: Future[Any]) -> None:
        self._threads.submit(work).add_done_callback(partial(self._end, whose, done))

    def _end(self, whose: str, done: Future[Any], ended: Future[Any]) -> None:
        if (error := ended.exception()) is not None:
            done.set_exception(error)
        elif not done.cancelled():
            done.set_result(ended.result())
        with self._guard:
            if self._waiting[whose]:
                self._waiting[whose].popleft()()
                return
            del self._waiting[whose]
            self._started[whose] -= 1
            if not self._started[whose]:
                del self._started[whose]


def _run(since: float, call: Callable[[], Any], done: Future[Any]) -> Any:
    if not done.set_running_or_notify_cancel():
        return None  # the caller has gone
    waited = time.monotonic() - since
    if waited > MAX_WAIT_SECONDS:
        raise StoreBusy(f"waited {waited:.0f} seconds for its turn")
    return call()


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
