"""How full the context is, and what follows from it: checkpoints, a warning, the status line.

Measured by the usage of the last answer of the main thread after the last compaction, against the
point at which this client compacts. Everything happens once per epoch, except the status file,
which is as new as the last thing read.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from holdfast import clients
from holdfast.brief.hook_texts import compose_steering
from holdfast.brief.lines import shorten_path
from holdfast.clients.client_protocol import CompactionPoint, percent_left
from holdfast.fastpath.session_dir import STATUS_FILE, WINDOW_FILE, SessionDir
from holdfast.files import read
from holdfast.session.context import SessionContext
from holdfast.session.update import SessionSnapshot, SessionView, save_checkpoint
from holdfast.state import State
from holdfast.state.facts import OPEN
from holdfast.store.protocol import Store
from holdfast.text import truncate_line

# Percent that come back before a warning is worth repeating.
REWARN_PERCENT = 20
LOW_USER, LOW_AGENT = "low-user", "low-agent"


class ContextUsage(NamedTuple):
    used: int
    compaction_point: CompactionPoint
    percent_left: int  # percent; 100 while nothing is known


def measure_context_usage(ctx: SessionContext, state: State) -> ContextUsage:
    used, requested = state.usage.context, state.usage.requested
    raw = read(f"{ctx.session_dir.path}/{WINDOW_FILE}") or b""
    text = raw.decode("ascii", "replace").strip()
    seen = state.usage.window or (int(text) if text.isdecimal() and len(text) < 10 else 0)
    client = clients.of_session(state.session.client)
    point = client.context_window.compaction_point(
        ctx.config.compaction_config,
        requested or state.usage.model,
        seen=seen,
        # What once fitted in says how large the window is, unless the client says it.
        used=used if seen else state.usage.peak,
        requested=bool(requested),
    )
    return ContextUsage(used, point, percent_left(used, point) if used else 100)


def check_context_usage(ctx: SessionContext, view: SessionView) -> None:
    """After something was read: keep, warn and show what is due."""
    state = view.saved.followed.state
    found = measure_context_usage(ctx, state)
    if ctx.store is not None:
        _checkpoint(ctx.store, ctx, view.saved, found)
    with suppress(OSError):  # a notice that cannot be written is no reason to stop
        _queue_warnings(ctx, view, found)
        _write_status(ctx, state, found)


def clear_warnings(session_dir: SessionDir) -> None:
    """The context was emptied: what was said about it no longer holds."""
    session_dir.delete_file(LOW_USER)
    session_dir.delete_file(LOW_AGENT)


def _checkpoint(
    store: Store, ctx: SessionContext, snapshot: SessionSnapshot, found: ContextUsage
) -> None:
    settings, epoch = ctx.config.settings, snapshot.followed.state.position.epoch
    causes = [c.cause for c in store.checkpoints(ctx.session.id) if c.epoch == epoch]
    due = find_due_cause(
        found.used,
        causes,
        first=settings.number("checkpoint_first_tokens"),
        every=settings.number("checkpoint_every_tokens"),
        left=found.percent_left,
        percents=settings.numbers("checkpoint_percents"),
    )
    if due:
        save_checkpoint(store, snapshot, due, ctx.now.text)


def _queue_warnings(ctx: SessionContext, view: SessionView, found: ContextUsage) -> None:
    session_dir, settings = ctx.session_dir, ctx.config.settings
    epoch = view.saved.followed.state.position.epoch
    whom = settings.choice("low_context_notify")
    limit = settings.number("low_context_percent")
    name = f"low.{epoch}"
    if not limit or found.percent_left > limit or not found.compaction_point.is_certain:
        clear_warnings(session_dir)
        if found.percent_left >= limit + REWARN_PERCENT:
            # It was said of a smaller window, or of a context that shrank since.
            session_dir.delete_file(name)
        return
    # A compaction of this epoch comes or is under way, or the line was said: each forbids it.
    if (
        _is_compacted_next(found)
        or session_dir.is_delivered(epoch)
        or session_dir.latched(name)
        or not session_dir.latch(name, ctx.now.seconds)
    ):
        return
    command = ctx.client.hook_io.COMPACT_COMMAND
    takes_focus = command.endswith(" ")
    command = f"{command}{build_focus_text(view.display)}".rstrip() if takes_focus else command
    # The agent's first: once the user's is there, both may be asked for.
    if whom in ("both", "agent"):
        notice = format_agent_notice(found.percent_left, command if whom == "both" else "")
        if not ctx.client.hook_io.STEERS:
            # The summariser reads the history: what stands there shortly before steers it.
            steering = compose_steering(view.display, settings.number("steering_chars"))
            notice = f"{notice}\n{steering}" if steering else notice
        session_dir.write(LOW_AGENT, notice.encode("utf-8", "replace"))
    if whom in ("both", "user"):
        line = format_user_notice(
            found.percent_left, found.used, found.compaction_point.tokens, command
        )
        session_dir.write(LOW_USER, line.encode("utf-8", "replace"))
    # A compaction that began since has cleared what it saw: what was written after that is stale.
    if session_dir.is_delivered(epoch):
        clear_warnings(session_dir)


def _is_compacted_next(found: ContextUsage) -> bool:
    """Past the point, the client compacts before it asks the model again.

    A warning would reach the model in the emptied context: the client delivers what a
    background hook prints with the next request, whatever happened in between.
    """
    point = found.compaction_point
    return found.used >= point.tokens and point.auto_compact and not point.is_lower_bound


def _write_status(ctx: SessionContext, state: State, found: ContextUsage) -> None:
    open_tasks = sum(task.status == OPEN for task in state.tasks.values())
    words = (state.position.epoch, found.used, open_tasks, int(ctx.now.seconds))
    ctx.session_dir.write(STATUS_FILE, (" ".join(map(str, words)) + "\n").encode())


# When the growing context is worth a checkpoint of its own.
#
# By what is left before the next compaction: at 30, 15 and 5 percent. By tokens: the first at
# 50,000, then every 10,000, because a compaction can come at any size (a user's /compact, a small
# window). Each once per epoch; all of it can be chosen (`checkpoint_*` in the settings).

FIRST_TOKENS = 50_000
EVERY_TOKENS = 10_000
TOKENS_CAUSE = "tokens:"
PERCENT_CAUSE = "left:"


def highest_threshold(tokens: int, first: int = FIRST_TOKENS, every: int = EVERY_TOKENS) -> int:
    """The highest threshold at or below; 0 for none."""
    if not first or tokens < first:
        return 0
    return first + (tokens - first) // every * every


def find_due_cause(
    tokens: int,
    causes: Iterable[str],
    *,
    first: int = FIRST_TOKENS,
    every: int = EVERY_TOKENS,
    left: int = 100,
    percents: Sequence[int] = (),
) -> str:
    """The cause of a checkpoint that is due, "" for none. `causes` are this epoch's so far.

    A jump over several thresholds is one checkpoint; the percents come before the tokens.
    """
    so_far = list(causes)
    lowest = min((percent for percent in percents if left <= percent), default=0)
    if lowest and lowest < min(_numbers(so_far, PERCENT_CAUSE), default=101):
        return f"{PERCENT_CAUSE}{lowest}"
    reached = highest_threshold(tokens, first, every)
    return (
        f"{TOKENS_CAUSE}{reached}"
        if reached > max(_numbers(so_far, TOKENS_CAUSE), default=0)
        else ""
    )


def _numbers(causes: Iterable[str], prefix: str) -> list[int]:
    found = [cause[len(prefix) :] for cause in causes if cause.startswith(prefix)]
    return [int(number) for number in found if number.isdecimal()]


# The words of a warning: one line each for the user and for the agent, with a focus text for
# `/compact`, so that compacting now loses less than being compacted later.

MAX_FOCUS_CHARS = 320
MAX_RULES, MAX_FILES, MAX_TASKS = 2, 4, 2


def build_focus_text(state: State, max_chars: int = MAX_FOCUS_CHARS) -> str:
    """What a summary should dwell on, most important first; "" when nothing is known."""
    text = ""
    for piece in _pieces(state):
        longer = f"{text}; {piece}" if text else piece
        if len(longer) <= max_chars:
            text = longer
    return text


def format_user_notice(left: int, tokens: int, point: int, command: str) -> str:
    focused = ", with a focus" if " " in command else ""
    return (
        f"Holdfast: {left} % of the context is left before it is compacted ({tokens:,} of"
        f" {point:,} tokens). The state is saved. To compact now{focused}: {command}"
    )


def format_agent_notice(left: int, command: str) -> str:
    offered = f' The user was offered: "{command}".' if command else ""
    return (
        f"Holdfast: {left} % of the context is left before it is compacted. The state of this "
        "session is saved and will be restored afterwards; the end of the current step is a good "
        f"point to stop.{offered}"
    )


def _pieces(state: State) -> list[str]:
    found = []
    tasks = [task for task in state.tasks.values() if task.status == OPEN]
    tasks.sort(key=lambda task: task.client_status != "in_progress")
    if tasks:
        found.append(
            "keep " + ", ".join(truncate_line(task.subject, 70) for task in tasks[:MAX_TASKS])
        )
    else:
        asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
        if asked:
            found.append(f'keep the request "{truncate_line(asked[-1].text, 90)}"')
    failing = [run for run in state.suite_runs.values() if run.result == "failed"]
    if failing:
        names = ", ".join(failing[-1].failing[:2]) or failing[-1].command
        found.append(f"failing: {truncate_line(names, 90)}")
    changed = [f for f in state.files.values() if (f.changed or f.created) and f.status == OPEN]
    latest = sorted(changed, key=lambda file: -file.changed_step)[:MAX_FILES]
    if latest:
        found.append(
            "files " + ", ".join(shorten_path(file.path, state.session.folders) for file in latest)
        )
    rules = [rule for rule in state.rules.values() if rule.status == OPEN]
    found += [f'rule "{truncate_line(rule.text, 80)}"' for rule in rules[::-1][:MAX_RULES]]
    return found
