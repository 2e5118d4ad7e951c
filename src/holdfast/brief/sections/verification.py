"""What was checked, what was claimed done, and what is red: checks, tests, errors, dead ends."""

from collections.abc import Iterator
from itertools import groupby, islice

from holdfast.brief.lines import Line, SizeLimits, shorten_path, shorten_paths
from holdfast.brief.lines import format_command as shown
from holdfast.lazy_regex import lazy_compile
from holdfast.state.checks import Check, covers, find_check
from holdfast.state.commands import Command
from holdfast.state.facts import DONE, OPEN
from holdfast.state.model import State
from holdfast.state.subagents import Subagent
from holdfast.state.touched_files import TouchedFile
from holdfast.text import collapse_whitespace, truncate_line, truncate_words


def claims(state: State, size: SizeLimits) -> Iterator[Line]:
    """Each finished task, with the checks that ran after the last change made for it."""
    done = [(key, task) for key, task in state.tasks.items() if task.status == DONE]
    done.sort(key=lambda item: -item[1].step)
    before = ""
    for key, task in done[: 4 if size.tight else size.open_tasks]:
        changes = [f.changed_step for f in state.files.values() if f.changed_step <= task.step]
        since = [run for run in _last_runs(state) if run.step > max(changes, default=-1)]
        checked = "; ".join(
            f"`{truncate_line(run.text, 60)}` {_describe_verdict(run, 50)}" for run in since[:2]
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
    last = max((file.changed_step for file in state.files.values()), default=-1)
    for run in _last_runs(state)[: 4 if size.tight else 12]:
        when = "after" if run.step > last else "before"
        text = truncate_line(shorten_paths(run.text, state), size.line + 30)
        said = f"{run.check} `{text}` {_describe_verdict(run, 80)}"
        yield Line(f"- {when} the last change: {said}", run.fact_id)


def unchecked(state: State, size: SizeLimits) -> Iterator[Line]:
    """Files that were changed after the last check of any kind."""
    checked = max((run.step for run in _last_runs(state)), default=-1)
    files = [f for f in state.files.values() if f.status == OPEN and f.changed_step > checked]
    files.sort(key=lambda file: -file.changed_step)
    for file in files[: 6 if size.tight else 2 * size.open_tasks]:
        path = shorten_path(file.path, state.session.folders)
        yield Line(f"- {path} (changed {file.changed}x)", file.fact_id)
    for one in state.subagents.values():
        if one.changed and one.step > checked:
            paths = ", ".join(
                shorten_path(path, state.session.folders) for path in one.changed[-6:]
            )
            yield Line(f"- by {one.role or 'subagent'} {one.agent[:12]}: {paths}", one.fact_id)


def _describe_verdict(run: Command, limit: int) -> str:
    word = {True: "passed", False: "failed", None: "ran, outcome not shown"}[run.ok]
    return f"{word} ({truncate_line(run.outcome, limit)})" if run.outcome else word


def tests(state: State, size: SizeLimits) -> Iterator[Line]:
    runs = list(state.suite_runs.values())
    for run in runs[-1:] + [run for run in reversed(runs[:-1]) if run.result == "failed"][:2]:
        said = f" ({truncate_line(run.summary, 80)})" if run.summary else ""
        names = ", ".join(run.failing[: 3 if size.line < 150 else 8])
        failing = f": {names}" if names else ""
        label = f"Last test run {run.result}" if run is runs[-1] else "Also failed"
        line = f"{label}: `{truncate_line(run.command, 200)}`{said}{failing}"
        yield Line(truncate_line(line, size.line + 160), run.fact_id)


def errors(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [error for error in state.errors.values() if error.status == OPEN]
    for error in still_open[::-1][: size.errors]:
        said = " / ".join(error.lines[:2]) if size.line > 150 else (error.lines or ("",))[0]
        text = f"- `{truncate_line(error.command, 90)}`: {said}"
        yield Line(truncate_line(shorten_paths(text, state), size.line + 60), error.fact_id)


def dead_ends(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [d for d in state.dead_ends.values() if d.status == OPEN]
    # Turned down by the user, or failed more than once, weighs more than one slip.
    still_open.sort(key=lambda d: (d.times > 1 or d.source == "refused", d.step))
    for dead_end in still_open[::-1][: size.dead_ends]:
        how = f" → {dead_end.failure}" if dead_end.failure else ""
        often = f" ({dead_end.times}x)" if dead_end.times > 1 else ""
        text = shorten_paths(f"- {dead_end.attempt}{how}", state)
        yield Line(truncate_line(text, size.line) + often, dead_end.fact_id)


# Text that no check reads.
_PROSE = (".md", ".txt", ".rst", ".adoc")


_SILENT = lazy_compile(r'^(?:Agent|Task) ".*" (?:completed|finished)\W*$')


def ends_silently(one: Subagent) -> bool:
    """Whether it said no more than that it is done."""
    return _SILENT.match(one.result) is not None


def verified(state: State, size: SizeLimits) -> Iterator[Line]:
    """The last run of each check, latest first; those that passed on the same share a line."""
    edited = _list_edited(state)
    runs = _choose_runs(state, size)
    shown_only = [e for e in state.errors.values() if e.status == OPEN and not e.runner]
    for (passed, since), group in groupby(
        runs,
        key=lambda run: (
            run.ok,
            _describe_edits_since(edited, run) or _only_prose_edited(state, run),
        ),
    ):
        if passed is not False:
            word = "passed" if passed else "ran, outcome not shown"
            alike = list(group)
            named = ", ".join(
                f"{_quote_command(state, run.text, size)}{_describe_count(run)}" for run in alike
            )
            yield Line(f"- {word}: {named}{since}", alike[0].fact_id)
            continue
        for run in group:
            failure = _describe_failure(state, run.text, run.outcome, size)
            said = f": {failure}" if failure else ""
            said += _passed_since(state, run, size)
            named = _quote_command(state, run.text, size)
            yield Line(f"- failed: {named}{said}{since}", run.fact_id)
    # A run that nobody saw, in the output of a command that only prints: `cat build.log; exit 1`.
    for error in shown_only[::-1][: size.errors]:
        said = _describe_failure(state, error.command, "", size)
        yield Line(f"- failed: {_quote_command(state, error.command, size)}: {said}", error.fact_id)


def check_commands(state: State, size: SizeLimits) -> Iterator[Line]:
    """The commands of earlier checks that `verified` leaves out, in one line."""
    told = {run.text for run in _choose_runs(state, size)}
    runs = sorted(state.commands.values(), key=lambda command: -command.step)
    others = dict.fromkeys(run.text for run in runs if run.check and run.text not in told)
    if named := [_quote_command(state, text, size) for text in others][: size.checks]:
        yield Line(", ".join(named))


def _last_runs(state: State) -> list[Command]:
    """Of each check the last run that says something; a narrower one hides no wider failure."""
    # What a command only printed of a run that nobody saw stands as its error, until one passes.
    shown_only = {error.command for error in state.errors.values() if not error.runner}
    latest: list[tuple[Command, Check]] = []
    for command in sorted(state.commands.values(), key=lambda c: c.step):
        if command.check and command.text not in shown_only:
            check = find_check(command.text) or Check(command.check, command.text, command.text, ())
            latest = [(run, one) for run, one in latest if not _replaces(command, check, run, one)]
            latest.append((command, check))
    return sorted((run for run, _ in latest), key=lambda c: (-c.step, c.number))


def _choose_runs(state: State, size: SizeLimits) -> list[Command]:
    """As many as there is room for, latest first; what passed gives way to what fails."""
    runs = _last_runs(state)
    failed = [run for run in runs if run.ok is False][: max(size.checks, size.errors)]
    others = [run for run in runs if run.ok is not False]
    chosen = [*failed, *others[: max(0, size.checks - len(failed))]]
    return [run for run in runs if run in chosen]


def _replaces(new: Command, check: Check, old: Command, before: Check) -> bool:
    if old.ok is not False:  # what passed on a part, or is not known, is no news any more
        return check.runner == before.runner and (new.ok is not None or old.ok is None)
    return new.ok is not None and covers(check, before)


def _quote_command(state: State, command: str, size: SizeLimits) -> str:
    return f"`{shorten_paths(shown(command, size.line * 2), state)}`"


def _describe_count(run: Command) -> str:
    """How much passed, where the tool says so; its other words say no more than "passed"."""
    said = collapse_whitespace(run.outcome)
    counts = any(letter.isdigit() for letter in said) and ("pass" in said or "0 " in said)
    return f" ({said})" if counts and len(said) <= 60 else ""


# pytest's line of a failing test, which is named already.
_NAMED = lazy_compile(r"^(?:FAILED|ERROR) \S+(?: - |$)")


def _describe_failure(state: State, command: str, outcome: str, size: SizeLimits) -> str:
    """What failed by name, and the first line that says why."""
    parts = [collapse_whitespace(outcome)] if outcome else []
    for error in state.errors.values():
        if error.status == OPEN and error.command == command:
            names = error.failing[:3]
            why = (_NAMED.sub("", collapse_whitespace(line)) for line in error.lines)
            parts += [", ".join(names), *islice(why, 1 if size.tight else 2)]
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
        if error.command == failed.text
        for name in error.failing
    }
    for run in state.commands.values():
        named = any(len(name) > 5 and name in run.text for name in names)
        if named and run.check and run.ok and run.step > failed.step:
            return f"; passed later by itself: {_quote_command(state, run.text, size)}"
    return ""


def _describe_edits_since(edited: list[TouchedFile], run: Command) -> str:
    files = [file for file in edited if file.changed_step > run.step]
    if not files:
        return ""
    names = ", ".join(file.path.rpartition("/")[2] for file in files[:-3:-1])
    more = f" and {len(files) - 2} more" if len(files) > 2 else ""
    return f"; not run since the edit of {names}{more}"


# What brings other files into the work tree without an edit.
_MOVES = lazy_compile(
    r"\bgit (?:-[Cc] \S+ )*(?:merge|pull|rebase|cherry-pick|revert|checkout|switch|reset|restore"
    r"|stash (?:pop|apply)|apply|am)\b"
)


def _only_prose_edited(state: State, run: Command) -> str:
    """Edits since that no check is known to read; "no edit seen" where there were none."""
    later = [one for one in state.commands.values() if one.step > run.step]
    if moved := [one.text for one in later if _MOVES.search(one.text)]:
        return f"; not run since `{truncate_line(moved[-1], 60)}`"
    others = [file for file in state.files.values() if file.changed_step > run.step]
    if not others:
        return "; no edit seen since"
    last = max(others, key=lambda file: file.changed_step).path.rpartition("/")[2]
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return f"; no code edited since, only {last}{more}"


def _list_edited(state: State) -> list[TouchedFile]:
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
