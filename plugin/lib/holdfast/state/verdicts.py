"""Verdicts: what a check printed, read as passed or failed.

The exit code decides only where the output states nothing, because a pipe into `tail` hides
the exit code and agents pipe into `tail` all the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from holdfast.state.patterns import lazily
from holdfast.state.wording import has_any

PASSED, FAILED, UNKNOWN = "passed", "failed", "unknown"

_Cued = tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]

# Every pattern has cues: words one of which must be there, since a plain search for them costs
# a hundredth of the pattern's. Each is then matched against the lines with its cues alone.
#
# The line in which a tool itself states the outcome, by what it checks: in the output of
# "lint && test" the linter's closing line says nothing about the tests.
_TEST_SUMMARIES = (
    (("==",), lazily(r"^=+ .*\b\d+ (?:failed|passed|errors?)\b.*=+$", re.M)),  # pytest
    (
        (" in ",),
        lazily(r"^\d+ (?:failed|passed)(?:, \d+ \w+)* in [\d.]+s.*$", re.M),
    ),  # pytest -q
    (("Tests:",), lazily(r"^Tests:\s+.*\d+ (?:passed|failed|total).*$", re.M)),  # jest
    (("Tests ",), lazily(r"^\s*Tests\s+.*\d+ (?:passed|failed).*$", re.M)),  # vitest
    (("test result",), lazily(r"^test result: .*$", re.M)),  # cargo
    ((" example",), lazily(r"^\d+ examples?, \d+ failures?.*$", re.M)),  # rspec
    (("FAILED", "OK"), lazily(r"^(?:FAILED|OK) ?\(.*\)$|^OK$", re.M)),  # unittest
    (("Tests run",), lazily(r"^Tests run: \d+, Failures: \d+.*$", re.M)),  # JUnit
    (("tests passed",), lazily(r"^\d+% tests passed, .*$", re.M)),  # ctest
)
_LINT_SUMMARIES = (
    (
        ("Found ", "Success: "),
        lazily(r"^Found \d+ errors?.*$|^Success: no issues found.*$", re.M),
    ),  # mypy, ruff
    (
        ("All checks", " problem"),
        lazily(r"^(?:All checks passed!|.*\d+ problems? \(\d+ errors?.*)$", re.M),
    ),  # ruff, eslint
    ((" issue",), lazily(r"^\d+ issues?[.:].*$", re.M)),  # golangci-lint
)
_FAILING_NAMES = (
    (("FAILED ", "ERROR "), lazily(r"^(?:FAILED|ERROR) (\S*(?:\.py|::)\S*)", re.M)),  # pytest
    (("--- FAIL",), lazily(r"^\s*--- FAIL: (\S+)", re.M)),  # go
    (("... FAILED",), lazily(r"^test (\S+) \.\.\. FAILED", re.M)),  # cargo
    (("✕", "✗", "×"), lazily(r"^\s*[✕✗×] (.+?)(?: \(\d+ ?m?s\))?$", re.M)),  # jest, vitest
    (("FAIL:", "ERROR:"), lazily(r"^(?:FAIL|ERROR): (\S+ \([\w.]+\)|\S+)", re.M)),  # unittest
    (("rspec ",), lazily(r"^rspec (\S+:\d+)", re.M)),  # rspec
    (("not ok",), lazily(r"^not ok \d+ -? ?(.+)$", re.M)),  # TAP
    (("[ERROR]",), lazily(r"^\[ERROR\]\s+(\w[\w.]+:\d+)", re.M)),  # maven
    (
        (" - ",),
        lazily(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)\)", re.M),
    ),  # ctest
)
# mocha names a test in one line and says in the next that it failed.
_MOCHA = lazily(r"^\s*\d+\) (.+)$(?=\n\s+(?:Assertion|Error|Failure))", re.M)
# Named where no single test is: a package, a file.
_FAILING_PARTS = (
    (("FAIL\t",), lazily(r"^FAIL\t(\S+)", re.M)),  # go
    (("FAIL ",), lazily(r"^\s*FAIL +(\S+\.\w+)", re.M)),  # jest, vitest
)
_GO_PACKAGE = lazily(r"^(?:ok|FAIL)\s+\S+/\S+\s", re.M)
_SUMMARIES = {"test": _TEST_SUMMARIES, "lint": _LINT_SUMMARIES}
_FAILURE = lazily(
    r"^FAIL\b|^FAILED\b|--- FAIL|\b[1-9]\d* (?:failed|failures?|errors?)\b|test result: FAILED"
    r"|^error(?:\[\w+\])?:|^ERROR\b|Error: Process completed|\*\*\* \[|^npm ERR!|BUILD FAILED"
    r"|Traceback \(most recent|^\S+:\d+:\d+: error|: error TS\d+|^panic:|exit (?:code|status) [1-9]"
    r"|compilation failed|build failed|(?<!\b0 )tests? failed|\[ERROR\]|\b[1-9]\d* issues:"
    r"|(?:Failures|Errors): [1-9]|BUILD FAILURE",
    re.M,
)
_FAILURE_CUES = ("FAIL", "ail", "rror", "ERR", "***", "Traceback", "panic:", "exit ", "issues:")
_SUCCESS = lazily(
    r"^ok\s+\S+|^PASS\b|^OK\b|\b[1-9]\d* (?:passed|passing)\b|test result: ok|^All checks passed"
    r"|no issues found|\b0 (?:failed|failures|errors|issues)\b|BUILD SUCCESS|[Bb]uild succeeded"
    r"|[Cc]ompiled successfully|100% tests passed|, 0 failures",
    re.M,
)
HEAD, TAIL = 6000, 14000  # how much output is read: compile errors lead, summaries close


class Verdict(NamedTuple):
    result: str  # passed | failed | unknown
    summary: str  # the line in which the tool itself says it
    failing: tuple[str, ...]


_NOT_RUN = lazily(
    r"command not found|sh: .*: not found$|no task \S+ found|[Mm]issing script"
    r"|(?<!Error: )No module named"
    r"|is not recognized as|No rule to make target|[Nn]o such (?:command|subcommand)"
    r"|[Uu]nknown command|could not determine executable|executable file not found",
    re.M,
)
# A runner that is not there says so in a few lines; a long output is a run.
NOT_RUN_OUTPUT = 1000


def did_not_run(output: str, ok: bool) -> bool:
    """The check itself never began: nothing was found about the code."""
    if ok or len(output) > NOT_RUN_OUTPUT or _NOT_RUN.search(output) is None:
        return False
    return not names_tests(output)  # a test may well say of something that it was not found


@lru_cache(maxsize=8)  # several kinds of facts ask about the same run
def read_verdict(output: str, ok: bool, of: str = "") -> Verdict:
    """The verdict that the output itself states; the exit code decides where it states none."""
    text = output if len(output) <= HEAD + TAIL else f"{output[:HEAD]}\n{output[-TAIL:]}"
    failing: list[str] = []
    for pattern, lines in _cued(_FAILING_NAMES, text):
        failing += [name.strip() for name in pattern.findall(lines)]
    if ") " in text and (" Assertion" in text or " Error" in text or " Failure" in text):
        failing += [name.strip() for name in _MOCHA.findall(text)]
    for pattern, lines in _cued(_FAILING_PARTS, text):
        failing = failing or pattern.findall(lines)
    summary = ""
    for pattern, lines in _cued(_SUMMARIES.get(of, _TEST_SUMMARIES + _LINT_SUMMARIES), text):
        for found in pattern.finditer(lines):
            summary = found.group().strip(" =")
    failed = bool(failing) or not ok or _states_failure(text)
    if failed and ok and not failing and _SUCCESS.search(summary) and not _FAILURE.search(summary):
        failed = False  # the tool's own closing line says that it passed
    result = FAILED if failed else PASSED
    return Verdict(result, summary[:200], tuple(dict.fromkeys(failing))[:20])


def names_tests(output: str) -> bool:
    """Whether tests ran and said so, wherever the command line ended."""
    text = output if len(output) <= HEAD + TAIL else f"{output[:HEAD]}\n{output[-TAIL:]}"
    named = (*_TEST_SUMMARIES, *_FAILING_NAMES, *_FAILING_PARTS)
    if any(pattern.search(lines) for pattern, lines in _cued(named, text)):
        return True
    return _GO_PACKAGE.search(text) is not None or _MOCHA.search(text) is not None


def _cued(patterns: _Cued, text: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """The patterns that may match, each with the lines in which it may."""
    for cues, pattern in patterns:
        if has_any(text, cues):
            lines = dict(found for cue in cues for found in _lines_with(cue, text))
            yield pattern, "\n".join(lines[start] for start in sorted(lines))


def _lines_with(cue: str, text: str) -> Iterator[tuple[int, str]]:
    """Where each line with the cue begins, and the line."""
    at = text.find(cue)
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        start = text.rfind("\n", 0, at) + 1
        yield start, text[start:end]
        at = text.find(cue, end)


def _states_failure(text: str) -> bool:
    return any(
        _FAILURE.search(line)
        for cue in _FAILURE_CUES
        if cue in text
        for _, line in _lines_with(cue, text)
    )
