"""Checks: commands whose purpose is a verdict (tests, linters, type checkers, builds).

Recognises them, reads what each is run on, and tells when the pass of one shows that the
failure of another is gone. What they printed is read in `verdicts`.
"""

import re
from functools import lru_cache

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.shell import inner_line, split_commands

# What a check is of: only "test" feeds the test state; all of them open and resolve errors.
# Programs that are a check by themselves, and those that are one by their next words.
_PROGRAMS = {
    "test": frozenset(
        """pytest py.test unittest nosetests tox nox jest vitest mocha ava karma rspec minitest
        phpunit pest ctest gotestsum busted bats prove tap""".split()
    ),
    "lint": frozenset(
        """ruff flake8 pylint eslint tslint stylelint golangci-lint staticcheck rubocop shellcheck
        mypy pyright tsc vue-tsc biome oxlint hadolint clippy pre-commit""".split()
    ),
    "build": frozenset(
        """make cmake ninja bazel gcc g++ cc clang clang++ rustc javac webpack vite rollup esbuild
        gradle gradlew mvn mvnw msbuild tsup""".split()
    ),
}
_BY_NEXT_WORD = frozenset(
    """go cargo dotnet swift mix flutter dart deno bun node npm pnpm yarn npx next playwright
    cypress rails rake make just task mise poe hatch pdm composer artisan manage.py
    gradle gradlew mvn mvnw
    phpstan xcodebuild zig bazel sbt stack cabal nx turbo lerna prettier black gofmt cmake lein
    invoke moon terraform tofu helm""".split()
)
_WORDS_OF = (
    ("test", lazy_compile(r"(?:^|[:_./-])(?:tests?|specs?|nextest|e2e)(?=$|[:_./-])|^--test$|^t$")),
    ("lint", lazy_compile(
        r"(?:^|[:_./-])(?:lint\w*|vet|analy[sz]e|clippy|type-?check|check|validate|tsc"
        r"|fmt:check)(?=$|[:_./-])"
        r"|^--check$|^-l$")),
    ("build", lazy_compile(r"(?:^|[:_./-])(?:build|compile|assemble)(?=$|[:_./-])")),
)  # fmt: skip
# Words behind which the subcommand stands, and subcommands that run no check.
_RUN = frozenset(("run", "run-script", "exec", "--", "x", "dlx"))
_NO_RUN = frozenset(
    """--version -V --help -h version help linters install add remove init create up down logs ps
    pull push --collect-only --co --list --listTests --fixtures --markers start dev""".split()
)
_INTERPRETERS = frozenset("sh bash zsh dash fish python python3 node ruby php perl".split())
# Heads whose output shows what others ran: their own is no check.
_NOT_RUNNING = frozenset(
    """git gh glab rm mv cp mkdir touch kill pkill chmod chown pip pip3 apt-get apt brew curl wget
    scp code open openspec ssh export source journalctl kubectl tee sed awk ln tar unzip
    rsync echo printf cat cd sleep""".split()
)

# Tools whose next word says which of their checks is meant; of any other check, the words
# behind its name say what it is run on.
_WITH_SUBCOMMAND = frozenset(
    """ruff golangci-lint make cmake ninja bazel gradle gradlew mvn just task rake nx turbo tox nox
    biome nextest""".split()
)
# Tools that run other tools and print which.
TASK_RUNNERS = frozenset(
    "mise npm pnpm yarn bun make just task rake tox nox nx turbo poe hatch pdm composer".split()
)

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
    r"^(?:(?:uv|poetry|pipenv|pdm|hatch|rye) run |(?:bundle|pnpm|yarn|npm) exec |pnpx |bunx "
    r"|npx (?:-y |--yes |--no-install )*)*(?:python[\d.]* (?=[\w-]+(?: |$)))?"
)
_SCRIPT = lazy_compile(r"\.(?:py|sh|js|ts|mjs|rb|php|pl)$")
# What a script that checks is called: `test.sh`, `run_tests.py`, `e2e-smoke`; `fetch_failing_tests`
# does something to tests.
_SCRIPT_VERBS = frozenset("run ci do all unit smoke integration full quick".split())


class Check(NamedTuple):
    """A command that gives a verdict: its subject, and the tool and target it names."""

    kind: str  # "test" | "lint" | "build"
    command: str  # the simple command
    runner: str  # the words that say which check this is, e.g. "go test"; "" where only shown
    target: tuple[str, ...]  # the other words, options left out: what it is run on


# Of one command line; each is compared with every open error.
MAX_CHECKS = 40
KIND_ORDER = {"test": 2, "lint": 1, "build": 0}


@lru_cache(maxsize=1024)
def list_checks(command: str) -> tuple[Check, ...]:
    """The checks of a command line in order; what its output is piped through is none."""
    found = []
    for part in split_commands(command):
        kind = "" if part.looks else _find_kind(part.plain)
        if kind:
            found.append(name_check(kind, part.typed, part.plain))
    return tuple(found[:MAX_CHECKS])


def find_check(command: str) -> Check | None:
    """The last check in a command line, tests before linters before builds."""
    checks = list_checks(command)
    return max(reversed(checks), key=lambda check: KIND_ORDER[check.kind], default=None)


def name_check(kind: str, typed: str, plain: str) -> Check:
    inner = find_check(inner_line(plain))
    runner, target = (inner.runner, inner.target) if inner else _find_runner(plain)
    return Check(kind, typed, runner, target)


def cannot_check(plain: str) -> bool:
    """Whether the output of a simple command shows what others ran, or what is no run at all."""
    return plain.split(None, 1)[0].rpartition("/")[2] in _NOT_RUNNING


def is_known_program(check: Check) -> bool:
    return bool(_find_program(check.runner.partition(" ")[0]))


@lru_cache(maxsize=512)  # commands that begin alike are run again and again
def _find_kind(plain: str) -> str:
    """What a simple command checks, by its program and the words next to it."""
    if inner := inner_line(plain):
        check = find_check(inner)
        return check.kind if check else ""
    words = _LAUNCHER.sub("", plain).split(None, 8)
    if "-m" in words[:2] and plain.partition(" -m ")[0].rpartition("/")[2].startswith("python"):
        words = words[words.index("-m") + 1 :]
    if not words or any(word in _NO_RUN for word in words[1:4]):
        return ""
    head = _base_name(words[0])
    if head in _NOT_RUNNING:
        return ""
    if head in _INTERPRETERS and len(words) > 1:
        if words[1].startswith("-") and head not in _BY_NEXT_WORD:
            return ""
        if not words[1].startswith("-"):
            words, head = words[1:], _base_name(words[1])
    if head in _BY_NEXT_WORD:
        return _find_kind_by_next_words(head, words[1:])
    return _find_program(head) or _find_script(words[0])


def _find_kind_by_next_words(head: str, words: list[str]) -> str:
    rest = [word for word in words if word not in _RUN]
    named = [word for word in rest[:3] if "=" not in word and not word.startswith(("/", "./"))]
    if head in ("zig", "next") and "test" in named:
        return "test"
    kinds = [_find_word(word) for word in named[: 3 if head in ("cmake", "mvn", "make") else 2]]
    # `make save` is no build; `make`, `make all` and `make lib/x.o` are.
    target = next((word for word in named if word[0] != "-"), "all")
    builds = head != "make" or target == "all" or not target.isalpha()
    return next((kind for kind in kinds if kind), _find_program(head) if builds else "")


def _base_name(word: str) -> str:
    return word.rpartition("/")[2]


def _find_program(word: str) -> str:
    name = _base_name(word)
    return next((kind for kind, names in _PROGRAMS.items() if name in names), "")


def _find_word(word: str) -> str:
    return next((kind for kind, pattern in _WORDS_OF if pattern.search(word)), "")


def _find_script(path: str) -> str:
    """What a script checks by its name; of another program's name nothing is known."""
    name = _base_name(path)
    if name == path and not _SCRIPT.search(name):
        return ""
    words = [word for word in re.split(r"[^a-z0-9]+", _SCRIPT.sub("", name.lower())) if word]
    kinds = [_find_word(word) for word in words]
    others = [word for word, kind in zip(words, kinds, strict=True) if not kind]
    if kinds[:1] == [""] and not _SCRIPT_VERBS.issuperset(others):
        return ""
    return next((kind for kind in kinds if kind), "")


@lru_cache(maxsize=256)  # the same check stands in many lines
def _find_runner(plain: str) -> tuple[str, tuple[str, ...]]:
    """The words that name the check, and what it is run on: places, filters, conditions."""
    words = [word.replace('"', "").replace("'", "") for word in _WORDS.findall(plain)]
    head = _base_name(words[0]) if words else ""
    named: list[str] = []
    target: list[str] = []
    complete = False
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
        until = at + 1
        if word.startswith("-") and at:
            kept, width = _read_option(word, following, head)
            if word == "-m" and head.startswith("python"):
                named.append(following)
                complete, width = True, 2
            target += kept
            if named[-1] not in _WITH_SUBCOMMAND:
                complete = complete or bool(_find_kind(" ".join(words[:until])))
            until = at + width
        # A subcommand or a script, not a place.
        elif not at or (
            not (complete or len(named) > 3)
            and (_SCRIPT.search(word) or not any(mark in word for mark in "/.~$"))
        ):
            named.append(_base_name(word))
            # "ruff" alone is not yet a check: the word behind it says which.
            complete = named[-1] not in _WITH_SUBCOMMAND and bool(
                _find_kind(" ".join(words[:until]))
            )
        elif not word.isdecimal():
            complete = True
            target.append(word)
        at = until
    return _LAUNCHER.sub("", " ".join(named)), tuple(target)


def _read_option(word: str, following: str, head: str) -> tuple[list[str], int]:
    """What an option says of what is run, and how many words it takes."""
    name, has_value, _ = word.partition("=")
    if name in _FILTERS or name in _CONDITIONS:
        return ([word], 1) if has_value else ([f"{word}={following}"], 2)
    if word == "-p" and head == "cargo":
        return [f"crate:{following}"], 2
    return [], 2 if word in _VALUED else 1


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
    ran_on, narrowed, widened = _sort_target(passed.target)
    if not failed.runner:  # only shown, of a run that was not seen: its names must have run
        everything = not narrowed and not ran_on - _WIDE
        named = failing and all(any(_is_within(name, p) for p in ran_on) for name in failing)
        return everything or bool(named and not narrowed)
    failed_on, failed_narrowed, needed = _sort_target(failed.target)
    if not needed <= widened:
        return False  # integration tests that need a tag do not run without it
    if narrowed and narrowed != failed_narrowed and not _picks_all(narrowed, failing):
        return False
    if not ran_on - _WIDE:
        return True
    return bool(failed_on) and all(any(_is_within(f, p) for p in ran_on) for f in failed_on)


def _sort_target(target: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    options = [word for word in target if word.startswith("-")]
    conditions = frozenset(w for w in options if w.partition("=")[0] in _CONDITIONS)
    places = frozenset(target) - frozenset(options)
    return places, frozenset(options) - conditions, conditions


def _picks_all(filters: frozenset[str], names: tuple[str, ...]) -> bool:
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


def _is_within(target: str, wider: str) -> bool:
    if target == wider or wider in _WIDE:
        return True
    if wider.endswith("…"):  # a task runner cut its own line
        return target.startswith(wider[:-1])
    stem = wider.removesuffix("...").rstrip("/")
    narrow = target.removesuffix("...").rstrip("/").removesuffix("…")
    return narrow == stem or narrow.startswith((stem + "/", stem + "::"))
