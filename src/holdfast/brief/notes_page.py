"""The session notes as Holdfast writes them: what is true now, and what happened when.

`format_current_state` is the block on top; `list_timeline` are the entries of the log that a state
can tell, each with a time and always in the same words, so that whoever keeps them can tell which
are new. Pure; `session.notes_file` keeps the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.brief.path_display import shorten_path
from holdfast.brief.section_lines import shorten_paths
from holdfast.brief.sections.work_items import format_note
from holdfast.brief.task_focus import find_current_task
from holdfast.clock import format_minute_utc
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.model import State
from holdfast.state.next_step import find_intention
from holdfast.state.notes import list_open_notes
from holdfast.text import truncate_line

MAX_NOTES = 20


class TimelineEntry(NamedTuple):
    time: str
    text: str


def format_current_state(state: State, session_id: str, now: str) -> list[str]:
    """Lines of Markdown under their heading."""
    return [
        f"## Current State (last updated: {format_minute_utc(state.session.updated or now)})",
        "",
        f"- **Session:** `{session_id}`"
        + (f", {state.session.title}" if state.session.title else ""),
        *_active(state),
        *_blocking(state),
        *_next(state),
        *_beside(state),
        *(
            f"- **Note:** {format_note(note, 400)}"
            for _, note in list_open_notes(state)[-MAX_NOTES:]
        ),
    ]


def _active(state: State) -> Iterator[str]:
    asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
    if asked:
        yield f'- **Last request:** "{truncate_line(asked[-1].text, 300)}"'
    found = find_current_task(state)
    if found is not None:
        yield f"- **Current task:** #{found[1].task} {truncate_line(found[1].subject, 160)}"
    tasks = [t for t in state.tasks.values() if t.status != CANCELLED]
    if tasks:
        done = sum(task.status == DONE for task in tasks)
        waiting = [t for t in tasks if t.status == OPEN and t.client_status != "in_progress"]
        names = "; ".join(f"#{t.task} {truncate_line(t.subject, 70)}" for t in waiting[:6])
        yield f"- **Tasks:** {done} of {len(tasks)} done" + (f"; open: {names}" if names else "")
    changed = [f for f in state.files.values() if (f.changed or f.created) and f.status == OPEN]
    changed.sort(key=lambda file: -file.changed_step)
    if changed:
        shown = ", ".join(f"`{shorten_path(f.path, state.session.folders)}`" for f in changed[:8])
        yield f"- **Files:** {shown}"
    if state.session.branch:
        yield f"- **Branch:** `{state.session.branch}`"


def _blocking(state: State) -> Iterator[str]:
    red = [run for run in state.suite_runs.values() if run.result == "failed"]
    errors = [e for e in state.errors.values() if e.status == OPEN and e.of != "test"]
    shown = [
        f"`{truncate_line(run.command, 90)}` fails"
        + (f" ({run.failing[0]})" if run.failing else "")
        for run in red[-3:]
    ] + [f"`{truncate_line(shorten_paths(error.deed, state), 90)}` fails" for error in errors[-2:]]
    yield f"- **Blocked by:** {'; '.join(shown) or 'none known'}"


def _next(state: State) -> Iterator[str]:
    noted = list_open_notes(state, "next_step")
    said = state.next_step.get("next")
    intended = noted[-1][1].text if noted else find_intention(said) if said is not None else ""
    if intended:
        yield f'- **Next:** "{truncate_line(intended, 300)}"'


def _beside(state: State) -> Iterator[str]:
    running = [s for s in state.subagents.values() if s.status == OPEN]
    if running:
        shown = "; ".join(f"{s.role or 'subagent'} {s.agent}" for s in running[-6:])
        yield f"- **Running in the background:** {shown}"


def list_timeline(state: State) -> list[TimelineEntry]:
    """In the order of time. A verdict is told anew when it changes: the log keeps both."""
    found = [TimelineEntry(time, text) for time, text in _timeline(state) if time]
    return sorted(set(found))


def _timeline(state: State) -> Iterator[tuple[str, str]]:
    for task in state.tasks.values():
        subject = truncate_line(task.subject, 160)
        if task.status == DONE:
            yield task.at.time, f"Task done: #{task.task} {subject}"
        elif task.status == CANCELLED:
            yield task.at.time, f"Task dropped: #{task.task} {subject}"
        elif task.client_status == "in_progress":
            yield task.at.time, f"Task started: #{task.task} {subject}"
    for command in state.commands.values():
        if command.ok and command.text.startswith("git commit"):
            yield command.at.time, f"Commit: `{truncate_line(command.text, 160)}`"
    for decision in state.decisions.values():
        yield decision.at.time, f"Decision ({decision.by}): {truncate_line(decision.text, 240)}"
    for run in state.suite_runs.values():
        said = f" ({truncate_line(run.summary, 80)})" if run.summary else ""
        yield run.at.time, f"Tests {run.result}: `{truncate_line(run.command, 120)}`{said}"
    for one in state.subagents.values():
        if one.status == OPEN:
            yield (
                one.at.time,
                f"Started in the background: {one.role or 'subagent'}"
                f" {truncate_line(one.about, 120)}",
            )
        elif one.result:
            yield (
                one.at.time,
                f"Finished in the background: {one.role or 'agent'}"
                f" {truncate_line(one.about, 120)}",
            )
    for plan in state.plans.values():
        if plan.status == OPEN:
            yield plan.at.time, f"Plan approved: {truncate_line(plan.text, 120)}"
    for note in state.notes.values():
        if note.by != "file":
            yield note.at.time, f"Note: {format_note(note, 300)}"
