"""The work itself: tasks with their standing, the plan, where it happens, what runs beside it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.path_display import shorten_path
from holdfast.brief.section_lines import Line, SizeLimits
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.labels import kind_name
from holdfast.state.model import State
from holdfast.state.notes import Note, list_open_notes
from holdfast.state.task_summary import format_summary
from holdfast.state.tasks import Task
from holdfast.text import truncate_line


def finished(state: State, size: SizeLimits) -> Iterator[Line]:
    """What is done or was dropped, so that it is not taken up again."""
    done = [item for item in state.tasks.items() if item[1].status == DONE]
    if done and size.done_tasks:
        latest = sorted(done, key=lambda item: item[1].step)[-size.done_tasks :]
        subjects = "; ".join(_titled(task) for _, task in reversed(latest))
        more = f" and {len(done) - len(latest)} more" if len(done) > len(latest) else ""
        yield Line(f"Done, not to be redone: {subjects}{more}", latest[-1][0])
    dropped = [item for item in state.tasks.items() if item[1].status == CANCELLED]
    if dropped and not size.tight:
        subjects = "; ".join(_titled(task) for _, task in dropped[-4:])
        yield Line(f"Cancelled: {subjects}", dropped[-1][0])


def _titled(task: Task) -> str:
    return f"#{task.task} {truncate_line(task.subject, 60)}"


def tasks(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [(key, task) for key, task in state.tasks.items() if task.status == OPEN]
    still_open.sort(key=lambda item: item[1].client_status != "in_progress")
    for key, task in still_open[: size.open_tasks]:
        notes = ["in progress"] if task.client_status == "in_progress" else []
        blocking = [b for b in task.blocked_by if _is_open(state, b)]
        if blocking:
            notes.append("blocked by " + ", ".join("#" + b for b in blocking))
        if task.owner:
            notes.append(task.owner)
        note = f" ({'; '.join(notes)})" if notes else ""
        yield Line(f"- #{task.task} {truncate_line(task.subject, 120)}{note}", key)


def _is_open(state: State, task: str) -> bool:
    known = state.tasks.get("t" + task)
    return known is not None and known.status == OPEN


def plan(state: State, _: SizeLimits) -> Iterator[Line]:
    plans = [(key, plan) for key, plan in state.plans.items() if plan.status == OPEN]
    for key, plan in plans[-1:]:
        where = f" (file: {shorten_path(plan.path, state.session.folders)})" if plan.path else ""
        title = next((line for line in plan.text.split("\n") if line.strip()), "")
        yield Line(f'Approved plan: "{truncate_line(title.strip("# "), 90)}"{where}', key)


def running(state: State, _: SizeLimits) -> Iterator[Line]:
    beside = [s for s in state.subagents.values() if s.status == OPEN]
    for one in beside[-4:]:
        about = truncate_line(one.about, 90)
        # Until it reports, only the call that started it may be known.
        name = "" if one.agent.startswith("toolu_") else f" {one.agent}"
        yield Line(f"- {one.role or 'subagent'}{name}: {about}", f"s{one.number}")


# What was written down on purpose: notes of the user and the agent, summaries of finished work.


def notes(state: State, size: SizeLimits) -> Iterator[Line]:
    """Latest first, the user's before the agent's."""
    found = list_open_notes(state)
    found.sort(key=lambda item: (item[1].by == "user", item[1].number))
    for key, note in reversed(found):
        yield Line(f"- {format_note(note, 60 if size.tight else 260)}", key)


def format_note(note: Note, limit: int) -> str:
    who = {"user": "the user", "agent": "the agent"}.get(note.by, "the notes file")
    when = f" {note.at.time[11:16]}" if len(note.at.time) >= 16 else ""
    label = "next" if note.kind == "next_step" else kind_name(note.kind)
    return f'{label}, by {who}{when}: "{truncate_line(note.text, limit)}"'


def summaries(state: State, size: SizeLimits) -> Iterator[Line]:
    """One line for each finished task that went cold, in the words in which it was kept."""
    for one in reversed(state.task_summaries.values()):
        yield Line(
            f"- {format_summary(one, 140) if size.tight else format_summary(one)}", f"t{one.task}"
        )
