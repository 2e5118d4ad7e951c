"""How full the context is, and what follows from it: checkpoints, a warning, the status line.

Measured by the usage of the last answer of the main thread after the last compaction, against the
point at which this client compacts. Everything happens once per epoch, except the status file,
which is as new as the last thing read.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from holdfast import clients
from holdfast.brief.hook_texts import compose_steering
from holdfast.brief.lines import shorten_path
from holdfast.clients.client_protocol import CompactionPoint, RunningModel, percent_left
from holdfast.clock import parse_timestamp
from holdfast.fastpath.pending_texts import ADVICE, LOW_AGENT, LOW_USER
from holdfast.fastpath.session_dir import STATUS_FILE, WINDOW_FILE, SessionDir
from holdfast.files import read
from holdfast.records import NamedTuple
from holdfast.session.context import SessionContext
from holdfast.session.update import SessionView, save_checkpoint
from holdfast.state import State, git_printed
from holdfast.state.demand_sentences import HOLD, RULE
from holdfast.state.facts import DONE, OPEN
from holdfast.state.lookups import list_repeated
from holdfast.state.rules import list_demands
from holdfast.store.sql_store import Store
from holdfast.text import truncate_line

# Percent that come back before a warning is worth repeating.
REWARN_PERCENT = 20
TELL_USER = ("both", "user")
# So many compactions in so short a time are a loop.
LOOP_COMPACTIONS, LOOP_SECONDS = 3, 20 * 60
# So many things that are looked up again after each of them are one too, however slow.
LOOP_FILES = 3
# With so much left a compaction is worth thinking of, and need not be thought of yet.
ADVICE_PERCENT = 50
MAX_DELIVERIES = 20


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
        # What once fitted in says how large the window is, unless the client says it.
        RunningModel(
            requested or state.usage.model,
            seen,
            used if seen else state.usage.peak,
            bool(requested),
        ),
    )
    return ContextUsage(used, point, percent_left(used, point) if used else 100)


def check_context_usage(
    ctx: SessionContext, view: SessionView, *, turn_ended: bool = False
) -> ContextUsage:
    """After something was read: keep, warn and show what is due."""
    state = view.followed.state
    found = measure_context_usage(ctx, state)
    if ctx.store is not None:
        _checkpoint(ctx.store, ctx, view, found)
    with suppress(OSError):  # a notice that cannot be written is no reason to stop
        _queue_warnings(ctx, view, found)
        if turn_ended:
            _queue_advice(ctx, view, found)
        _write_status(ctx, state, found)
    return found


def clear_warnings(session_dir: SessionDir) -> None:
    """The context was emptied: what was said about it no longer holds."""
    session_dir.pending.drop(LOW_USER)
    session_dir.pending.drop(LOW_AGENT)


def _checkpoint(
    store: Store, ctx: SessionContext, snapshot: SessionView, found: ContextUsage
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
    epoch = view.epoch
    whom = settings.text("low_context_notify")
    limit = settings.number("low_context_percent")
    name = f"low.{epoch}"
    if not limit or found.percent_left > limit or not found.compaction_point.is_certain:
        clear_warnings(session_dir)
        if found.percent_left >= limit + REWARN_PERCENT:
            # It was said of a smaller window, or of a context that shrank since.
            session_dir.unlatch(name)
        return
    # A compaction of this epoch comes or is under way, or the line was said: each forbids it.
    if (
        _is_compacted_next(found)
        or session_dir.is_delivered(epoch)
        or session_dir.latched(name)
        or not session_dir.latch(name, ctx.now.seconds)
    ):
        return
    command = _draft_command(ctx, view)
    # The agent's first: once the user's is there, both may be asked for.
    if whom in ("both", "agent"):
        notice = format_agent_notice(found.percent_left)
        if not ctx.client.hook_io.STEERS and ctx.config.compaction_config.summarises:
            # The summariser reads the history: what stands there shortly before steers it.
            steering = compose_steering(view.display, settings.number("steering_chars"))
            notice = f"{notice}\n{steering}" if steering else notice
        session_dir.pending.put(LOW_AGENT, notice)
    if whom in TELL_USER:
        line = format_user_notice(
            found.percent_left, found.used, found.compaction_point.tokens, command
        )
        session_dir.pending.put(LOW_USER, line)
    # A compaction that began since has cleared what it saw: what was written after that is stale.
    if session_dir.is_delivered(epoch):
        clear_warnings(session_dir)


def _queue_advice(ctx: SessionContext, view: SessionView, found: ContextUsage) -> None:
    """Once per epoch: the user is told of a good moment to compact. Never the agent, and nobody
    where nobody sits before it: work would stop there."""
    session_dir, settings = ctx.session_dir, ctx.config.settings
    name, least = f"advice.{view.epoch}", settings.number("low_context_percent")
    wanted = settings.text("low_context_notify") in TELL_USER and least
    if not wanted or ctx.config.is_headless or not found.compaction_point.is_certain:
        return
    why = find_ended_unit(view.display) if least < found.percent_left <= ADVICE_PERCENT else ""
    if why and not session_dir.is_delivered(view.epoch) and not session_dir.latched(name):
        session_dir.latch(name, ctx.now.seconds)
        advice = (
            f"Holdfast: a good moment to compact, if you want to: {why}, and {found.percent_left} %"
            " of the context is left before the client does it by itself. The state is saved:"
            f" {_draft_command(ctx, view)}"
        )
        session_dir.pending.put(ADVICE, advice)
    elif not why:
        session_dir.pending.drop(ADVICE)  # what is going on now is no good moment


def find_ended_unit(state: State) -> str:
    """What says that a piece of work has just ended, in words; "" where something is open."""
    tasks, runs = state.tasks.values(), state.suite_runs.values()
    open_errors = any(error.status == OPEN for error in state.errors.values())
    failed = max(runs, key=lambda run: run.step, default=None)
    busy = any(one.status == OPEN for one in state.subagents.values())
    started = any(task.status == OPEN and task.client_status == "in_progress" for task in tasks)
    if open_errors or busy or started or (failed is not None and failed.result == "failed"):
        return ""
    since = max((one.step for one in state.requests.values()), default=0)
    edited = max((file.changed_step for file in state.files.values()), default=-1)
    closed = [task for task in tasks if task.status == DONE and task.step >= since]
    committed = git_printed.list_commits(state.git_printed)[-1:]
    checked = [one.step for one in state.commands.values() if one.check and one.ok]
    ended = []
    if committed and committed[0].step >= max(since, edited):
        ended.append(f"commit {committed[0].id} was made")
    if closed and not any(task.status == OPEN for task in tasks):
        ended.append("all tasks are done")
    if edited >= since and max(checked, default=-1) > edited:
        ended.append("the last check passed")
    return " and ".join(ended)


def _draft_command(ctx: SessionContext, view: SessionView) -> str:
    command = ctx.client.hook_io.COMPACT_COMMAND
    return f"{command}{build_focus_text(view.display)}".rstrip() if command[-1:] == " " else command


def _is_compacted_next(found: ContextUsage) -> bool:
    """Past the point, the client compacts before it asks the model again.

    A warning would reach the model in the emptied context: the client delivers what a
    background hook prints with the next request, whatever happened in between.
    """
    point = found.compaction_point
    return found.used >= point.tokens and point.auto_compact and not point.is_lower_bound


def _write_status(ctx: SessionContext, state: State, found: ContextUsage) -> None:
    open_tasks = sum(task.status == OPEN for task in state.tasks.values())
    point = found.compaction_point
    words = (
        state.position.epoch,
        found.used,
        open_tasks,
        int(ctx.now.seconds),
        _count_restored(ctx),
        # So that the status line need not work it out.
        point.tokens,
        point.window,
        int(point.auto_compact),
        int(point.is_certain),
    )
    ctx.session_dir.write(STATUS_FILE, (" ".join(map(str, words)) + "\n").encode())


def _count_restored(ctx: SessionContext) -> int:
    """Facts that the last compaction's summary lost and a brief or gap gave back."""
    latest = ctx.store.compactions(ctx.session.id, 1) if ctx.store is not None else ()
    if ctx.store is None or not latest:
        return 0
    told = {
        name
        for one in ctx.store.deliveries(ctx.session.id, MAX_DELIVERIES)
        if one.epoch == latest[0].epoch and one.kind in ("brief", "gap")
        for name in one.facts
    }
    return len(told.intersection(latest[0].lost))


def warn_of_failing(ctx: SessionContext, tries: int) -> None:
    """The user is told the way out when the client begins to compact again and again and none of
    it ends."""
    wanted = ctx.config.settings.text("low_context_notify") in TELL_USER
    if wanted and tries >= LOOP_COMPACTIONS:
        notice = (
            f"Holdfast: the client began to compact {tries} times in twenty minutes, and none of"
            " it ended. The state is saved. The way out: `holdfast session handoff` in a shell,"
            " then a new session (/clear), which is offered the work."
        )
        ctx.session_dir.pending.put(ADVICE, notice)


def warn_of_loop(ctx: SessionContext, state: State) -> None:
    """The user is told when the client compacts again and again: what fills the window, what helps.

    Compactions that the user asked for do not count.
    """
    if ctx.store is None or ctx.config.settings.text("low_context_notify") not in TELL_USER:
        return
    latest = ctx.store.compactions(ctx.session.id, LOOP_COMPACTIONS)
    if len(latest) < LOOP_COMPACTIONS or any(one.trigger == "manual" for one in latest):
        return
    seconds = parse_timestamp(latest[0].time) - parse_timestamp(latest[-1].time)
    again = list_repeated(state.lookups, latest[0].epoch)
    again.sort(key=lambda one: -one.times)
    # Or not as fast, and the same is read after each of them.
    each = [one for one in again if len(one.again) >= LOOP_COMPACTIONS - 1]
    if not 0 <= seconds <= LOOP_SECONDS and len(each) < LOOP_FILES:
        return
    what = "What is read after each one fills the window again"
    if again:
        paths = (shorten_path(one.subject, state.session.folders) for one in again[:3])
        what += f": {', '.join(truncate_line(path, 60) for path in paths)}"
    line = (
        f"Holdfast: compacted {len(latest)} times in {max(1, round(seconds / 60))} minutes. {what}."
        " Ask for smaller pieces, or start a new session: `holdfast session handoff` hands over the"
        " state."
    )
    with suppress(OSError):
        ctx.session_dir.pending.put(ADVICE, line)


TOKENS_CAUSE = "tokens:"
PERCENT_CAUSE = "left:"


def find_due_cause(
    tokens: int,
    causes: Iterable[str],
    *,
    first: int = 50_000,
    every: int = 10_000,
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
    reached = first + (tokens - first) // every * every if 0 < first <= tokens else 0
    made = reached <= max(_numbers(so_far, TOKENS_CAUSE), default=0)
    return "" if made else f"{TOKENS_CAUSE}{reached}"


def _numbers(causes: Iterable[str], prefix: str) -> list[int]:
    found = [cause[len(prefix) :] for cause in causes if cause.startswith(prefix)]
    return [int(number) for number in found if number.isdecimal()]


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


def format_agent_notice(left: int) -> str:
    return (
        f"Holdfast: {left} % of the context is left before it is compacted, as of this prompt. The"
        " state of this session is saved and will be restored afterwards: go on as before."
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
    demanded = list_demands(state.rules, HOLD) + list_demands(state.rules, RULE)
    found += [
        f'{one.rule.kind} "{truncate_line(one.rule.text, 80)}"' for one in demanded[:MAX_RULES]
    ]
    return found
