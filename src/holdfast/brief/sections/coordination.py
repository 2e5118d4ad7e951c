"""For a reader who leads others: progress, waves of tasks, subagents, blockers, what next."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, SizeLimits, decision_line, shorten_path, shorten_paths
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.model import State
from holdfast.state.subagents import Subagent
from holdfast.state.tasks import TaskWaves, list_planned_waves
from holdfast.state.tasks import list_waves as waves_of
from holdfast.text import truncate_line


def progress(state: State, _: SizeLimits) -> Iterator[Line]:
    standings = [task.status for task in state.tasks.values()]
    counted = len(standings) - standings.count(CANCELLED)
    if not counted:
        return
    done = standings.count(DONE)
    begun = sum(
        task.status == OPEN and task.client_status == "in_progress" for task in state.tasks.values()
    )
    parts = [f"{done} of {counted} tasks done ({100 * done // counted} %)"]
    if begun:
        parts.append(f"{begun} in progress")
    if dropped := standings.count(CANCELLED):
        parts.append(f"{dropped} cancelled")
    if state.position.epoch:
        times = "once" if state.position.epoch == 1 else f"{state.position.epoch} times"
        parts.append(f"compacted {times} so far")
    yield Line("Progress: " + ", ".join(parts))


def waves(state: State, size: SizeLimits) -> Iterator[Line]:
    """Every open task with its wave, what it waits for beside it; then how far each wave is, by
    the number that it keeps."""
    found = waves_of(state.tasks)
    for circle in found.cycles:
        names = " → ".join(f"#{state.tasks[key].task}" for key in (*circle, circle[0]))
        yield Line(f"- Dependency cycle, each waits for the next: {names}", circle[0])
    planned = list_planned_waves(state.tasks)
    still_open = [
        (number, key)
        for number, wave in enumerate(planned.waves)
        for key in sorted(wave, key=lambda key: state.tasks[key].client_status != "in_progress")
        if state.tasks[key].status == OPEN
    ]
    for number, key in still_open[: size.open_tasks]:
        when = f"wave {number}, now" if key in found.ready else f"wave {number}"
        yield Line(f"- {when}: {_task(state, key, found)}", key)
    if len(still_open) > size.open_tasks:
        yield Line(f"- and {len(still_open) - size.open_tasks} more")
    if len(planned.waves) > 1:
        standing = (_standing(state, number, wave) for number, wave in enumerate(planned.waves))
        yield Line(f"- {truncate_line(', '.join(standing), size.line + 60)}")


def _standing(state: State, number: int, wave: tuple[str, ...]) -> str:
    done = sum(state.tasks[key].status == DONE for key in wave)
    return f"wave {number}: {'done' if done == len(wave) else f'{100 * done // len(wave)} %'}"


def _task(state: State, key: str, found: TaskWaves) -> str:
    task = state.tasks[key]
    notes = ["in progress"] if task.client_status == "in_progress" else []
    if task.owner:
        notes.append(task.owner)
    if waits_for := found.blockers[key]:
        notes.append("waits for " + ", ".join(f"#{state.tasks[k].task}" for k in waits_for))
    note = f" ({'; '.join(notes)})" if notes else ""
    return f"#{task.task} {truncate_line(task.subject, 120)}{note}"


def subagents(state: State, size: SizeLimits) -> Iterator[Line]:
    """Running ones first, then what came back last."""
    known = list(state.subagents.values())
    beside = [one for one in known if one.status == OPEN]
    over = sorted((one for one in known if one.status != OPEN), key=lambda one: -one.step)
    for one in [*reversed(beside), *over[: 3 if size.tight else 12]]:
        yield Line(_format_status(state, one, size), f"s{one.number}")


def _format_status(state: State, one: Subagent, size: SizeLimits) -> str:
    word = {OPEN: "running", DONE: "done", CANCELLED: "failed"}.get(one.status, one.status)
    text = f"- {word}: {one.role or 'subagent'} {one.agent[:12]}: {truncate_line(one.about, 80)}"
    if one.changed:
        latest = ", ".join(shorten_path(p, state.session.folders) for p in one.changed[-3:])
        text += f" (changed {latest})"
    if one.result:
        text += f" → {truncate_line(_report(one.result), size.line)}"
    return text


def _report(result: str) -> str:
    """Without the pleasantries that stand before a report's first heading."""
    start = result.find("\n#")
    return result[start:].lstrip("\n# ") if 0 <= start < 300 else result


def blockers(state: State, size: SizeLimits) -> Iterator[Line]:
    """What keeps work from going on: red checks, and subagents that failed."""
    for run in reversed(state.suite_runs.values()):
        if run.result == "failed":
            names = f": {', '.join(run.failing[:4])}" if run.failing else ""
            line = f"- failing: `{truncate_line(run.command, 90)}`{names}"
            yield Line(truncate_line(line, size.line + 90), f"v{run.number}")
    errors = [e for e in state.errors.values() if e.status == OPEN and e.of != "test"]
    for error in errors[::-1][: size.errors]:
        shown = f": {error.lines[0]}" if error.lines else ""
        line = f"- {error.of} error: `{truncate_line(error.deed, 90)}`{shown}"
        yield Line(truncate_line(shorten_paths(line, state), size.line + 60), f"e{error.number}")
    failed = [one for one in state.subagents.values() if one.status == CANCELLED]
    for one in failed[::-1][:3]:
        line = f"- {one.role or 'subagent'} failed: {one.about}"
        yield Line(truncate_line(line, size.line + 60), f"s{one.number}")


def decided(state: State, size: SizeLimits) -> Iterator[Line]:
    """The user's decisions first, then the latest of the agent's."""
    still_open = [(key, d) for key, d in state.decisions.items() if d.status == OPEN]
    still_open.sort(key=lambda item: (item[1].by == "user", item[1].step))
    for key, decision in still_open[::-1][: 3 if size.tight else 12]:
        yield Line(f"- {decision_line(decision, size.line + 60)}", key)


def next_steps(state: State, size: SizeLimits) -> Iterator[Line]:
    from holdfast.brief.sections.code_changes import intended_step

    yield from intended_step(state, size)
    ready = [
        (key, state.tasks[key])
        for key in waves_of(state.tasks).ready
        if state.tasks[key].client_status != "in_progress"
    ]
    if ready:
        names = "; ".join(f"#{t.task} {truncate_line(t.subject, 50)}" for _, t in ready[:4])
        yield Line(f"- not started, not blocked: {names}", ready[0][0])
