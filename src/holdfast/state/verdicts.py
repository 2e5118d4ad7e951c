"""Verdicts: what a check printed, read as passed or failed.

A table of tools, each with the line in which it states its outcome. The status decides only
where the output states nothing, and only where it is the check's own (`shell.read_statuses`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.prose import has_any

PASSED, FAILED, UNKNOWN = "passed", "failed", "unknown"

_Cued = tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]


class _Tool(NamedTuple):
    """How a tool closes. `cues` are words one of which must be there, since a plain search for
    them costs a hundredth of the pattern's, which is then matched against those lines alone."""

    kind: str  # "test" | "lint" | "build"; "" speaks for whatever the command line runs
    cues: tuple[str, ...]
    closes: re.Pattern[str]
    fails: re.Pattern[str]  # in its closing line; any other closing line is a pass


_SOME = r"\b[1-9]\d*"
_ROWS = (
    # pytest
    ("test", " in ",
     r"^(?:=+ )?(?:(?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s.*$",
     r"\d (?:failed|error)|no tests"),
    # jest
    ("test", "Tests:|Test Suites:", r"^(?:Tests|Test Suites):\s+.*\d total$", r"\d failed"),
    # vitest
    ("test", "Tests |Test Files ", r"^\s*(?:Tests|Test Files)\s+\d.*\(\d+\)$", r"\d failed"),
    # cargo, nextest
    ("test", "test result: ", r"^test result: .*$", "FAILED"),
    ("test", "Summary [", r"^\s*Summary \[.*passed.*$", r"\d failed"),
    # rspec, mix
    ("test", " failure", r"^\d+ examples?, \d+ failures?.*$", _SOME + " (?:failure|error)"),
    ("test", " failure", r"^(?:\d+ \w+, )+\d+ failures?\b(?!,).*$", _SOME + " failure"),
    # minitest, rails
    ("test", " assertions, ", r"^\d+ (?:run|test)s?, .*$", _SOME + " (?:failure|error)"),
    # unittest
    ("test", "FAILED|OK", r"^(?:FAILED \((?:fail|err|unex).*\)|OK(?: \(.*\))?)$", "FAILED"),
    # phpunit
    ("test", "Assertions: ", r"^Tests: \d+, Assertions: .*$", "(?:Failures|Errors): [1-9]"),
    # JUnit by maven, gradle
    ("test", "Tests run: ", r"^.*Tests run: \d+, Failures: .*$", "(?:ures|rors): [1-9]"),
    ("test", "tests completed", r"^\d+ tests completed.*$", r"\d failed"),
    # ctest
    ("test", "tests passed", r"^\d+% tests passed, .*$", r"^(?!100%)"),
    # mocha, cypress
    ("test", " passing| failing", r"^\s*\d+ (?:passing|failing)\b.*$", _SOME + " failing"),
    ("test", "specs passed| failed (", r"^\s*(?:✔|✖) .*(?:passed|failed).*$", "✖"),
    # TAP, node:test
    ("test", "# fail |ℹ fail ", r"^(?:#|ℹ) fail \d+$", r" [1-9]"),
    ("test", "not ok ", r"^not ok \d+(?!.*# (?:TODO|SKIP)).*$", "not ok"),
    # bun
    ("test", " fail| pass", r"^\s*\d+ (?:pass|fail)$", _SOME + " fail"),
    # deno
    ("test", " passed (", r"^(?:ok|FAILED) \| .*$", "FAILED"),
    # playwright
    ("test", " passed (| failed", r"^\s+\d+ (?:passed|failed)\b.*$", r"\d failed"),
    # go
    ("test", "ok  |FAIL", r"^(?:ok {1,4}\t?|FAIL\t)\S*[./a-z]\S*\s+(?:[\d.]+s|[(\[]).*$", "^FAIL"),
    ("test", "--- FAIL", r"^\s*--- FAIL: .*$", "FAIL"),
    ("test", "FAIL", r"^FAIL$", "FAIL"),
    # dotnet
    ("test", "- Failed: ", r"^(?:Passed|Failed)!\s+- Failed:.*$", "^Failed"),
    ("test", "Test summary: ", r"^\s*Test summary: .*$", r"failed: [1-9]"),
    # dart, flutter
    ("test", "tests passed!|tests failed", r"^\d\d:\d\d \+.*tests (?:passed!|failed\.)$", "Some"),
    # swift
    ("test", "Executed ", r"^\s*Executed \d+ tests?, with .*$", "with [1-9]"),
    ("test", "Test run with", r"^.*Test run with \d+ tests? .*$", "failed"),
    # sbt, bazel, tox, nox, tap; a threshold that was not reached
    ("test", "sbt.Test|] All tests",
     r"^\[\w+\] (?:\(.*sbt\.Tests?Fail.*|All tests passed\.)$", "Fail"),
    ("test", " out of ", r"^Executed \d+ out of \d+ tests?: .*$", r"fail"),
    ("test", " :)| :(", r"^\s*(?:congratulations :\)|evaluation failed :\().*$", r":\("),
    ("test", "nox > Session ", r"^nox > Session .* (?:was successful\.|failed\.)$", "failed"),
    ("test", "# { total", r"^# \{ total: \d+, .*\}$", r"fail: [1-9]"),
    ("test", "threshold|Required test cov",
     r"^(?:Jest: .*not met|ERROR: Coverage for .* not meet|FAIL Required test coverage).*$", "."),
    # pest, artisan
    ("test", " assertions)", r"^\s*Tests:\s+\d+ .*assertions\)$", r"\d failed"),
    # prove
    ("test", "Result: ", r"^Result: (?:PASS|FAIL)$", "FAIL"),
    # ruff, mypy, tsc, biome
    ("lint", "Found ", r"^Found \d+ errors?\b.*$", r"^Found [1-9](?!.*\b0 remaining)"),
    ("lint", "Success: |All checks", r"^(?:Success: no issues found|All checks passed!).*$", "^$"),
    ("lint", " would be ", r"^\d+ files? would be (?:reformatted|left).*$", "reformatted"),
    ("lint", "error TS", r"^.*\berror TS\d+: .*$", "error"),
    # eslint, next lint
    ("lint", " problem", r"^.*\d+ problems? \(\d+ errors?.*$", r"\([1-9]"),
    ("lint", "No ESLint| Error: ",
     r"^.*No ESLint warnings or errors.*$|^\d+:\d+ +Error: .*$", "r: "),
    # golangci-lint, dart analyze, rubocop, pyright
    ("lint", " issue", r"^\d+ issues?[.:].*$", r"^[1-9]"),
    ("lint", "ssues found| issue found", r"^(?:No issues found!|\d+ issues? found\.).*$", r"^\d"),
    ("lint", " detected", r"^\d+ files? inspected, .*$", r", \d"),
    ("lint", " informations", r"^\d+ errors?, \d+ warnings?, .*$", r"^[1-9]"),
    # deno, prettier, phpstan
    ("lint", "Found ", r"^Found \d+ problems?$", r"[1-9]"),
    ("lint", "Prettier", r"^(?:All matched files use|.*Code style issues).*$", "issues"),
    ("lint", "[OK] No|[ERROR] Found", r"^\s*\[(?:OK\] No errors|ERROR\] Found \d+).*$", "ERROR"),
    # next, vite, webpack
    ("build", "ompile|Build error|build worker",
     r"^.*(?:Failed to compile|Compiled successfully|Build error occ|build worker exited).*$",
     "Failed|error|exited"),
    ("build", "built in |error during|Build failed in",
     r"^.*(?:built in |error during build|Build failed in).*$", "rror|fail"),
    ("build", " compiled ", r"^webpack .*compiled .*$", "with [1-9]"),
    # cargo, dotnet, swift, xcodebuild
    ("build", "Finished ", r"^\s*Finished `?(?:dev|test|release|bench).*$", "^$"),
    ("", "could not compile|error[E",
     r"^error: could not compile.*$|^error\[E\d+\]: .*$", "error"),
    ("build", "Build ", r"^Build (?:FAILED\.|succeeded|complete!).*$", "FAILED"),
    ("", ": error ", r"^.*: error [A-Z]+\d+: .*$", "error"),
    ("", "** ", r"^\*\* \w+ (?:FAILED|SUCCEEDED) \*\*.*$", "FAILED"),
    # gradle, maven
    ("", "BUILD ", r"^(?:\[\w+\] )?BUILD (?:SUCCESS|FAIL).*$", "FAIL"),
    # make, npm, pnpm, yarn, C compilers
    ("", "*** [", r"^\w*make(?:\[\d+\])?: \*\*\* \[.*$", "make"),
    ("", "npm ERR!|ELIFECYCLE|Command failed",
     r"^(?:npm ERR!|.*ELIFECYCLE|error Command failed).*$", "."),
    ("build", " error:", r"^\S+:\d+(?::\d+)?: (?:fatal )?error: .*$", "error"),
)  # fmt: skip
_TOOLS = tuple(
    _Tool(kind, tuple(cues.split("|")), lazy_compile(closes, re.M), lazy_compile(fails))
    for kind, cues, closes, fails in _ROWS
)
# By these lines a run is known whatever the command is called. The others are too common.
_COMMON = frozenset(("BUILD ", " would be ", " issue", " compiled ", "Finished ", "Build ", "** ",
                     "*** [", ": error ", " fail", " error:", "FAIL", "FAILED", "Found ",
                     "Result: ")
)  # fmt: skip
# Tools that print one such line for each run; others print one for each package or file.
_SINGLE = frozenset((" in ", " assertions, ", "Assertions: ", "Found ", "Success: ", " would be ",
                     " problem", " issue", "built in ", " failure")
)  # fmt: skip
_FAILING_NAMES = (
    (("FAILED ", "ERROR "), lazy_compile(r"^(?:FAILED|ERROR) (\S*(?:\.py|::)\S*)", re.M)),  # pytest
    (("--- FAIL",), lazy_compile(r"^\s*--- FAIL: (\S+)", re.M)),  # go
    (("... FAILED",), lazy_compile(r"^test (\S+) \.\.\. FAILED", re.M)),  # cargo
    (("✕", "✗", "×"), lazy_compile(r"^\s*[✕✗×] (.+?)(?: \(\d+ ?m?s\))?$", re.M)),  # jest, vitest
    (("FAIL:", "ERROR:"),  # unittest
     lazy_compile(r"^(?:FAIL|ERROR): (\S+ \([\w.]+\)|\S+$)", re.M)),
    (("rspec ",), lazy_compile(r"^rspec (\S+:\d+)", re.M)),  # rspec
    (("not ok",), lazy_compile(r"^not ok \d+ -? ?(?!.*# (?:TODO|SKIP))(.+)$", re.M)),  # TAP
    (("(fail) ",), lazy_compile(r"^\(fail\) (.+?)(?: \[[\d.]+ms\])?$", re.M)),  # bun
    (("[ERROR]",), lazy_compile(r"^\[ERROR\]\s+(\w[\w.]+:\d+)", re.M)),  # maven
    ((" - ",),  # ctest
     lazy_compile(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)\)", re.M)),
)  # fmt: skip
# mocha names a test in one line and says in the next that it failed.
_MOCHA = lazy_compile(r"^[ \t]*\d+\) (.+)$(?=\n\s{1,80}(?:Assertion|Error|Failure))", re.M)
# Named where no single test is: a package, a file.
_FAILING_PARTS = (
    (("FAIL\t",), lazy_compile(r"^FAIL\t(\S+)", re.M)),  # go
    (("FAIL ",), lazy_compile(r"^\s*FAIL +(\S+\.\w+)", re.M)),  # jest, vitest
)
# A line in which any program states that it failed.
_FAILURES = (
    # Behind a program or a place, too: `psql:m.sql:3: ERROR: ...`.
    (("rror", "RROR", "atal", "FATAL", "anic: "),
     lazy_compile(r"^[│|>* ]*(?:[\w./-]+: ?)*"
                  r"(?:[Ee]rror|ERROR|[Ff]atal|FATAL|panic)(?:\[\w+\]| \w+)?: ", re.M)),
    (("E: ", "error ", "ERR_PNPM_"), lazy_compile(r"^(?:E: |error [A-Z]|\s*ERR_PNPM_)", re.M)),
    (("FAIL",), lazy_compile(r"^FAIL(?:ED|URE)?\b|--- FAIL|FAILED$", re.M)),
    (("rejected]",), lazy_compile(r"^ ! \[(?:remote )?rejected\]", re.M)),
    (("ailed to ", "failed.", "failed:", "failed;"),
     lazy_compile(r"^Failed to \w+"
                  r"|(?:[Cc]ompilation|[Bb]uild|[Dd]eploy\w*|merge|command) failed\b", re.M)),
    (("exit ", "exited "), lazy_compile(r"exit(?:ed with)? (?:code|status):? [1-9]")),
    (("[ERROR]", "npm "), lazy_compile(r"(?:^|\s)\[ERROR\]|^npm (?:error|ERR!)", re.M)),
    (("command not found", "ermission denied", "Connection refused", "Segmentation"),
     lazy_compile(r"command not found$|ermission denied|Connection refused|^Segmentation", re.M)),
    (("Traceback (",), lazy_compile(r"^Traceback \(most recent", re.M)),
    (('"success"', '"ok"'),  # of an answer in JSON, and not of something in it
     lazy_compile(r'^(?:\{|  ?)?"(?:success|ok)": ?false\b', re.M)),
    (("ailed=", " fail", " error"),
     lazy_compile(r"\b[1-9]\d* (?:fail(?:ed|ures?)|errors?)\b|\bfailed=[1-9]")),
)  # fmt: skip
MAX_LINE_CHARS = 600
# How much output is read: compile errors lead, summaries close.
HEAD_CHARS, TAIL_CHARS = 6000, 14000


class Verdict(NamedTuple):
    result: str  # passed | failed | unknown
    summary: str  # the line in which the tool itself says it
    failing: tuple[str, ...]


_NOT_RUN = lazy_compile(
    r"command not found|sh: .*: not found$|no task \S+ found|[Mm]issing script"
    r"|(?<!Error: )No module named|is not recognized as|No rule to make target"
    r"|[Nn]o such (?:command|subcommand)|^ERROR: file or directory not found: |[Uu]nknown command"
    r"|could not determine executable|executable file not found|\bcd: (?:\d+: )?(?:\S+: No such"
    r"|no such|can't cd)|^npm (?:error|ERR!) (?:code ENOENT|Missing script)"
    r"|^(?:=+ )?\d+ deselected in |^ssh: |^Cannot connect to the Docker daemon|^(?:Terminated"
    r"|Killed)$",
    re.M,
)
_RAN_NONE = lazy_compile(r"no tests ran|^\W*\d+ deselected in ")
_NOT_RUN_CUES = (
    " found", "issing script", "No module named", "is not recognized as", "No rule to make target",
    " deselected", "ssh: ", "Cannot connect to the Docker", "Terminated", "Killed",
    "o such ", "can't cd", "nknown command", "could not determine executable", "ENOENT",
)  # fmt: skip
# A runner that is not there says so in a few lines; a long output is a run.
MAX_NOT_RUN_CHARS = 1000


def did_not_run(output: str, ok: bool) -> bool:
    """The check itself never began: nothing was found about the code."""
    if ok or len(output) > MAX_NOT_RUN_CHARS or not has_any(output, _NOT_RUN_CUES):
        return False
    # A test may well say of something that it was not found.
    return _NOT_RUN.search(output) is not None and not names_tests(output)


@lru_cache(maxsize=8)  # several kinds of facts ask about the same run
def read_verdict(output: str, ok: bool | None, of: str = "", *, alone: bool = True) -> Verdict:
    """The verdict that the output itself states, else what the status says; `ok` is None where
    the status that was seen is not the check's own. Of a check that did not run `alone` words of
    failure may be another command's: only closing lines count."""
    text = _cut_output(output)
    failing = _failing_names(text)
    closings = [line for line in _list_closings(text) if line.kind in ("", of) or line.failed]
    own = [line for line in closings if line.kind == of] or closings
    if failing or ok is False or any(line.failed for line in closings):
        result = FAILED
    elif closings:
        result = PASSED
    elif alone and states_failure(text):
        result = FAILED
    else:
        result = UNKNOWN if ok is None else PASSED
    return _state_verdict(result, own, failing)


def read_one_of_several(
    output: str, ok: bool | None, of: str, place: int, count: int, *, stopped: bool
) -> Verdict:
    """The verdict of one of several checks in a line, by closing lines that only it can have
    printed: those of its kind, and of several of a kind its own in their order. `stopped` says that
    the first that failed was the last that ran."""
    text = _cut_output(output)
    own = [line for line in _list_closings(text) if line.kind == of]
    failing = _failing_names(text) if of == "test" and count == 1 else ()
    if count > 1:
        own.sort(key=lambda line: text.find(line.text))
        each = all(line.single for line in own)
        known = each and (len(own) == count or (stopped and place < len(own) < count))
        own = own[place : place + 1] if known else []
    if failing or ok is False or any(line.failed for line in own):
        result = FAILED
    else:
        result = PASSED if own or ok else UNKNOWN
    return _state_verdict(result, own, failing)


def _state_verdict(result: str, own: list["_Closing"], failing: tuple[str, ...]) -> Verdict:
    summary = next((line.text for line in own if line.failed), own[-1].text if own else "")
    return Verdict(result, summary.strip(" =")[:200], failing)


def has_failing_line(output: str, of: str) -> bool:
    """Whether a closing line of this kind says that something failed."""
    return any(line.failed and line.kind == of for line in _list_closings(_cut_output(output)))


class _Closing(NamedTuple):
    kind: str
    text: str
    failed: bool
    telling: bool  # no other program prints such a line
    single: bool  # its tool prints one for each run


@lru_cache(maxsize=4)
def _list_closings(text: str) -> tuple[_Closing, ...]:
    found = []
    for tool in _TOOLS:
        if not has_any(text, tool.cues):
            continue
        cue = tool.cues[0]
        for match in tool.closes.finditer(lines_with(tool.cues, text)):
            line = match.group()
            failed = tool.fails.search(line) is not None
            found.append(_Closing(tool.kind, line, failed, cue not in _COMMON, cue in _SINGLE))
    return tuple(found)


@lru_cache(maxsize=8)
def known_by_output(output: str) -> str:
    """What a run checked, by a closing line that only such a tool prints; "" when there is none."""
    kinds = {line.kind for line in _list_closings(_cut_output(output)) if line.telling}
    return next((kind for kind in ("test", "lint") if kind in kinds), "")


def names_tests(output: str) -> bool:
    """Whether tests ran and said so, wherever the command line ended."""
    text = _cut_output(output)
    ran = (line for line in _list_closings(text) if not _RAN_NONE.search(line.text))
    return bool(_failing_names(text)) or any(line.kind == "test" for line in ran)


def states_failure(output: str) -> bool:
    """Whether a line of the output says that something failed."""
    return any(
        pattern.search(lines) for pattern, lines in _match_cued(_FAILURES, _cut_output(output))
    )


def _failing_names(text: str) -> tuple[str, ...]:
    failing: list[str] = []
    for pattern, lines in _match_cued(_FAILING_NAMES, text):
        failing += [name.strip() for name in pattern.findall(lines)]
    if ") " in text and (" Assertion" in text or " Error" in text or " Failure" in text):
        failing += [name.strip() for name in _MOCHA.findall(text)]
    if not failing:
        for pattern, lines in _match_cued(_FAILING_PARTS, text):
            failing = failing or pattern.findall(lines)
    return tuple(dict.fromkeys(failing))[:20]


_COLOURS = lazy_compile(r"\x1b\[[\d;]*m")


@lru_cache(maxsize=4)
def _cut_output(output: str) -> str:
    """What is read of an output, without colours and with the lines that a tool wrote over."""
    if len(output) > HEAD_CHARS + TAIL_CHARS:
        output = f"{output[:HEAD_CHARS]}\n{output[-TAIL_CHARS:]}"
    if "\x1b[" in output:
        output = _COLOURS.sub("", output)
    return output.replace("\r\n", "\n").replace("\r", "\n") if "\r" in output else output


def _match_cued(patterns: _Cued, text: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """The patterns that may match, each with the lines in which it may."""
    for cues, pattern in patterns:
        for cue in cues:
            # To look for one character takes a tenth of the time, and many begin with a rare one.
            if cue[0] in text and cue in text:
                yield pattern, lines_with(cues, text)
                break


def lines_with(cues: tuple[str, ...], text: str) -> str:
    """The lines that hold one of the cues, in their order, as far as a tool's own line goes: the
    patterns go back and forth in a line, and one of 20,000 characters took 0.2 s."""
    lines: dict[int, str] = {}  # by where they begin
    for cue in cues:
        at = text.find(cue)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            lines[start] = text[start : min(end, start + MAX_LINE_CHARS)]
            at = text.find(cue, end)
    return "\n".join([lines[start] for start in sorted(lines)])
