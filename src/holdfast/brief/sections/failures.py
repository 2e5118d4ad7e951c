"""What is red and what was tried in vain: test verdicts, open errors, dead ends."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.section_lines import Line, SizeLimits, shorten_paths, truncate_line
from holdfast.state.facts import OPEN
from holdfast.state.model import State


def tests(state: State, size: SizeLimits) -> Iterator[Line]:
    runs = list(state.suite_runs.values())
    for run in runs[-1:] + [run for run in reversed(runs[:-1]) if run.result == "failed"][:2]:
        said = f" ({truncate_line(run.summary, 80)})" if run.summary else ""
        failing = ""
        if run.failing:
            names = ", ".join(run.failing[: 3 if size.line < 150 else 8])
            failing = f": {names}"
        label = f"Last test run {run.result}" if run is runs[-1] else "Also failed"
        line = f"{label}: `{truncate_line(run.command, 200)}`{said}{failing}"
        yield Line(truncate_line(line, size.line + 160), f"v{run.number}")


def errors(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [error for error in state.errors.values() if error.status == OPEN]
    for error in still_open[::-1][: size.errors]:
        said = " / ".join(error.lines[:2]) if size.line > 150 else (error.lines or ("",))[0]
        text = f"- `{truncate_line(error.deed, 90)}`: {said}"
        yield Line(truncate_line(shorten_paths(text, state), size.line + 60), f"e{error.number}")


def dead_ends(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [d for d in state.dead_ends.values() if d.status == OPEN]
    # Turned down by the user, or failed more than once, weighs more than one slip.
    still_open.sort(key=lambda d: (d.times > 1 or d.source == "refused", d.step))
    for dead_end in still_open[::-1][: size.dead_ends]:
        how = f" → {dead_end.failure}" if dead_end.failure else ""
        often = f" ({dead_end.times}x)" if dead_end.times > 1 else ""
        text = shorten_paths(f"- {dead_end.attempt}{how}", state)
        yield Line(truncate_line(text, size.line) + often, f"x{dead_end.number}")
