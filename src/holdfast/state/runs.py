"""One run of a command line, read once for everybody: what was done, how each part of it ended,
and what was checked with which verdict.

Commands, errors, test runs, dead ends, task summaries and the digest all ask `read_run`. How
something ended is shown by its own status or by its own words; where neither shows it, nobody
knows.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, pairwise

from holdfast.events import CommandRan
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.checks import (
    KIND_ORDER,
    TASK_RUNNERS,
    Check,
    cannot_check,
    find_check,
    is_known_program,
    list_checks,
    name_check,
)
from holdfast.state.shell import SimpleCommand, read_statuses, split_commands
from holdfast.state.verdicts import (
    FAILED,
    PASSED,
    UNKNOWN,
    Verdict,
    did_not_run,
    has_failing_line,
    known_by_output,
    lines_with,
    names_tests,
    read_one_of_several,
    read_verdict,
    states_failure,
)

MAX_LINE_CHARS = 4000
MAX_ECHOES = 8
MAX_ANSWER_CHARS = 600  # of an output that is told whole where its last line says nothing
_ECHO = lazy_compile(r"^(?:\[[\w:./-]+\] )?[$>] (\S.{2,400})$", re.M)
_ECHO_CUES = ("$ ", "> ")


class Done(NamedTuple):
    """One thing that a command line did; what only looks is none."""

    typed: str
    worked: bool | None  # None where neither its status nor its words show how it ended
    said: str
    kind: str  # "test" | "lint" | "build" of a check, else ""


class Run(NamedTuple):
    """A command line that ran."""

    done: tuple[Done, ...]
    check: Check | None = None  # the one that the verdict is about
    verdict: Verdict = Verdict("", "", ())
    via: tuple[Check, ...] = ()  # what a task runner said that it ran for this check
    passed: tuple[Check, ...] = ()  # everything that is now known to pass


def read_run(event: CommandRan) -> Run:
    return _read_line(event.command[:MAX_LINE_CHARS], event.output, event.ok, event.interrupted)


_Statuses = dict[str, bool | None]  # of each simple command, as typed


@lru_cache(maxsize=8)  # several kinds of facts ask about the same run
def _read_line(line: str, output: str, ok: bool, interrupted: bool) -> Run:
    parts = split_commands(line)
    acts = [part for part in parts if not part.looks]
    shown = list(zip(parts, read_statuses(line, ok, output), strict=True))
    statuses = {part.typed: status for part, status in shown if not part.looks}
    look_failed = any(part.looks and status is False for part, status in shown)
    checks = list_checks(line)
    kinds = {check.command: check.kind for check in checks}
    if interrupted:
        return Run(tuple(Done(one, None, "interrupted", kinds.get(one, "")) for one in statuses))
    if checks:
        run = _read_checks(checks, parts, output, ok, statuses)
    elif acts:
        run = _read_by_output(acts, output, statuses)
    else:
        run = None if ok else _read_shown(line, output)
    if run is None:
        return Run(_read_endings(parts, statuses, output, ok, look_failed))
    if run.done:
        return run
    ended = {typed: status if ok else None for typed, status in statuses.items()}
    return run._replace(done=tuple(_list_done(run, ended, kinds, output)))


def _read_by_output(acts: list[SimpleCommand], output: str, statuses: _Statuses) -> Run | None:
    """A run of another name (`sh ./ci.sh`) whose output has a runner's closing line."""
    last = acts[-1]
    kind = "" if cannot_check(last.plain) else known_by_output(output)
    if not kind:
        return None
    verdict = read_verdict(output, statuses[last.typed], kind)
    if verdict.result == FAILED and len(_list_runners(acts)) > 1:
        return None  # it may be any of them
    check = name_check(kind, last.typed, last.plain)
    return Run((), check, verdict, (), (check,) if verdict.result == PASSED else ())


def _list_runners(acts: Iterable[SimpleCommand]) -> list[SimpleCommand]:
    """Parts of a line that may print what a runner prints."""
    return [part for part in acts if not part.looks and not cannot_check(part.plain)]


def _read_shown(line: str, output: str) -> Run | None:
    """A run that a failing command only shows, such as `cat build.log; exit 1`."""
    verdict = read_verdict(output, False, "test")
    if not verdict.failing:
        return None
    return Run((), Check("test", " ".join(line.split()), "", ()), verdict)


def _read_checks(
    checks: tuple[Check, ...],
    parts: tuple[SimpleCommand, ...],
    output: str,
    ok: bool,
    statuses: _Statuses,
) -> Run | None:
    """The checks of a command line with their verdict; None when they did not run, or nothing
    shows that it was they that failed."""
    if did_not_run(output, ok):
        return None
    if len(checks) == 1 and not is_known_program(checks[0]) and known_by_output(output) == "test":
        checks = (checks[0]._replace(kind="test"),)  # `check.sh` runs tests
    stopped = not ok and all(part.separator in ("", "&&", "|") for part in parts)
    verdicts = _judge_checks(checks, parts, output, statuses, stopped=stopped)
    ended = {typed: None if stopped else status for typed, status in statuses.items()}
    ended.update((check.command, _RESULTS.get(one.result)) for check, one in verdicts.items())
    failed = [check for check, one in verdicts.items() if one.result == FAILED]
    left: list[str] = []  # what may have failed in a chain that stopped
    if stopped:
        order = list(statuses)
        passed = [order.index(c.command) for c, one in verdicts.items() if one.result == PASSED]
        left = order[max(passed, default=-1) + 1 :]
        if _may_be_a_look(parts):
            left = []
        if not failed and (culprit := _find_culprit(checks, left, output)):
            failed = [culprit]
            verdicts[culprit] = read_verdict(output, False, culprit.kind)
            ended[culprit.command] = False
        elif left and not failed and not passed:
            return None
        at = order.index(failed[0].command) if failed else max(passed, default=-1) + 1
        piped = {one.typed for one, then in pairwise(parts) if then.separator == "|"}
        for typed in set(order[:at]) - piped:
            ended[typed] = True
    if not failed and (shared := _find_shared_failure(verdicts, output)):
        failed = [shared]
        verdicts[shared] = read_verdict(output, False, shared.kind)
    main = max(reversed(failed or checks), key=lambda check: KIND_ORDER[check.kind])
    known = [check for check in checks if ended[check.command]]
    echoes = chain.from_iterable(_list_echoed(check, output) for check in known)
    run = Run((), main, verdicts[main], _list_echoed(main, output), (*known, *echoes))
    done = _list_done(run, ended, {check.command: check.kind for check in checks}, output)
    if left and not failed:
        rest = [one for one in done if one.typed not in left]
        return run._replace(done=(*rest, *_blame_one(left, output)))
    return run._replace(done=tuple(done))


def _may_be_a_look(parts: tuple[SimpleCommand, ...]) -> bool:
    """Whether the line may have failed in a look-up at its end: a `grep` that finds nothing."""
    return parts[-1].looks and parts[-1].plain.split(" ", 1)[0] not in ("cd", "echo", "true")


def _judge_checks(
    checks: tuple[Check, ...],
    parts: tuple[SimpleCommand, ...],
    output: str,
    statuses: _Statuses,
    *,
    stopped: bool,
) -> dict[Check, Verdict]:
    """Each check with what is known of it alone."""
    judged = {}
    for check in checks:
        status = statuses.get(check.command)
        if len(_list_runners(parts)) == 1:
            others = [how for typed, how in statuses.items() if typed != check.command]
            judged[check] = read_verdict(output, status, check.kind, alone=all(others))
            continue
        alike = [one for one in checks if one.kind == check.kind]
        judged[check] = read_one_of_several(
            output, status, check.kind, alike.index(check), len(alike), stopped=stopped
        )
    return judged


def _find_culprit(checks: tuple[Check, ...], left: list[str], output: str) -> Check | None:
    """Which check of a chain failed, of which no line says it: the only one left, or the only one
    before tests that are not heard of."""
    found = [check for check in checks if check.command in left]
    if len(found) < len(left):
        return None
    if len(found) > 1 and not names_tests(output):
        found = [check for check in found if check.kind != "test"] or found
    return found[0] if len(found) == 1 else None


def _find_shared_failure(verdicts: dict[Check, Verdict], output: str) -> Check | None:
    """Several checks of one kind as one, where a line says that one of them failed."""
    unsure = [check for check, one in verdicts.items() if one.result == UNKNOWN]
    for kind in KIND_ORDER:
        alike = [check.command for check in unsure if check.kind == kind]
        if alike and has_failing_line(output, kind):
            return Check(kind, "; ".join(alike), "", ())
    return None


def _list_echoed(check: Check, output: str) -> tuple[Check, ...]:
    """What a task runner said that it ran, as far as those are checks of the same kind."""
    if check.runner.split(" ", 1)[0] not in TASK_RUNNERS:
        return ()
    return tuple(echoed for echoed in _read_echoes(output) if echoed.kind == check.kind)


@lru_cache(maxsize=1)  # asked for each check of a chain
def _read_echoes(output: str) -> tuple[Check, ...]:
    text = output if len(output) <= 8000 else f"{output[:5000]}\n{output[-3000:]}"
    found = map(find_check, _ECHO.findall(lines_with(_ECHO_CUES, text))[:MAX_ECHOES])
    return tuple(echoed for echoed in found if echoed is not None)


_RESULTS = {PASSED: True, FAILED: False}


def _list_done(run: Run, ended: _Statuses, kinds: dict[str, str], output: str) -> list[Done]:
    """How each part of a line with a check in it ended."""
    assert run.check is not None
    main, worked = run.check.command, _RESULTS.get(run.verdict.result)
    said = _describe_verdict(run.verdict, output, failed=worked is False)
    if main not in ended:  # several of which one failed
        gone = main.split("; ")
        ended = {typed: how for typed, how in ended.items() if typed not in gone} | {main: worked}
    return [
        Done(typed, worked, said, run.check.kind)
        if typed == main
        else Done(typed, how, "", kinds.get(typed, ""))
        for typed, how in ended.items()
    ]


def _describe_verdict(verdict: Verdict, output: str, *, failed: bool) -> str:
    names = ", ".join(verdict.failing[:3])
    if verdict.summary and names:
        return f"{verdict.summary} ({names})"
    return verdict.summary or names or _find_last_word(output, failed=failed)


_SILENT = ("true", ":")  # `cmd || true`: what was printed is the command's


def _read_endings(
    parts: tuple[SimpleCommand, ...],
    statuses: _Statuses,
    output: str,
    ok: bool,
    look_failed: bool,
) -> tuple[Done, ...]:
    """How each part of a line without a check ended. The words of a failure may be those of a
    look-up that failed."""
    unsure = not ok and len(statuses) > 1 and False not in statuses.values()
    if unsure and not _may_be_a_look(parts):
        return _blame_one(list(statuses), output)
    failure = states_failure(output)
    # `git add -A && git status`: the last line printed says nothing of the first command.
    last = parts[-1] if parts else None
    spoke = next((part for part in reversed(parts) if part.separator != "|"), None)
    ends_in_a_look = spoke is not None and spoke.looks and spoke.plain not in _SILENT
    alone = len(statuses) == 1 and not look_failed
    reads = last is not None and last.separator == "|" and last.plain.split(" ", 1)[0] in _READERS
    done = []
    for number, (typed, status) in enumerate(statuses.items(), 1):
        if failure and status is not False:
            # Whose words they are is known where nothing else was done.
            status = False if status is None and alone and (ok or not reads) else None
        said = ""
        if number == len(statuses) and (status is False or not ends_in_a_look):
            said = _find_last_word(output, failed=status is False)
        done.append(Done(typed, status, said, ""))
    return tuple(done)


# Behind a pipe these fail at what they were given; `tail` and `grep` only show it.
_READERS = frozenset("python python3 jq yq node ruby perl psql mysql xargs sh bash".split())


def _blame_one(chained: list[str], output: str) -> tuple[Done, ...]:
    """Any of a chain may have failed: the one that the failure names, or all as one."""
    word = _find_last_word(output, failed=True)
    named = [place for place, typed in enumerate(chained) if _find_verb(typed) in word]
    if len(named) != 1:
        return (Done(" && ".join(chained), False, word, ""),)
    before = [Done(typed, True, "", "") for typed in chained[: named[0]]]
    return (*before, Done(chained[named[0]], False, word, ""))


def _find_verb(typed: str) -> str:
    """The word that says what is done: `push` of `git push origin`, else the program."""
    words = split_commands(typed)[-1].plain.split(None, 2)
    return words[1] if len(words) > 1 and words[1].isalpha() else words[0]


_SIGNS_OF_FAILURE = lazy_compile(
    r"error|fail|fatal|conflict|denied|not found|no such|cannot|can't|refused|unknown|invalid", re.I
)
MAX_FAILURE_CHARS = 8000


def find_failure_lines(output: str) -> list[str]:
    """The lines that name an error, else the last two: a login banner comes first, the reason
    last."""
    lines = [line.strip() for line in output[-MAX_FAILURE_CHARS:].split("\n") if line.strip()]
    if lines and lines[0].startswith("Exit code"):
        lines = lines[1:] or lines
    named = [line for line in lines if _SIGNS_OF_FAILURE.search(line)]
    # Of a traceback the code that raised says less than what it raised.
    return [line for line in named if not line.startswith("raise ")] or named or lines[-2:]


def _find_last_word(output: str, *, failed: bool) -> str:
    """The line that says how it went: the last one, or the first that names an error."""
    if failed:
        lines = find_failure_lines(output)
        return next(filter(_SIGNS_OF_FAILURE.search, lines), lines[-1] if lines else "")
    last = output[-3000:].rstrip().rpartition("\n")[2].strip()
    if len(output) > MAX_ANSWER_CHARS and output.lstrip()[:1] in ("{", "["):
        return ""  # of a long document the last line says nothing
    if any(map(str.isalnum, last)):
        return last
    # "}" ends something and says nothing by itself: all of it, where that is short.
    whole = " ".join(output[:MAX_ANSWER_CHARS].split())
    return whole if len(output) < MAX_ANSWER_CHARS and any(map(str.isalnum, whole)) else ""
