"""What is red and what was tried in vain: test verdicts, open errors, dead ends."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, Sizes, one_line, short_paths
from holdfast.state.facts import OPEN
from holdfast.state.model import State


def tests(state: State, size: Sizes) -> Iterator[Line]:
    runs = list(state.tests.values())
    for run in runs[-1:] + [run for run in reversed(runs[:-1]) if run.result == "failed"][:2]:
        said = f" ({one_line(run.summary, 80)})" if run.summary else ""
        failing = ""
        if run.failing:
            names = ", ".join(run.failing[: 3 if size.line < 150 else 8])
            failing = f": {names}"
        label = f"Last test run {run.result}" if run is runs[-1] else "Also failed"
        line = f"{label}: `{one_line(run.command, 200)}`{said}{failing}"
        yield Line(one_line(line, size.line + 160), f"v{run.number}")


def errors(state: State, size: Sizes) -> Iterator[Line]:
    standing = [error for error in state.errors.values() if error.standing == OPEN]
    for error in standing[::-1][: size.errors]:
        said = " / ".join(error.lines[:2]) if size.line > 150 else (error.lines or ("",))[0]
        text = f"- `{one_line(error.deed, 90)}`: {said}"
        yield Line(one_line(short_paths(text, state), size.line + 60), f"e{error.number}")


def dead_ends(state: State, size: Sizes) -> Iterator[Line]:
    standing = [d for d in state.dead_ends.values() if d.standing == OPEN]
    # Turned down by the user, or failed more than once, weighs more than one slip.
    standing.sort(key=lambda d: (d.times > 1 or d.source == "refused", d.step))
    for dead_end in standing[::-1][: size.dead_ends]:
        how = f" → {dead_end.failed}" if dead_end.failed else ""
        often = f" ({dead_end.times}x)" if dead_end.times > 1 else ""
        text = short_paths(f"- {dead_end.tried}{how}", state)
        yield Line(one_line(text, size.line) + often, f"x{dead_end.number}")
