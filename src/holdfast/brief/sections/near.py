"""For a reader with one thing to do: errors, changes and notes around the current task."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.focus import Focus, focus
from holdfast.brief.lines import Line, Sizes, decision_line, one_line, short_paths
from holdfast.brief.sections.coding import changes_in
from holdfast.state.dead_ends import DeadEnd
from holdfast.state.errors import Error
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.wording import plain_words


def near_errors(state: State, size: Sizes) -> Iterator[Line]:
    """Open errors, those in the files of the task first and with more of their words."""
    names = {path.rpartition("/")[2] for path in focus(state).paths}
    standing = [error for error in state.errors.values() if error.standing == OPEN]
    standing.sort(key=lambda error: (_names_one(error, names), error.step))
    for error in standing[::-1][: size.errors]:
        shown = error.lines[: 4 if _names_one(error, names) and not size.tight else 1]
        text = short_paths(f"- `{one_line(error.deed, 90)}`: {' / '.join(shown)}", state)
        yield Line(one_line(text, 2 * size.line + 60), f"e{error.number}")


def _names_one(error: Error, names: set[str]) -> bool:
    text = " ".join((error.deed, *error.lines, *error.failing))
    return any(name in text for name in names)


def near_changes(state: State, size: Sizes) -> Iterator[Line]:
    return changes_in(state, size, focus(state).paths)


def near_notes(state: State, size: Sizes) -> Iterator[Line]:
    """Decisions and dead ends that speak of the task or of its files."""
    around = focus(state)
    notes = [
        (d.step, f"- decided: {decision_line(d, size.line + 60)}", key, d.text)
        for key, d in state.decisions.items()
        if d.standing == OPEN
    ] + [
        (d.step, one_line(_failure(d), size.line + 60), f"x{d.number}", d.tried)
        for d in state.dead_ends.values()
        if d.standing == OPEN
    ]
    near = sorted(note for note in notes if _speaks_of(note[3], around))
    for _, text, fact, _ in near[::-1][: 2 if size.tight else size.dead_ends]:
        yield Line(short_paths(text, state), fact)


def _failure(end: DeadEnd) -> str:
    return f"- failed: {end.tried} → {end.failed}".rstrip("→ ")


def _speaks_of(text: str, around: Focus) -> bool:
    if len(plain_words(text) & plain_words(around.text)) >= 2:
        return True
    return any(path.rpartition("/")[2] in text for path in around.paths)
