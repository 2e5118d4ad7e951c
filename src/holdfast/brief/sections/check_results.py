"""What was checked, with which verdict, and whether anything was edited since."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from holdfast.brief.path_display import shorten_path
from holdfast.brief.quotable_pieces import format_command as shown
from holdfast.brief.section_lines import Line, SizeLimits, shorten_paths
from holdfast.state.checks import find_check
from holdfast.state.commands import Command
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.touched_files import TouchedFile
from holdfast.text import collapse_whitespace, truncate_words

# Text that no check reads.
_PROSE = (".md", ".txt", ".rst", ".adoc")


def verified(state: State, size: SizeLimits) -> Iterator[Line]:
    """The last run of each check, latest first; those that passed on the same share a line."""
    edited = _edited(state)
    runs = _last_runs(state)[: size.checks]
    if not runs and edited and not state.subagents:  # what subagents ran is not known
        path = shorten_path(edited[-1].path, state.session.folders)
        yield Line(f"- no test, lint or build was seen to run (last edited: {path})")
    for (passed, since), group in groupby(
        runs, key=lambda run: (run.ok, _since(edited, run) or _read_by_nobody(state, run))
    ):
        if passed:
            alike = list(group)
            named = ", ".join(f"{_named(state, run, size)}{_count(run)}" for run in alike)
            yield Line(f"- passed: {named}{since}", f"c{alike[0].number}")
            continue
        for run in group:
            said = f": {_failure(state, run, size)}" if _failure(state, run, size) else ""
            said += _passed_since(state, run, size)
            yield Line(f"- failed: {_named(state, run, size)}{said}{since}", f"c{run.number}")


def _last_runs(state: State) -> list[Command]:
    """Of each check, however it was narrowed, the last run."""
    latest: dict[str, Command] = {}
    for command in sorted(state.commands.values(), key=lambda c: c.step):
        check = find_check(command.text) if command.check else None
        if check is not None:
            latest[check.runner] = command
    return sorted(latest.values(), key=lambda c: (-c.step, c.number))


def _named(state: State, run: Command, size: SizeLimits) -> str:
    return f"`{shorten_paths(shown(run.text, size.line * 2), state)}`"


def _count(run: Command) -> str:
    """How much passed, where the tool says so; its other words say no more than "passed"."""
    said = collapse_whitespace(run.outcome)
    counts = any(letter.isdigit() for letter in said) and ("pass" in said or "0 " in said)
    return f" ({said})" if counts and len(said) <= 60 else ""


def _failure(state: State, run: Command, size: SizeLimits) -> str:
    """What failed by name, and the first line that says why."""
    parts = [collapse_whitespace(run.outcome)] if run.outcome else []
    for error in state.errors.values():
        if error.status == OPEN and error.deed == run.text:
            parts += [", ".join(error.failing[:3]), *error.lines[: 1 if size.tight else 2]]
    told: list[str] = []
    for part in parts:
        if part and not any(part in one for one in told):
            told.append(part)
    return shorten_paths(
        truncate_words(collapse_whitespace("; ".join(told)), 2 * size.line + 40), state
    )


def _passed_since(state: State, failed: Command, size: SizeLimits) -> str:
    """A later run of just what failed, which passed: the whole was not run again."""
    names = {
        name.rpartition("::")[2].rpartition("/")[2]
        for error in state.errors.values()
        if error.deed == failed.text
        for name in error.failing
    }
    for run in state.commands.values():
        if run.check and run.ok and run.step > failed.step and _names_one(run.text, names):
            return f"; passed later by itself: {_named(state, run, size)}"
    return ""


def _names_one(text: str, names: set[str]) -> bool:
    return any(len(name) > 5 and name in text for name in names)


def _since(edited: list[TouchedFile], run: Command) -> str:
    files = [file for file in edited if file.changed_step > run.step]
    if not files:
        return ""
    names = ", ".join(file.path.rpartition("/")[2] for file in files[:-3:-1])
    more = f" and {len(files) - 2} more" if len(files) > 2 else ""
    return f"; not run since the edit of {names}{more}"


def _read_by_nobody(state: State, run: Command) -> str:
    """Edits since that no check is known to read; "nothing edited" where there were none."""
    others = [file for file in state.files.values() if file.changed_step > run.step]
    if not others:
        return "; nothing edited since"
    last = max(others, key=lambda file: file.changed_step).path.rpartition("/")[2]
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return f"; no code edited since, only {last}{more}"


def _edited(state: State) -> list[TouchedFile]:
    """What a check would read, last edited last."""
    files = [
        file
        for file in state.files.values()
        if file.status == OPEN
        and file.changed_step >= 0
        and not file.path.endswith(_PROSE)
        and "/.claude/" not in file.path
    ]
    return sorted(files, key=lambda file: file.changed_step)
