"""Starts the sync worker from a hook: as a process of its own, after the client has been let go.

Imported only where the user is connected to a service, which takes one look at a file. A hook
never talks to the network, and never waits for this. What the environment says about a service
does not count here, because a project's settings can set it.
"""

from __future__ import annotations

import os
import time

from holdfast.fastpath.session_dir import WORK_LOCK_SECONDS, SessionDir
from holdfast.files import exists, file_age, make_private_dir, touch
from holdfast.paths import NEXT_SYNC_FILE, SYNC_INTERVAL_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.fastpath.hook_json import HookPayload

# A time further ahead than any pause was set by a clock that has been wrong.
MAX_PAUSE_SECONDS = 3700.0
# After these the session may say nothing for long: they do not wait for their turn.
ALWAYS_SYNC_EVENTS = frozenset(("Stop", "SessionEnd", "PostCompact"))
# The worker's own limits are far below; whatever it hangs in, it ends.
TIMEOUT_SECONDS = 300
# For another hook of the session that is still reading what happened last.
SETTLE_SECONDS = 20.0


def then_sync(
    later: Callable[[], None] | None, payload: HookPayload, data: str
) -> Callable[[], None] | None:
    """What to do once the hook has returned: `later`, and then a sync, if one is due."""
    if not hasattr(os, "fork") or not (
        payload.event in ALWAYS_SYNC_EVENTS or _is_due(data, time.time())
    ):
        return later
    session_id, cwd = payload.session_id, payload.cwd

    def work() -> None:
        try:
            if later is not None:
                later()
        finally:
            run_sync_process(data, session_id, cwd)

    return work


def _is_due(data: str, now: float) -> bool:
    path = f"{data}/{NEXT_SYNC_FILE}"
    try:
        if 0 < os.stat(path).st_mtime - now < MAX_PAUSE_SECONDS:
            return False
    except OSError:
        pass  # the first one
    try:
        make_private_dir(data)
        touch(path)
        os.utime(path, (now + SYNC_INTERVAL_SECONDS, now + SYNC_INTERVAL_SECONDS))
    except OSError:
        return False  # no place to keep anything: nothing to sync, either
    return True


def wait_for_other_hook(data: str, session_id: str) -> None:
    """A hook that found another at work left it to that one: what it writes is to come along."""
    path = f"{SessionDir(data, session_id).path}/working"
    end = time.monotonic() + SETTLE_SECONDS
    while (
        exists(path) and file_age(path, time.time()) < WORK_LOCK_SECONDS and time.monotonic() < end
    ):
        time.sleep(0.1)


def run_sync_process(data: str, session_id: str = "", cwd: str = "") -> None:
    """In the process of its own. Trouble with the server is recorded in the cursor database."""
    import signal

    from holdfast.paths import store_path
    from holdfast.session.context import load_settings
    from holdfast.sync import connection, worker
    from holdfast.sync.client import make_api_call
    from holdfast.sync.cursor_db import CursorDb, LiveSession

    os.nice(10)
    signal.alarm(TIMEOUT_SECONDS)
    try:
        connected = connection.load_connection(data)
    except connection.UnsafeConnectionFile:
        return  # `holdfast doctor` tells
    if connected is None or not exists(store_path(data)):
        return
    if session_id:
        chosen = load_settings(os.environ, data, cwd)
        live = LiveSession(
            *(session_id, cwd, chosen.text("agent_role"), chosen.text("project_name")),
            chosen.number("message_chars"),
        )
        cursor_db = CursorDb(data)
        try:
            cursor_db.record_live(live, time.time())
        finally:
            cursor_db.close()
        wait_for_other_hook(data, session_id)
    worker.run_sync(
        worker.SyncJob(
            store_path(data),
            data,
            connected.url,
            make_api_call(connected.url, connected.token),
            bounds=worker.HOOK_LIMITS,
        )
    )
