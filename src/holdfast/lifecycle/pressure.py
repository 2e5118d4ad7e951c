"""How full the context is, and what follows from it: checkpoints, a warning, the status line.

Measured by the usage of the last answer of the main thread after the last compaction, against the
point at which this client compacts. Everything happens once per epoch, except the status file,
which is as new as the last thing read.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from holdfast.brief.low import agent_line, focus_text, user_line
from holdfast.clients.claude_code.window import Point, compaction_point, left
from holdfast.files import read
from holdfast.lifecycle.keep import Kept, Scene, save_checkpoint
from holdfast.lifecycle.thresholds import crossed
from holdfast.lifecycle.tray import STATUS, WINDOW, Tray
from holdfast.state import State
from holdfast.state.facts import OPEN
from holdfast.store.protocol import Store

# Percent that come back before a warning is worth repeating.
REGAINED = 20
LOW_USER, LOW_AGENT = "low-user", "low-agent"


class Pressure(NamedTuple):
    used: int
    point: Point
    left: int  # percent; 100 while nothing is known


def pressure(state: State, tray: Tray, scene: Scene) -> Pressure:
    used, requested = state.usage.context, state.usage.requested
    seen = (read(f"{tray.folder}/{WINDOW}") or b"").decode("ascii", "replace").strip()
    point = compaction_point(
        scene.terms.client,
        requested or state.usage.model,
        seen=int(seen) if seen.isdecimal() and len(seen) < 10 else 0,
        used=used,
        requested=bool(requested),
    )
    return Pressure(used, point, left(used, point) if used else 100)


def watch(
    store: Store | None,
    tray: Tray,
    scene: Scene,
    now: tuple[str, float],
    kept: Kept,
    shown: State,
) -> None:
    """After something was read: keep, warn and show what is due."""
    text, seconds = now
    state = kept.tracked.state
    found = pressure(state, tray, scene)
    if store is not None:
        _checkpoint(store, scene, text, kept, found)
    with suppress(OSError):  # a line nobody can be told is no reason to stop
        _tell(tray, scene, seconds, state.moment.epoch, found, shown)
        _show(tray, seconds, state, found)


def forget_warnings(tray: Tray) -> None:
    """The context was emptied: what was said about it no longer holds."""
    tray.drop(LOW_USER)
    tray.drop(LOW_AGENT)


def _checkpoint(store: Store, scene: Scene, now: str, kept: Kept, found: Pressure) -> None:
    settings, epoch = scene.terms.settings, kept.tracked.state.moment.epoch
    causes = [c.cause for c in store.checkpoints(scene.session_id) if c.epoch == epoch]
    due = crossed(
        found.used,
        causes,
        first=settings.number("checkpoint_first_tokens"),
        every=settings.number("checkpoint_every_tokens"),
        left=found.left,
        percents=settings.numbers("checkpoint_percents"),
    )
    if due:
        save_checkpoint(store, kept, due, now)


def _tell(
    tray: Tray, scene: Scene, seconds: float, epoch: int, found: Pressure, shown: State
) -> None:
    settings = scene.terms.settings
    whom = settings.choice("low_context_tell")
    limit = settings.number("low_context_percent")
    name = f"low.{epoch}"
    if not limit or found.left > limit or not found.point.known:
        forget_warnings(tray)
        if found.left >= limit + REGAINED:
            tray.drop(name)  # it was said of a smaller window, or of a context that shrank since
        return
    # A compaction of this epoch is under way, or the line was said: both forbid it.
    if tray.latched(f"delivered.{epoch}") or tray.latched(name) or not tray.latch(name, seconds):
        return
    focus = focus_text(shown)
    # The agent's first: whoever sees the user's may ask for both.
    if whom in ("both", "agent"):
        offered = focus if whom == "both" else ""
        tray.write(LOW_AGENT, agent_line(found.left, offered).encode("utf-8", "replace"))
    if whom in ("both", "user"):
        line = user_line(found.left, found.used, found.point.tokens, focus)
        tray.write(LOW_USER, line.encode("utf-8", "replace"))


def _show(tray: Tray, seconds: float, state: State, found: Pressure) -> None:
    open_tasks = sum(task.standing == OPEN for task in state.tasks.values())
    words = (state.moment.epoch, found.used, open_tasks, int(seconds))
    tray.write(STATUS, (" ".join(map(str, words)) + "\n").encode())
