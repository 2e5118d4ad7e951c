"""Starting the carrier from a hook: as a process of its own, after the client has been let go.

Imported only where the user is connected to a service, which takes one look at a file. A hook
never talks to the network, and never waits for this. What the environment says about a service
does not count here, because a project's settings can set it.
"""

from __future__ import annotations

import os
import time

from holdfast.files import age, exists, make_folder, touch
from holdfast.lifecycle.tray import WORKING_SECONDS, Tray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.clients.claude_code.payloads import Payload

NEXT = "outbox.next"
PAUSE_SECONDS = 3.0
# A time further ahead than any pause was set by a clock that has been wrong.
LONGEST_SECONDS = 3700.0
# After these the session may say nothing for long: they do not wait for their turn.
ALWAYS = frozenset(("Stop", "SessionEnd", "PostCompact"))
# The carrier's own bounds are far below; whatever it hangs in, it ends.
HARD_SECONDS = 300
# For another hook of the session that is still reading what happened last.
SETTLE_SECONDS = 20.0


def after(
    later: Callable[[], None] | None, payload: Payload, data: str
) -> Callable[[], None] | None:
    """What to do once the client was let go: `later`, and then carry, if it is time to."""
    if not hasattr(os, "fork") or not (payload.event in ALWAYS or _due(data, time.time())):
        return later
    session_id, cwd = payload.session_id, payload.cwd

    def work() -> None:
        try:
            if later is not None:
                later()
        finally:
            run(data, session_id, cwd)

    return work


def _due(data: str, now: float) -> bool:
    path = f"{data}/{NEXT}"
    try:
        if 0 < os.stat(path).st_mtime - now < LONGEST_SECONDS:
            return False
    except OSError:
        pass  # the first one
    try:
        make_folder(data)
        touch(path)
        os.utime(path, (now + PAUSE_SECONDS, now + PAUSE_SECONDS))
    except OSError:
        return False  # no place to keep anything: nothing to carry, either
    return True


def settle(data: str, session_id: str) -> None:
    """A hook that found another at work left it to that one: what it writes is to come along."""
    path = f"{Tray(data, session_id).folder}/working"
    end = time.monotonic() + SETTLE_SECONDS
    while exists(path) and age(path, time.time()) < WORKING_SECONDS and time.monotonic() < end:
        time.sleep(0.1)


def run(data: str, session_id: str = "", cwd: str = "") -> None:
    """In the process of its own. Trouble with the service is the ledger's to tell."""
    import signal

    from holdfast.lifecycle.carrying import outbox, service
    from holdfast.lifecycle.carrying.ledger import Ledger, Live
    from holdfast.lifecycle.carrying.wire import caller
    from holdfast.lifecycle.places import store_path
    from holdfast.lifecycle.terms import settings_for

    os.nice(10)
    signal.alarm(HARD_SECONDS)
    try:
        connected = service.connection(data)
    except service.Unsafe:
        return  # `holdfast doctor` tells
    if connected is None or not exists(store_path(data)):
        return
    if session_id:
        chosen = settings_for(os.environ, data, cwd)
        live = Live(
            *(session_id, cwd, chosen.text("agent_role"), chosen.text("project_name")),
            chosen.number("message_chars"),
        )
        ledger = Ledger(data)
        try:
            ledger.see(live, time.time())
        finally:
            ledger.close()
        settle(data, session_id)
    outbox.carry(
        outbox.Carrier(
            store_path(data),
            data,
            connected.url,
            caller(connected.url, connected.token),
            bounds=outbox.FROM_A_HOOK,
        )
    )
