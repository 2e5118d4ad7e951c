"""Checks: commands whose purpose is a verdict (tests, linters, type checkers, builds).

Recognises them, reads what each is run on, and tells when the pass of one shows that the
failure of another is gone. What they printed is read in `verdicts`.
"""

import re
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from holdfast.lazy_regex import lazy_compile
from holdfast.state.shell import effective_commands, split_commands
from holdfast.state.verdicts import (
    FAILED,
    PASSED,
    UNKNOWN,
    Verdict,
    did_not_run,
    lines_with,
    names_tests,
    read_verdict,
)

__all__ = [
    "FAILED",
    "PASSED",
    "UNKNOWN",
    "Check",
    "CheckRun",
    "covers",
    "find_check",
    "list_checks",
    "read_check_run",
]

# What a check is of: only "test" feeds the test state; all of them open and resolve errors.
_TEST = lazy_compile(
    r"(?:^|[\s/:_.-])(?:pytest|py\.test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava"
    r"|karma|rspec|minitest|phpunit|pest|ctest|gotestsum|nextest|playwright test|cypress run"
    r"|busted|bats|prove|tests?|specs?|test-\w+|test:[\w:-]+)(?=$|[\s:])",
    re.I,
)
_LINT = lazy_compile(
    r"(?:^|[\s/:])(?:lint\w*|ruff|flake8|pylint|eslint|tslint|stylelint|prettier --check"
    r"|black --check|gofmt -l|go vet|golangci-lint|staticcheck|clippy|rubocop|shellcheck|mypy"
    r"|pyright|tsc|typecheck|type-check|check|biome|oxlint|hadolint|vet)(?=$|[\s:])",
    re.I,
)
_BUILD = lazy_compile(
    r"(?:^|[\s/:])(?:build|compile|make|cmake|ninja|bazel|gcc|g\+\+|clang|rustc|javac|webpack|vite"
    r"|rollup|esbuild|gradle|gradlew|mvn|msbuild|assemble)(?=$|[\s:])",
    re.I,
)
# Heads that mention a check without running it.
_NOT_RUNNING = frozenset(
    ("git", "gh", "rm", "mv", "cp", "mkdir", "touch", "kill", "pkill", "chmod", "pip", "apt-get",
     "apt", "brew", "curl", "wget", "docker", "ssh", "scp", "code", "open", "openspec", "export",
     "source")
)  # fmt: skip

# Tools whose next word says which of their checks is meant; of any other check, the words
# behind its name say what it is run on.
_WITH_SUBCOMMAND = frozenset(
    """ruff golangci-lint make cmake ninja bazel gradle gradlew mvn just task rake nx turbo tox nox
    biome nextest""".split()
)
# Tools that run other tools and print which.
_TASK_RUNNERS = frozenset(
    "mise npm pnpm yarn bun make just task rake tox nox nx turbo poe hatch pdm composer".split()
)
_ECHO = lazy_compile(r"^(?:\[[\w:./-]+\] )?[$>] (\S.{2,400})$", re.M)
_ECHO_CUES = ("$ ", "> ")
MAX_ECHOES = 8

# Options that pick some of the tests, options that bring more of them in, and others whose
# value is the next word.
_FILTERS = ("-run", "-k", "-t", "--filter", "--grep", "-g", "--testNamePattern")
_CONDITIONS = ("-tags", "--tags", "--features", "--target", "--env")
_VALUED = frozenset(
    """-p -count -timeout --timeout -o -n -j -c -C --config --maxfail --reporter --rootdir -l
    --parallel -cpu --workers --project --prefix --cwd --tb -w --workspace""".split()
)
_WORDS = lazy_compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
# The same tool, however it is started.
_LAUNCHER = lazy_compile(
    r"^(?:(?:uv|poetry|pipenv|pdm|hatch|rye) run |(?:bundle|pnpm|yarn|npm) exec |npx |pnpx |bunx )*"
    r"(?:python[\d.]* (?=[\w-]+(?: |$)))?"
)
_SCRIPT = lazy_compile(r"\.(?:py|sh|js|ts|mjs|rb|php|pl)$")


class Check(NamedTuple):
    """A command that gives a verdict: its subject, and the tool and target it names."""

    kind: str  # "test" | "lint" | "build"
    command: str  # the simple command
    runner: str  # the words that say which check this is, e.g. "go test"; "" where only shown
    target: tuple[str, ...]  # the other words, options left out: what it is run on


class CheckRun(NamedTuple):
    """One command line with checks in it, and what it showed."""

    check: Check  # the one that the verdict is about
    verdict: Verdict
    also: tuple[Check, ...]  # what a task runner said that it ran for this check
    passed: tuple[Check, ...]  # everything that is now known to pass


def list_checks(command: str) -> dict[str, str]:
    """What each simple command of a line checks, of those that do."""
    return {check.command: check.kind for check, _ in _checks(command)}


def find_check(command: str) -> Check | None:
    """The last check in a command line, tests before linters before builds."""
    found: Check | None = None
    for check, _ in _checks(command):
        if found is None or _ORDER[check.kind] >= _ORDER[found.kind]:
            found = check
    return found


# Of one command line; each is compared with every open error.
MAX_CHECKS = 40
_ORDER = {"test": 2, "lint": 1, "build": 0}


def read_check_run(command: str, output: str, ok: bool) -> CheckRun | None:
    """The checks of a command line with their verdict; None when it is none, or did not run."""
    # Asked first: to remember an answer by a long output takes longer than this.
    if _checks(command):
        return _run_of(command, output, ok)
    return None if ok or effective_commands(command) else _printed(command, output)


def _printed(command: str, output: str) -> CheckRun | None:
    """A run that a failing command only shows, such as `cat build.log; exit 1`."""
    verdict = read_verdict(output, False, "test")
    if not verdict.failing:
        return None
    return CheckRun(Check("test", " ".join(command.split()), "", ()), verdict, (), ())


@lru_cache(maxsize=8)  # several kinds of facts ask about the same run
def _run_of(command: str, output: str, ok: bool) -> CheckRun | None:
    checks = _checks(command)
    main = find_check(command)
    if main is None or did_not_run(output, ok):
        return None
    if not output.strip():
        piped = next((filters for check, filters in checks if check == main), ())
        if any(word in ("grep", "rg", "egrep") for word in piped):
            # A filter found nothing to show, and its exit code is not the check's.
            return CheckRun(main, Verdict(UNKNOWN, "", ()), (), ())
    chained = [check for check, _ in checks] if _chained(command) else [main]
    verdict = read_verdict(output, ok, main.kind)
    if verdict.result != PASSED and len(chained) > 1:
        main, verdict = _culprit(chained, main, verdict, output, ok)
    also = _echoed(main, output)
    if verdict.result == PASSED:
        echoes = (also if check == main else _echoed(check, output) for check in chained)
        passed = (*chained, *chain.from_iterable(echoes))
    else:
        # In a chain that stopped, what stands before the one that failed has passed.
        passed = tuple(chained[: chained.index(main)]) if main in chained else ()
    return CheckRun(main, verdict, also, tuple(dict.fromkeys(passed)))


def _culprit(
    chained: list[Check], main: Check, verdict: Verdict, output: str, ok: bool
) -> tuple[Check, Verdict]:
    """Which check of a chain failed: the tests if they say that they ran, else what came first."""
    if main.kind == "test" and not names_tests(output):
        main = chained[0]
        for check in chained:
            if check.kind != "test":
                main = check
        return main, read_verdict(output, ok, main.kind)
    return main, verdict


@lru_cache(maxsize=1024)
def _checks(command: str) -> tuple[tuple[Check, tuple[str, ...]], ...]:
    """Each check in order, with the heads of the filters that its output goes through."""
    found: list[tuple[Check, list[str]]] = []
    in_check = False
    for separator, plain, looks in split_commands(command):
        if separator == "|":
            if in_check and plain:
                found[-1][1].append(plain.split()[0].rsplit("/", 1)[-1])
            continue
        in_check = False
        of = "" if looks else _of(plain)
        if of:
            found.append((Check(of, plain, *_runner(plain)), []))
            in_check = True
            if len(found) == MAX_CHECKS:
                break
    return tuple((check, tuple(filters)) for check, filters in found)


def _chained(command: str) -> bool:
    """Whether success of the line means success of every part of it."""
    return all(part.separator in ("", "&&", "|") for part in split_commands(command))


def _echoed(check: Check, output: str) -> tuple[Check, ...]:
    """What a task runner said that it ran, as far as those are checks of the same kind."""
    if check.runner.split(" ", 1)[0] not in _TASK_RUNNERS:
        return ()
    return tuple(echoed for echoed in _echoes(output) if echoed.kind == check.kind)


@lru_cache(maxsize=1)  # asked for each check of a chain
def _echoes(output: str) -> tuple[Check, ...]:
    text = output if len(output) <= 8000 else f"{output[:5000]}\n{output[-3000:]}"
    found = map(find_check, _ECHO.findall(lines_with(_ECHO_CUES, text))[:MAX_ECHOES])
    return tuple(echoed for echoed in found if echoed is not None)


def _of(deed: str) -> str:
    words = deed.split(None, 4)
    if not words or words[0].rsplit("/", 1)[-1] in _NOT_RUNNING:
        return ""
    # The check is named early: a path that happens to contain "test" further on is not it.
    return _named(" ".join(words[:4]))


@lru_cache(maxsize=512)  # commands that begin alike are run again and again
def _named(start: str) -> str:
    if _TEST.search(start):
        return "test"
    if _LINT.search(start):
        return "lint"
    return "build" if _BUILD.search(start) else ""


@lru_cache(maxsize=256)  # the same check stands in many lines
def _runner(deed: str) -> tuple[str, tuple[str, ...]]:
    """The words that name the check, and what it is run on: places, filters, conditions."""
    words = [word.replace('"', "").replace("'", "") for word in _WORDS.findall(deed)]
    head = words[0].rsplit("/", 1)[-1] if words else ""
    named: list[str] = []
    rest: list[str] = []
    complete = False
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
            continue
        following = words[index + 1] if index + 1 < len(words) else ""
        if word.startswith("-") and index:
            if word == "-m" and head.startswith("python"):
                named.append(following)
                skip = complete = True
            elif word in _FILTERS or word in _CONDITIONS:
                rest.append(f"{word}={following}")
                skip = True
            elif word.partition("=")[0] in (*_FILTERS, *_CONDITIONS):
                rest.append(word)
            elif word == "-p" and head == "cargo":
                rest.append(f"crate:{following}")
                skip = True
            else:
                skip = word in _VALUED
            if named[-1] not in _WITH_SUBCOMMAND:
                complete = complete or bool(_of(" ".join(words[: index + 1])))
        elif not index or (not complete and len(named) < 4 and _names(word)):
            named.append(word.rsplit("/", 1)[-1])
            # "ruff" alone is not yet a check: the word behind it says which.
            complete = named[-1] not in _WITH_SUBCOMMAND and bool(_of(" ".join(words[: index + 1])))
        elif not word.isdecimal():
            complete = True
            rest.append(word)
    return _LAUNCHER.sub("", " ".join(named)), tuple(rest)


def _names(word: str) -> bool:
    """A subcommand or a script, not a place."""
    return _SCRIPT.search(word) is not None or not any(mark in word for mark in "/.~$")


_WIDE = frozenset(("", ".", "./", "..", "./...", "...", "all"))


def covers(passed: Check, failed: Check, failing: tuple[str, ...] = ()) -> bool:
    """Whether a pass of one check shows that the failure of the other is gone.

    The same check, run on as much or more; `failing` are the names that failed, so that a
    pass of just those counts too.
    """
    if passed.kind != failed.kind or failed.runner not in ("", passed.runner):
        return False
    if not passed.runner:
        return False  # only shown: nobody knows what it was run on
    ran_on, narrowed, widened = _parts(passed.target)
    if not failed.runner:  # only shown, of a run that was not seen: its names must have run
        everything = not narrowed and not ran_on - _WIDE
        named = failing and all(any(_within(name, p) for p in ran_on) for name in failing)
        return everything or bool(named and not narrowed)
    failed_on, failed_narrowed, needed = _parts(failed.target)
    if not needed <= widened:
        return False  # integration tests that need a tag do not run without it
    if narrowed and narrowed != failed_narrowed and not _selects(narrowed, failing):
        return False
    if not ran_on - _WIDE:
        return True
    return bool(failed_on) and all(any(_within(f, p) for p in ran_on) for f in failed_on)


def _parts(target: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    options = [word for word in target if word.startswith("-")]
    conditions = frozenset(w for w in options if w.partition("=")[0] in _CONDITIONS)
    places = frozenset(target) - frozenset(options)
    return places, frozenset(options) - conditions, conditions


def _selects(filters: frozenset[str], names: tuple[str, ...]) -> bool:
    """Whether these filters pick every one of the names.

    Read as alternatives of words with gaps ("A|B.*c"), which is how agents write them; no
    regular expression from a transcript is ever run.
    """
    alternatives = [
        [part for part in one.strip("^$()/ ").split(".*") if part]
        for filter_ in filters
        for one in re.split(r"\||\bor\b", filter_.partition("=")[2])
    ]
    return bool(names) and all(
        any(pieces and _in_order(pieces, name) for pieces in alternatives) for name in names
    )


def _in_order(pieces: list[str], name: str) -> bool:
    at = 0
    for piece in pieces:
        at = name.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _within(target: str, wider: str) -> bool:
    if target == wider or wider in _WIDE:
        return True
    if wider.endswith("…"):  # a task runner cut its own line
        return target.startswith(wider[:-1])
    stem = wider.removesuffix("...").rstrip("/")
    narrow = target.removesuffix("...").rstrip("/").removesuffix("…")
    return narrow == stem or narrow.startswith((stem + "/", stem + "::"))
