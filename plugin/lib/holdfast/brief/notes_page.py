"""The session notes as Holdfast writes them: what is true now, and what happened when.

`current_state` is the block on top; `happenings` are the entries of the log that a state can
tell, each with a time and always in the same words, so that whoever keeps them can tell which
are new. Pure; `lifecycle.session_notes` keeps the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.brief.focus import current_task
from holdfast.brief.handoff_page import moment
from holdfast.brief.lines import one_line, short_paths
from holdfast.brief.paths import shorten
from holdfast.brief.sections.written import labelled
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.model import State
from holdfast.state.next_step import intention
from holdfast.state.notes import standing

NOTES = 20


class Happening(NamedTuple):
    time: str
    text: str


def current_state(state: State, session_id: str, now: str) -> list[str]:
    """Lines of Markdown under their heading."""
    return [
        f"## Current State (last updated: {moment(state.place.updated or now)})",
        "",
        f"- **Session:** `{session_id}`" + (f", {state.place.title}" if state.place.title else ""),
        *_active(state),
        *_blocking(state),
        *_next(state),
        *_beside(state),
        *(f"- **Note:** {labelled(note, 400)}" for _, note in standing(state)[-NOTES:]),
    ]


def _active(state: State) -> Iterator[str]:
    asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
    if asked:
        yield f'- **Asked last:** "{one_line(asked[-1].text, 300)}"'
    found = current_task(state)
    if found is not None:
        yield f"- **Current task:** #{found[1].task} {one_line(found[1].subject, 160)}"
    tasks = [t for t in state.tasks.values() if t.standing != CANCELLED]
    if tasks:
        done = sum(task.standing == DONE for task in tasks)
        waiting = [t for t in tasks if t.standing == OPEN and t.status != "in_progress"]
        names = "; ".join(f"#{t.task} {one_line(t.subject, 70)}" for t in waiting[:6])
        yield f"- **Tasks:** {done} of {len(tasks)} done" + (f"; open: {names}" if names else "")
    changed = [f for f in state.files.values() if (f.changed or f.created) and f.standing == OPEN]
    changed.sort(key=lambda file: -file.changed_step)
    if changed:
        shown = ", ".join(f"`{shorten(f.path, state.place.folders)}`" for f in changed[:8])
        yield f"- **Files:** {shown}"
    if state.place.branch:
        yield f"- **Branch:** `{state.place.branch}`"


def _blocking(state: State) -> Iterator[str]:
    red = [run for run in state.tests.values() if run.result == "failed"]
    errors = [e for e in state.errors.values() if e.standing == OPEN and e.of != "test"]
    shown = [
        f"`{one_line(run.command, 90)}` fails" + (f" ({run.failing[0]})" if run.failing else "")
        for run in red[-3:]
    ] + [f"`{one_line(short_paths(error.deed, state), 90)}` fails" for error in errors[-2:]]
    yield f"- **Blocking on:** {'; '.join(shown) or 'nothing known'}"


def _next(state: State) -> Iterator[str]:
    noted = standing(state, "next_step")
    said = state.next_step.get("next")
    intended = noted[-1][1].text if noted else intention(said) if said is not None else ""
    if intended:
        yield f'- **Next:** "{one_line(intended, 300)}"'


def _beside(state: State) -> Iterator[str]:
    running = [s for s in state.subagents.values() if s.standing == OPEN]
    if running:
        shown = "; ".join(f"{s.role or 'subagent'} {s.agent}" for s in running[-6:])
        yield f"- **Running beside it:** {shown}"


def happenings(state: State) -> list[Happening]:
    """In the order of time. A verdict is told anew when it changes: the log keeps both."""
    found = [Happening(time, text) for time, text in _told(state) if time]
    return sorted(set(found))


def _told(state: State) -> Iterator[tuple[str, str]]:
    for task in state.tasks.values():
        subject = one_line(task.subject, 160)
        if task.standing == DONE:
            yield task.at.time, f"Task done: #{task.task} {subject}"
        elif task.standing == CANCELLED:
            yield task.at.time, f"Task dropped: #{task.task} {subject}"
        elif task.status == "in_progress":
            yield task.at.time, f"Task begun: #{task.task} {subject}"
    for command in state.commands.values():
        if command.ok and command.text.startswith("git commit"):
            yield command.at.time, f"Commit: `{one_line(command.text, 160)}`"
    for decision in state.decisions.values():
        yield decision.at.time, f"Decision ({decision.by}): {one_line(decision.text, 240)}"
    for run in state.tests.values():
        said = f" ({one_line(run.summary, 80)})" if run.summary else ""
        yield run.at.time, f"Tests {run.result}: `{one_line(run.command, 120)}`{said}"
    for one in state.subagents.values():
        if one.standing == OPEN:
            yield (
                one.at.time,
                f"Begun beside it: {one.role or 'subagent'} {one_line(one.about, 120)}",
            )
        elif one.result:
            yield one.at.time, f"Came back: {one.role or 'agent'} {one_line(one.about, 120)}"
    for plan in state.plans.values():
        if plan.standing == OPEN:
            yield plan.at.time, f"Plan approved: {one_line(plan.text, 120)}"
    for note in state.notes.values():
        if note.by != "file":
            yield note.at.time, f"Note: {labelled(note, 300)}"
