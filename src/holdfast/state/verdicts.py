"""Verdicts: what a check printed, read as passed or failed.

The exit code decides only where the output states nothing, because a pipe into `tail` hides
the exit code and agents pipe into `tail` all the time.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from holdfast.lazy_regex import lazy_compile
from holdfast.state.prose import has_any

PASSED, FAILED, UNKNOWN = "passed", "failed", "unknown"

_Cued = tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]

# Every pattern has cues: words one of which must be there, since a plain search for them costs
# a hundredth of the pattern's. Each is then matched against the lines with its cues alone.
#
# The line in which a tool itself states the outcome, by what it checks: in the output of
# "lint && test" the linter's closing line says nothing about the tests.
_TEST_SUMMARIES = (
    (("==",), lazy_compile(r"^=+ .*\b\d+ (?:failed|passed|errors?)\b.*=+$", re.M)),  # pytest
    (
        (" in ",),
        lazy_compile(r"^\d+ (?:failed|passed)(?:, \d+ \w+)* in [\d.]+s.*$", re.M),
    ),  # pytest -q
    (("Tests:",), lazy_compile(r"^Tests:\s+.*\d+ (?:passed|failed|total).*$", re.M)),  # jest
    (("Tests ",), lazy_compile(r"^\s*Tests\s+.*\d+ (?:passed|failed).*$", re.M)),  # vitest
    (("test result",), lazy_compile(r"^test result: .*$", re.M)),  # cargo
    ((" example",), lazy_compile(r"^\d+ examples?, \d+ failures?.*$", re.M)),  # rspec
    (("FAILED", "OK"), lazy_compile(r"^(?:FAILED|OK) ?\(.*\)$|^OK$", re.M)),  # unittest
    (("Tests run",), lazy_compile(r"^Tests run: \d+, Failures: \d+.*$", re.M)),  # JUnit
    (("tests passed",), lazy_compile(r"^\d+% tests passed, .*$", re.M)),  # ctest
)
_LINT_SUMMARIES = (
    (
        ("Found ", "Success: "),
        lazy_compile(r"^Found \d+ errors?.*$|^Success: no issues found.*$", re.M),
    ),  # mypy, ruff
    (
        ("All checks", " problem"),
        lazy_compile(r"^(?:All checks passed!|.*\d+ problems? \(\d+ errors?.*)$", re.M),
    ),  # ruff, eslint
    ((" issue",), lazy_compile(r"^\d+ issues?[.:].*$", re.M)),  # golangci-lint
)
_FAILING_NAMES = (
    (("FAILED ", "ERROR "), lazy_compile(r"^(?:FAILED|ERROR) (\S*(?:\.py|::)\S*)", re.M)),  # pytest
    (("--- FAIL",), lazy_compile(r"^\s*--- FAIL: (\S+)", re.M)),  # go
    (("... FAILED",), lazy_compile(r"^test (\S+) \.\.\. FAILED", re.M)),  # cargo
    (("✕", "✗", "×"), lazy_compile(r"^\s*[✕✗×] (.+?)(?: \(\d+ ?m?s\))?$", re.M)),  # jest, vitest
    (("FAIL:", "ERROR:"), lazy_compile(r"^(?:FAIL|ERROR): (\S+ \([\w.]+\)|\S+)", re.M)),  # unittest
    (("rspec ",), lazy_compile(r"^rspec (\S+:\d+)", re.M)),  # rspec
    (("not ok",), lazy_compile(r"^not ok \d+ -? ?(.+)$", re.M)),  # TAP
    (("[ERROR]",), lazy_compile(r"^\[ERROR\]\s+(\w[\w.]+:\d+)", re.M)),  # maven
    (
        (" - ",),
        lazy_compile(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)\)", re.M),
    ),  # ctest
)
# mocha names a test in one line and says in the next that it failed.
_MOCHA = lazy_compile(r"^[ \t]*\d+\) (.+)$(?=\n\s{1,80}(?:Assertion|Error|Failure))", re.M)
# Named where no single test is: a package, a file.
_FAILING_PARTS = (
    (("FAIL\t",), lazy_compile(r"^FAIL\t(\S+)", re.M)),  # go
    (("FAIL ",), lazy_compile(r"^\s*FAIL +(\S+\.\w+)", re.M)),  # jest, vitest
)
_GO_PACKAGE = lazy_compile(r"^(?:ok|FAIL)\s+[^\s/]+/\S+\s", re.M)
_SUMMARIES = {"test": _TEST_SUMMARIES, "lint": _LINT_SUMMARIES}
# A line that states a failure, whatever the tool.
_FAILURES = (
    (
        ("FAIL",),
        lazy_compile(r"^FAIL(?:ED)?\b|--- FAIL|test result: FAILED|BUILD FAIL(?:ED|URE)", re.M),
    ),
    (
        (" fail",),
        lazy_compile(
            r"\b[1-9]\d* fail(?:ed|ures?)\b|(?:compilation|build) failed|(?<!\b0 )tests? failed"
        ),
    ),
    (
        ("rror",),
        lazy_compile(
            r"\b[1-9]\d* errors?\b|^error(?:\[\w+\])?:|^\S+:\d+:\d+: error|: error TS\d"
            r"|Error: Process completed|Errors: [1-9]",
            re.M,
        ),
    ),
    (("Failures: ",), lazy_compile(r"Failures: [1-9]")),
    (("ERR",), lazy_compile(r"^ERROR\b|^npm ERR!|\[ERROR\]", re.M)),
    (("*** [", "Traceback"), lazy_compile(r"\*\*\* \[|Traceback \(most recent")),
    (("panic:",), lazy_compile(r"^panic:", re.M)),
    (("exit ",), lazy_compile(r"exit (?:code|status) [1-9]")),
    ((" issues:",), lazy_compile(r"\b[1-9]\d* issues:")),
)
_SUCCESS = lazy_compile(
    r"^ok\s+\S+|^PASS\b|^OK\b|\b[1-9]\d* (?:passed|passing)\b|test result: ok|^All checks passed"
    r"|no issues found|\b0 (?:failed|failures|errors|issues)\b|BUILD SUCCESS|[Bb]uild succeeded"
    r"|[Cc]ompiled successfully|100% tests passed|, 0 failures",
    re.M,
)
MAX_LINE_CHARS = 600
HEAD_CHARS, TAIL_CHARS = (
    6000,
    14000,
)  # how much output is read: compile errors lead, summaries close


class Verdict(NamedTuple):
    result: str  # passed | failed | unknown
    summary: str  # the line in which the tool itself says it
    failing: tuple[str, ...]


_NOT_RUN = lazy_compile(
    r"command not found|sh: .*: not found$|no task \S+ found|[Mm]issing script"
    r"|(?<!Error: )No module named"
    r"|is not recognized as|No rule to make target|[Nn]o such (?:command|subcommand)"
    r"|[Uu]nknown command|could not determine executable|executable file not found",
    re.M,
)
_NOT_RUN_CUES = (
    " found", "issing script", "No module named", "is not recognized as", "No rule to make target",
    "o such ", "nknown command", "could not determine executable",
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
def read_verdict(output: str, ok: bool, of: str = "") -> Verdict:
    """The verdict that the output itself states; the exit code decides where it states none."""
    text = (
        output
        if len(output) <= HEAD_CHARS + TAIL_CHARS
        else f"{output[:HEAD_CHARS]}\n{output[-TAIL_CHARS:]}"
    )
    failing: list[str] = []
    for pattern, lines in _cued(_FAILING_NAMES, text):
        failing += [name.strip() for name in pattern.findall(lines)]
    if ") " in text and (" Assertion" in text or " Error" in text or " Failure" in text):
        failing += [name.strip() for name in _MOCHA.findall(text)]
    if not failing:
        for pattern, lines in _cued(_FAILING_PARTS, text):
            failing = failing or pattern.findall(lines)
    summary = ""
    for pattern, lines in _cued(_SUMMARIES.get(of, _TEST_SUMMARIES + _LINT_SUMMARIES), text):
        for found in pattern.finditer(lines):
            summary = found.group().strip(" =")
    if failing or not ok:
        result = FAILED
    elif _SUCCESS.search(summary) and not _states_failure(summary):
        result = PASSED  # the tool's own closing line says so
    else:
        result = FAILED if _states_failure(text) else PASSED
    return Verdict(result, summary[:200], tuple(dict.fromkeys(failing))[:20])


def names_tests(output: str) -> bool:
    """Whether tests ran and said so, wherever the command line ended."""
    text = (
        output
        if len(output) <= HEAD_CHARS + TAIL_CHARS
        else f"{output[:HEAD_CHARS]}\n{output[-TAIL_CHARS:]}"
    )
    named = (*_TEST_SUMMARIES, *_FAILING_NAMES, *_FAILING_PARTS)
    if any(pattern.search(lines) for pattern, lines in _cued(named, text)):
        return True
    return _GO_PACKAGE.search(text) is not None or _MOCHA.search(text) is not None


def _cued(patterns: _Cued, text: str) -> Iterator[tuple[re.Pattern[str], str]]:
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


def _states_failure(text: str) -> bool:
    return any(pattern.search(lines) for pattern, lines in _cued(_FAILURES, text))
