"""For a reader with one thing to do: errors, changes and notes around the current task."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.section_lines import (
    Line,
    SizeLimits,
    decision_line,
    shorten_paths,
    truncate_line,
)
from holdfast.brief.sections.code_changes import changes_in
from holdfast.brief.task_focus import TaskFocus, find_focus
from holdfast.state.dead_ends import DeadEnd
from holdfast.state.errors import Error
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.prose import subject_words


def near_errors(state: State, size: SizeLimits) -> Iterator[Line]:
    """Open errors, those in the files of the task first and with more of their words."""
    names = {path.rpartition("/")[2] for path in find_focus(state).paths}
    still_open = [error for error in state.errors.values() if error.status == OPEN]
    still_open.sort(key=lambda error: (_names_one(error, names), error.step))
    for error in still_open[::-1][: size.errors]:
        shown = error.lines[: 4 if _names_one(error, names) and not size.tight else 1]
        text = shorten_paths(f"- `{truncate_line(error.deed, 90)}`: {' / '.join(shown)}", state)
        yield Line(truncate_line(text, 2 * size.line + 60), f"e{error.number}")


def _names_one(error: Error, names: set[str]) -> bool:
    text = " ".join((error.deed, *error.lines, *error.failing))
    return any(name in text for name in names)


def near_changes(state: State, size: SizeLimits) -> Iterator[Line]:
    return changes_in(state, size, find_focus(state).paths)


def near_notes(state: State, size: SizeLimits) -> Iterator[Line]:
    """Decisions and dead ends that speak of the task or of its files."""
    around = find_focus(state)
    notes = [
        (d.step, f"- decided: {decision_line(d, size.line + 60)}", key, d.text)
        for key, d in state.decisions.items()
        if d.status == OPEN
    ] + [
        (d.step, truncate_line(_failure(d), size.line + 60), f"x{d.number}", d.attempt)
        for d in state.dead_ends.values()
        if d.status == OPEN
    ]
    near = sorted(note for note in notes if _speaks_of(note[3], around))
    for _, text, fact, _ in near[::-1][: 2 if size.tight else size.dead_ends]:
        yield Line(shorten_paths(text, state), fact)


def _failure(end: DeadEnd) -> str:
    return f"- failed: {end.attempt} → {end.failure}".rstrip("→ ")


def _speaks_of(text: str, around: TaskFocus) -> bool:
    if len(subject_words(text) & subject_words(around.text)) >= 2:
        return True
    return any(path.rpartition("/")[2] in text for path in around.paths)
