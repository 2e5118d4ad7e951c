"""What was checked, what was claimed done, and what is red: checks, tests, errors, dead ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from holdfast.brief.lines import Line, SizeLimits, shorten_path, shorten_paths
from holdfast.brief.lines import format_command as shown
from holdfast.state.checks import covers, find_check
from holdfast.state.commands import Command
from holdfast.state.facts import DONE, OPEN
from holdfast.state.model import State
from holdfast.state.touched_files import TouchedFile
from holdfast.text import collapse_whitespace, truncate_line, truncate_words

# For a reader who checks: what was claimed done, what ran after the last change, what did not.


def claims(state: State, size: SizeLimits) -> Iterator[Line]:
    """Each finished task, with the checks that ran after the last change made for it."""
    done = [(key, task) for key, task in state.tasks.items() if task.status == DONE]
    done.sort(key=lambda item: -item[1].step)
    before = ""
    for key, task in done[: 4 if size.tight else size.open_tasks]:
        changes = [f.changed_step for f in state.files.values() if f.changed_step <= task.step]
        since = [run for run in _runs(state) if run.step > max(changes, default=-1)]
        checked = "; ".join(
            f"`{truncate_line(run.text, 60)}` {_verdict(run, 50)}" for run in since[:2]
        )
        how = f"checked after its last change: {checked}" if checked else "no check ran after it"
        how, before = ("checked the same way" if checked and checked == before else how), checked
        yield Line(f"- #{task.task} {truncate_line(task.subject, 100)}: {how}", key)
    said = state.next_step.get("next")
    if said is not None:
        words = truncate_line(said.last_words, size.line + 90)
        yield Line(f'- the agent\'s last words: "{words}"', "n1")


def checks(state: State, size: SizeLimits) -> Iterator[Line]:
    """Tests, linters and builds with their last verdict, and whether it is still about the code."""
    last = _last_change(state)
    for run in _runs(state)[: 4 if size.tight else 12]:
        when = "after" if run.step > last else "before"
        text = truncate_line(shorten_paths(run.text, state), size.line + 30)
        yield Line(
            f"- {when} the last change: {run.check} `{text}` {_verdict(run, 80)}", f"c{run.number}"
        )


def unchecked(state: State, size: SizeLimits) -> Iterator[Line]:
    """Files that were changed after the last check of any kind."""
    checked = max((run.step for run in _runs(state)), default=-1)
    files = [f for f in state.files.values() if f.status == OPEN and f.changed_step > checked]
    files.sort(key=lambda file: -file.changed_step)
    for file in files[: 6 if size.tight else 2 * size.open_tasks]:
        path = shorten_path(file.path, state.session.folders)
        yield Line(f"- {path} (changed {file.changed}x)", f"f{file.number}")
    for one in state.subagents.values():
        if one.changed and one.step > checked:
            paths = ", ".join(
                shorten_path(path, state.session.folders) for path in one.changed[-6:]
            )
            yield Line(f"- by {one.role or 'subagent'} {one.agent[:12]}: {paths}", f"s{one.number}")


def _runs(state: State) -> list[Command]:
    """Commands whose purpose is a verdict, latest first, unless a later one says otherwise."""
    runs = [command for command in state.commands.values() if command.check]
    telling = [run for run in runs if run.ok or not _covered_since(run, runs)]
    return sorted(telling, key=lambda command: -command.step)


def _covered_since(failed: Command, runs: list[Command]) -> bool:
    """Whether a later run of the same check, on as much or more, passed."""
    check = find_check(failed.text)
    return check is not None and any(
        run.ok and run.step > failed.step and covers(passed, check)
        for run in runs
        if (passed := find_check(run.text)) is not None
    )


def _verdict(run: Command, limit: int) -> str:
    word = "passed" if run.ok else "failed"
    return f"{word} ({truncate_line(run.outcome, limit)})" if run.outcome else word


def _last_change(state: State) -> int:
    return max((file.changed_step for file in state.files.values()), default=-1)


# What is red and what was tried in vain: test verdicts, open errors, dead ends.


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


# The last run of each check, with its verdict, and whether anything was edited since.

# Text that no check reads.
_PROSE = (".md", ".txt", ".rst", ".adoc")


def verified(state: State, size: SizeLimits) -> Iterator[Line]:
    """The last run of each check, latest first; those that passed on the same share a line."""
    edited = _edited(state)
    runs = _last_runs(state)[: size.checks]
    shown_only = [e for e in state.errors.values() if e.status == OPEN and not e.runner]
    # What subagents ran is not known.
    if not runs and not shown_only and edited and not state.subagents:
        path = shorten_path(edited[-1].path, state.session.folders)
        yield Line(f"- no test, lint or build was seen to run (last edited: {path})")
    for (passed, since), group in groupby(
        runs, key=lambda run: (run.ok, _since(edited, run) or _only_prose_edited(state, run))
    ):
        if passed:
            alike = list(group)
            named = ", ".join(f"{_named(state, run.text, size)}{_count(run)}" for run in alike)
            yield Line(f"- passed: {named}{since}", f"c{alike[0].number}")
            continue
        for run in group:
            failure = _failure(state, run.text, run.outcome, size)
            said = f": {failure}" if failure else ""
            said += _passed_since(state, run, size)
            named = _named(state, run.text, size)
            yield Line(f"- failed: {named}{said}{since}", f"c{run.number}")
    # A run that nobody saw, in the output of a command that only prints: `cat build.log; exit 1`.
    for error in shown_only[::-1][: size.errors]:
        said = _failure(state, error.deed, "", size)
        yield Line(f"- failed: {_named(state, error.deed, size)}: {said}", f"e{error.number}")


def _last_runs(state: State) -> list[Command]:
    """Of each check, however it was narrowed, the last run."""
    latest: dict[str, Command] = {}
    for command in sorted(state.commands.values(), key=lambda c: c.step):
        check = find_check(command.text) if command.check else None
        if check is not None:
            latest[check.runner] = command
    return sorted(latest.values(), key=lambda c: (-c.step, c.number))


def _named(state: State, command: str, size: SizeLimits) -> str:
    return f"`{shorten_paths(shown(command, size.line * 2), state)}`"


def _count(run: Command) -> str:
    """How much passed, where the tool says so; its other words say no more than "passed"."""
    said = collapse_whitespace(run.outcome)
    counts = any(letter.isdigit() for letter in said) and ("pass" in said or "0 " in said)
    return f" ({said})" if counts and len(said) <= 60 else ""


def _failure(state: State, command: str, outcome: str, size: SizeLimits) -> str:
    """What failed by name, and the first line that says why."""
    parts = [collapse_whitespace(outcome)] if outcome else []
    for error in state.errors.values():
        if error.status == OPEN and error.deed == command:
            parts += [", ".join(error.failing[:3]), *error.lines[: 1 if size.tight else 2]]
    shown: list[str] = []
    for part in parts:
        if part and not any(part in one for one in shown):
            shown.append(part)
    return shorten_paths(
        truncate_words(collapse_whitespace("; ".join(shown)), 2 * size.line + 40), state
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
            return f"; passed later by itself: {_named(state, run.text, size)}"
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


def _only_prose_edited(state: State, run: Command) -> str:
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
