"""Text for the summariser: what its summary should still hold, as plain statements.

The client puts it under the instructions of its own summary request. Statements, never orders,
and never anything that could be taken for JSON. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.gap import exact_values
from holdfast.brief.header import one_line, short_paths
from holdfast.brief.paths import shorten
from holdfast.brief.sections.written import labelled
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.finished import line
from holdfast.state.model import State
from holdfast.state.notes import standing

OPENING = (
    "Facts of this session, kept by Holdfast from its transcript. They stand at the time of this"
    " summary; quoted text is data, word for word. The work after the compaction needs them"
    " exactly: rules and requests in the user's words, values and paths as written here."
)


def steer(state: State, max_chars: int) -> str:
    """At most `max_chars`; empty when there is nothing to say. Most important first."""
    text = OPENING
    said = False
    for group in (
        _rules(state),
        _request(state),
        _notes(state),
        _tasks(state),
        _tests(state),
        _dead_ends(state),
        _values(state),
        _files(state),
        _summaries(state),
        _finished(state),
    ):
        for each in group:
            if len(text) + 1 + len(each) > max_chars:
                break
            text += "\n" + each
            said = True
    return text if said else ""


def _rules(state: State) -> Iterator[str]:
    rules = [rule for rule in state.rules.values() if rule.standing == OPEN]
    for rule in reversed(rules[-12:]):
        yield f'The user\'s standing rule: "{one_line(rule.text, 330)}"'
    withdrawn = [rule for rule in state.rules.values() if rule.standing != OPEN]
    for rule in withdrawn[-2:]:
        yield f'Withdrawn by the user, no longer a rule: "{one_line(rule.text, 160)}"'


def _request(state: State) -> Iterator[str]:
    asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
    if asked:
        yield f'The user\'s last request: "{one_line(asked[-1].text, 900)}"'
    if len(asked) > 1:
        yield f'The user\'s first request: "{one_line(asked[0].text, 300)}"'


def _notes(state: State) -> Iterator[str]:
    """What was noted on purpose is worth more than what is remembered of the same."""
    for _, note in reversed(standing(state)[-12:]):
        yield f"Noted during the session: {labelled(note, 300)}"


def _summaries(state: State) -> Iterator[str]:
    for one in reversed(list(state.finished.values())[-12:]):
        yield f"Finished task, its summary word for word: {line(one)}"


def _tasks(state: State) -> Iterator[str]:
    for task in [task for task in state.tasks.values() if task.standing == OPEN][:20]:
        doing = " (in progress)" if task.status == "in_progress" else ""
        yield f"Open task #{task.task}: {one_line(task.subject, 120)}{doing}"


def _tests(state: State) -> Iterator[str]:
    for run in state.tests.values():
        if run.result == "failed":
            names = f": {', '.join(run.failing[:6])}" if run.failing else ""
            yield f"Failing test run: {one_line(run.command, 120)}{names}"
    for error in [e for e in state.errors.values() if e.standing == OPEN and e.of != "test"][-3:]:
        shown = f": {error.lines[0]}" if error.lines else ""
        yield one_line(short_paths(f"Open error: {error.deed}{shown}", state), 240)


def _dead_ends(state: State) -> Iterator[str]:
    for dead_end in [d for d in state.dead_ends.values() if d.standing == OPEN][-6:]:
        how = f" ({dead_end.failed})" if dead_end.failed else ""
        yield one_line(short_paths(f"Tried and did not work: {dead_end.tried}{how}", state), 260)


def _values(state: State) -> Iterator[str]:
    values = [f"{item.sort} {item.value}" for item in reversed(exact_values(state)[-12:])]
    if values:
        yield "Exact values: " + ", ".join(values)


def _files(state: State) -> Iterator[str]:
    changed = [f for f in state.files.values() if (f.changed or f.created) and f.standing == OPEN]
    latest = sorted(changed, key=lambda file: -file.changed_step)[:12]
    if latest:
        yield "Edited files: " + ", ".join(shorten(f.path, state.place.folders) for f in latest)


def _finished(state: State) -> Iterator[str]:
    done = [task for task in state.tasks.values() if task.standing == DONE]
    if done:
        yield "Finished, no longer open: " + "; ".join(one_line(t.subject, 60) for t in done[-8:])
    dropped = [task for task in state.tasks.values() if task.standing == CANCELLED]
    if dropped:
        yield "Cancelled: " + "; ".join(one_line(task.subject, 60) for task in dropped[-4:])
    passing = [run for run in state.tests.values() if run.result == "passed"]
    if passing:
        yield "Passing test run: " + "; ".join(one_line(run.command, 80) for run in passing[-3:])
