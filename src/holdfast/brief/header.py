"""The state header: what a reader must know first, in the words it was given in.

Requests, rules, tasks, tests, errors, dead ends, branch. Statements, never orders; quoted
text is the user's or a tool's. Each line is given with the fact it tells, the most important
lines first; the header takes as many as its share of the budget holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.brief.paths import shorten
from holdfast.state.facts import CANCELLED, DONE, OPEN, clip
from holdfast.state.model import State
from holdfast.state.wording import sentences


class Line(NamedTuple):
    text: str
    fact: str  # its id, "" for a line that tells none


class Sizes(NamedTuple):
    """How much of each kind the header may quote; grows with the budget."""

    tight: bool
    request: int
    goal: int
    rules: int
    rule: int
    open_tasks: int
    done_tasks: int
    errors: int
    dead_ends: int
    line: int


def sizes(max_chars: int) -> Sizes:
    if max_chars < 3000:
        return Sizes(True, 70, 0, 2, 80, 5, 0, 1, 1, 60)
    if max_chars < 5000:
        return Sizes(False, 140, 80, 10, 130, 20, 3, 4, 4, 90)
    if max_chars < 7500:
        return Sizes(False, 400, 160, 12, 220, 20, 10, 5, 5, 170)
    return Sizes(False, 1200, 400, 16, 330, 40, 24, 8, 10, 260)


def one_line(text: str, limit: int) -> str:
    return clip(" ".join(text.split()), limit)


def request_lines(state: State, size: Sizes) -> Iterator[Line]:
    typed = [(key, r) for key, r in state.requests.items() if r.how in ("prompt", "queued")]
    if not typed:
        return
    key, last = typed[-1]
    first_key, first = typed[0]
    if size.goal and first_key != key:
        yield Line(f'The user first asked: "{one_line(first.text, size.goal)}"', first_key)
    # A short last word ("yes", "go on") says nothing without the request before it.
    if len(last.text) < 40 and len(typed) > 1 and (typed[-2][0] != first_key or not size.goal):
        before_key, before = typed[-2]
        yield Line(f'Before that: "{one_line(before.text, size.request)}"', before_key)
    label = "Last request" if size.tight else "The user's last request"
    yield Line(f'{label}: "{one_line(last.text, size.request)}"', key)


def rule_lines(state: State, size: Sizes) -> Iterator[Line]:
    standing = [(key, rule) for key, rule in state.rules.items() if rule.standing == OPEN]
    chosen = standing[-size.rules :]
    if chosen:
        yield Line("Rules the user gave:" if size.tight else "Rules the user gave (verbatim):", "")
    for key, rule in reversed(chosen):
        yield Line(f'- "{one_line(rule.text, size.rule)}"', key)


# Words with which people set limits, also where the sentence is no standing rule.
_LIMITS = re.compile(
    r"\b(?:always|never|don'?t|do not|must|make sure|from now on|instead|prefer|only|no longer"
    r"|stop|remember|ensure|should(?: not|n't)?|avoid)\b",
    re.I,
)


def said_lines(state: State, size: Sizes) -> Iterator[Line]:
    """What the user also said that sets a limit, without being a rule: latest first."""
    if size.tight:
        return
    told = {rule.text for rule in state.rules.values()}
    room = size.rules
    heading = Line("The user also said:", "")
    for key, request in reversed(state.requests.items()):
        if len(request.text) > 1500:
            continue  # a pasted document, not the user's own words
        for sentence in sentences(request.text):
            if room and len(sentence) < 250 and sentence not in told and _LIMITS.search(sentence):
                if room == size.rules:
                    yield heading
                yield Line(f'- "{one_line(sentence, size.rule)}"', key)
                room -= 1


def task_lines(state: State, size: Sizes) -> Iterator[Line]:
    standing = [(key, task) for key, task in state.tasks.items() if task.standing == OPEN]
    standing.sort(key=lambda item: item[1].status != "in_progress")
    if standing:
        yield Line("Open tasks:", "")
    for key, task in standing[: size.open_tasks]:
        notes = ["in progress"] if task.status == "in_progress" else []
        blocking = [b for b in task.blocked_by if _is_open(state, b)]
        if blocking:
            notes.append("blocked by " + ", ".join("#" + b for b in blocking))
        if task.owner:
            notes.append(task.owner)
        note = f" ({'; '.join(notes)})" if notes else ""
        yield Line(f"- #{task.task} {one_line(task.subject, 120)}{note}", key)
    done = [task for task in state.tasks.values() if task.standing == DONE]
    if done and size.done_tasks:
        latest = sorted(done, key=lambda task: task.step)[-size.done_tasks :]
        subjects = "; ".join(one_line(task.subject, 60) for task in reversed(latest))
        more = f" and {len(done) - len(latest)} more" if len(done) > len(latest) else ""
        yield Line(f"Done, not to be redone: {subjects}{more}", "")
    dropped = [task for task in state.tasks.values() if task.standing == CANCELLED]
    if dropped and size.done_tasks > 4:
        subjects = "; ".join(one_line(task.subject, 50) for task in dropped[-4:])
        yield Line(f"Cancelled: {subjects}", "")


def _is_open(state: State, task: str) -> bool:
    known = state.tasks.get("t" + task)
    return known is not None and known.standing == OPEN


def test_lines(state: State, size: Sizes) -> Iterator[Line]:
    runs = list(state.tests.values())
    for run in runs[-1:] + [run for run in reversed(runs[:-1]) if run.result == "failed"][:2]:
        said = f" ({one_line(run.summary, 80)})" if run.summary else ""
        failing = ""
        if run.failing:
            names = ", ".join(run.failing[: 3 if size.line < 150 else 8])
            failing = f": {names}"
        label = "Last test run" if run is runs[-1] else "Also red"
        line = f"{label}: `{one_line(run.command, 120)}` {run.result}{said}{failing}"
        yield Line(one_line(line, size.line + 90), f"v{run.number}")


def error_lines(state: State, size: Sizes) -> Iterator[Line]:
    standing = [error for error in state.errors.values() if error.standing == OPEN]
    if standing:
        yield Line("Open errors:" if size.tight else "Open errors (quoted output):", "")
    for error in standing[::-1][: size.errors]:
        said = " / ".join(error.lines[:2]) if size.line > 150 else (error.lines or ("",))[0]
        text = f"- `{one_line(error.deed, 90)}`: {said}"
        yield Line(one_line(short_paths(text, state), size.line + 60), f"e{error.number}")


def short_paths(text: str, state: State) -> str:
    for folder in state.place.folders:
        text = text.replace(folder.rstrip("/") + "/", "")
    return text


def dead_end_lines(state: State, size: Sizes) -> Iterator[Line]:
    standing = [d for d in state.dead_ends.values() if d.standing == OPEN]
    # Turned down by the user, or failed more than once, weighs more than one slip.
    standing.sort(key=lambda d: (d.times > 1 or d.source == "refused", d.step))
    chosen = standing[::-1][: size.dead_ends]
    if chosen:
        yield Line("Failed attempts:" if size.tight else "Failed attempts (dead ends):", "")
    for dead_end in chosen:
        how = f" → {dead_end.failed}" if dead_end.failed else ""
        often = f" ({dead_end.times}x)" if dead_end.times > 1 else ""
        text = short_paths(f"- {dead_end.tried}{how}", state)
        yield Line(one_line(text, size.line) + often, f"x{dead_end.number}")


def place_lines(state: State, size: Sizes) -> Iterator[Line]:
    parts = []
    if state.place.branch:
        parts.append(f"Branch: {state.place.branch}")
    if size.line > 150 and state.place.cwd:
        parts.append(f"Folder: {state.place.cwd}")
    if parts:
        yield Line(". ".join(parts), "")
    plans = [(key, plan) for key, plan in state.plans.items() if plan.standing == OPEN]
    for key, plan in plans[-1:]:
        where = shorten(plan.path, state.place.folders)
        title = next((line for line in plan.text.split("\n") if line.strip()), "")
        yield Line(f"Approved plan: {one_line(title.strip('# '), 90)} ({where})", key)
    running = [s for s in state.subagents.values() if s.standing == OPEN]
    if running:
        yield Line("Running in the background:", "")
    for subagent in running[-4:]:
        about = one_line(subagent.about, 90)
        yield Line(
            f"- {subagent.role or 'subagent'} {subagent.agent}: {about}", f"s{subagent.number}"
        )
