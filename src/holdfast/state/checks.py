"""Checks: commands whose purpose is a verdict (tests, linters, type checkers, builds).

Recognises them and reads their verdict from what they printed, because a pipe into `tail`
hides the exit code and agents pipe into `tail` all the time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.state.shell import deeds

PASSED, FAILED, UNKNOWN = "passed", "failed", "unknown"

# What a check is of: only "test" feeds the test state; all of them open and resolve errors.
_TEST = re.compile(
    r"(?:^|[\s/:_.-])(?:pytest|py\.test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava"
    r"|karma|rspec|minitest|phpunit|pest|ctest|gotestsum|nextest|playwright test|cypress run|busted|bats"
    r"|prove|tests?|specs?|test-\w+|test:[\w:-]+)(?=$|[\s:])",
    re.I,
)
_LINT = re.compile(
    r"(?:^|[\s/:])(?:lint\w*|ruff|flake8|pylint|eslint|tslint|stylelint|prettier --check|black --check"
    r"|gofmt -l|go vet|golangci-lint|staticcheck|clippy|rubocop|shellcheck|mypy|pyright|tsc|typecheck"
    r"|type-check|check|biome|oxlint|hadolint|vet)(?=$|[\s:])",
    re.I,
)
_BUILD = re.compile(
    r"(?:^|[\s/:])(?:build|compile|make|cmake|ninja|bazel|gcc|g\+\+|clang|rustc|javac|webpack|vite"
    r"|rollup|esbuild|gradle|gradlew|mvn|msbuild|assemble)(?=$|[\s:])",
    re.I,
)
# Heads that mention a check without running it.
_NOT_RUNNING = frozenset(
    ("git", "gh", "rm", "mv", "cp", "mkdir", "touch", "kill", "pkill", "chmod", "pip", "apt-get",
     "apt", "brew", "curl", "wget", "docker", "ssh", "scp", "code", "open", "export", "source")
)  # fmt: skip

_SUMMARIES = (
    re.compile(r"^=+ .*\b\d+ (?:failed|passed|errors?)\b.*=+$", re.M),  # pytest
    re.compile(r"^\d+ (?:failed|passed)(?:, \d+ \w+)* in [\d.]+s.*$", re.M),  # pytest -q
    re.compile(r"^Tests:\s+.*\d+ (?:passed|failed|total).*$", re.M),  # jest
    re.compile(r"^\s*Tests\s+.*\d+ (?:passed|failed).*$", re.M),  # vitest
    re.compile(r"^test result: .*$", re.M),  # cargo
    re.compile(r"^\d+ examples?, \d+ failures?.*$", re.M),  # rspec
    re.compile(r"^(?:FAILED|OK) ?\(.*\)$|^OK$", re.M),  # unittest
    re.compile(r"^Tests run: \d+, Failures: \d+.*$", re.M),  # JUnit
    re.compile(r"^\d+% tests passed, .*$", re.M),  # ctest
    re.compile(r"^Found \d+ errors?.*$|^Success: no issues found.*$", re.M),  # mypy, ruff
    re.compile(r"^(?:All checks passed!|.*\d+ problems? \(\d+ errors?.*)$", re.M),  # ruff, eslint
    re.compile(r"^\d+ issues?[.:].*$", re.M),  # golangci-lint
)
_FAILING_NAMES = (
    re.compile(r"^(?:FAILED|ERROR) (\S+(?:::\S+)*)", re.M),  # pytest
    re.compile(r"^\s*--- FAIL: (\S+)", re.M),  # go
    re.compile(r"^test (\S+) \.\.\. FAILED", re.M),  # cargo
    re.compile(r"^\s*[✕✗×] (.+?)(?: \(\d+ ?m?s\))?$", re.M),  # jest, vitest
    re.compile(r"^(?:FAIL|ERROR): (\S+ \([\w.]+\)|\S+)", re.M),  # unittest
    re.compile(r"^rspec (\S+:\d+)", re.M),  # rspec
    re.compile(r"^\s*\d+\) (.+)$(?=\n\s+(?:Assertion|Error|Failure))", re.M),  # mocha
    re.compile(r"^not ok \d+ -? ?(.+)$", re.M),  # TAP
    re.compile(r"^\[ERROR\]\s+(\w[\w.]+:\d+)", re.M),  # maven
)
_GO_PACKAGE_FAILED = re.compile(r"^FAIL\t(\S+)", re.M)
_FAILURE = re.compile(
    r"^FAIL\b|^FAILED\b|--- FAIL|\b[1-9]\d* (?:failed|failures?|errors?)\b|test result: FAILED"
    r"|^error(?:\[\w+\])?:|^ERROR\b|Error: Process completed|\*\*\* \[|^npm ERR!|BUILD FAILED"
    r"|Traceback \(most recent|^\S+:\d+:\d+: error|: error TS\d+|^panic:|exit (?:code|status) [1-9]"
    r"|compilation failed|build failed|tests? failed|\[ERROR\]|\b[1-9]\d* issues:",
    re.M,
)
_SUCCESS = re.compile(
    r"^ok\s+\S+|^PASS\b|^OK\b|\b[1-9]\d* (?:passed|passing)\b|test result: ok|^All checks passed"
    r"|no issues found|\b0 (?:failed|failures|errors|issues)\b|BUILD SUCCESS|[Bb]uild succeeded"
    r"|[Cc]ompiled successfully|100% tests passed|, 0 failures",
    re.M,
)
HEAD, TAIL = 6000, 14000  # how much output is read: compile errors lead, summaries close


class Check(NamedTuple):
    """A command that gives a verdict: its subject, and the tool and target it names."""

    of: str  # "test" | "lint" | "build"
    deed: str  # the simple command
    runner: str  # the words that say which check this is, e.g. "go test", "npm run lint"
    target: tuple[str, ...]  # the other words, options left out: what it is run on


class Verdict(NamedTuple):
    result: str
    summary: str  # the line in which the tool itself says it
    failing: tuple[str, ...]


@lru_cache(maxsize=1024)
def check_of(command: str) -> Check | None:
    """The last check in a command line, tests before linters before builds."""
    found: Check | None = None
    order = {"test": 2, "lint": 1, "build": 0}
    for deed in deeds(command):
        of = _of(deed)
        if of and (found is None or order[of] >= order[found.of]):
            runner, target = _runner(deed)
            found = Check(of, deed, runner, target)
    return found


def _of(deed: str) -> str:
    words = deed.split()
    if words[0].rsplit("/", 1)[-1] in _NOT_RUNNING:
        return ""
    # The check is named early: a path that happens to contain "test" further on is not it.
    start = " ".join(words[:4])
    if _TEST.search(start):
        return "test"
    if _LINT.search(start):
        return "lint"
    return "build" if _BUILD.search(start) else ""


def _runner(deed: str) -> tuple[str, tuple[str, ...]]:
    words = deed.split()
    named: list[str] = []
    rest: list[str] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
            continue
        if word.startswith("-"):
            skip = word in ("-run", "-k", "-t", "-p", "-m", "-count", "-timeout", "--filter", "-o")
            if word in ("-run", "-k", "-t", "--filter") and index + 1 < len(words):
                rest.append(f"{word} {words[index + 1]}")
            elif word == "-m" and index + 1 < len(words):
                named.append(words[index + 1])
            elif word.startswith(("-run=", "-k=", "--filter=", "--grep=")):
                rest.append(word)
            continue
        if len(named) < 3 and not rest and _is_plain(word):
            named.append(word.rsplit("/", 1)[-1] if index == 0 else word)
        else:
            rest.append(word)
    return " ".join(named), tuple(rest)


def _is_plain(word: str) -> bool:
    return (
        "/" not in word.strip("./") and "." not in word.strip("./") and word not in (".", "./...")
    )


def covers(passed: Check, failed: Check) -> bool:
    """Whether a pass of one check shows that the failure of the other is gone."""
    if passed.runner != failed.runner or passed.of != failed.of:
        return False
    wide = {"", ".", "./..."}
    if not [word for word in passed.target if word not in wide]:
        return True
    return all(
        any(_within(target, wider) for wider in passed.target) for target in failed.target
    ) and bool(failed.target)


def _within(target: str, wider: str) -> bool:
    if target == wider:
        return True
    stem = wider.removesuffix("...").rstrip("/")
    return not wider.startswith("-") and target.removesuffix("/...").startswith(stem + "/")


@lru_cache(maxsize=8)  # several kinds of facts ask about the same run
def read_verdict(output: str, ok: bool) -> Verdict:
    """The verdict that the output itself states; the exit code decides where it states none."""
    text = output if len(output) <= HEAD + TAIL else f"{output[:HEAD]}\n{output[-TAIL:]}"
    failing: list[str] = []
    for pattern in _FAILING_NAMES:
        failing += [name.strip() for name in pattern.findall(text)]
    if not failing:
        failing = _GO_PACKAGE_FAILED.findall(text)
    summary = ""
    for pattern in _SUMMARIES:
        for found in pattern.finditer(text):
            summary = found.group().strip(" =")
    failed = bool(failing) or not ok or _FAILURE.search(text) is not None
    if failed and ok and not failing and _SUCCESS.search(summary) and not _FAILURE.search(summary):
        failed = False  # the tool's own closing line says that it passed
    if failed:
        result = FAILED
    elif ok and (summary or _SUCCESS.search(text) or text.strip()):
        result = PASSED
    else:
        result = PASSED if ok else UNKNOWN
    return Verdict(result, summary[:200], tuple(dict.fromkeys(failing))[:20])
