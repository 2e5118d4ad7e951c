"""The compact instructions of a project: the template fitted to it, and its own words.

Given to every compaction, and put into CLAUDE.md on request (`holdfast dev instructions`). Looks at
the names of a few files at the project's root; must not run anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from holdfast.files import File, read, stat
from holdfast.session.context import SessionContext, list_project_dirs
from holdfast.session.update import redact_text
from holdfast.settings.loader import PROJECT_DIR_NAME
from holdfast.text import quote_block

CUSTOM_OPENING = (
    "The project adds, in its .holdfast/compact.md (lines that start with a bar quote that file):"
)
CUSTOM_FILE = "compact.md"
MAX_CUSTOM_CHARS = 3_000
# The client cuts a hook's instructions at 10,000 characters.
MAX_INSTRUCTIONS_CHARS = 9_500
MAX_FILE_BYTES = 256 * 1024

_CHECK_COMMANDS = (
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("pyproject.toml", "pytest"),
    ("pytest.ini", "pytest"),
    ("tox.ini", "tox"),
    ("pom.xml", "mvn test"),
    ("build.gradle", "gradle test"),
    ("Gemfile", "bundle exec rake"),
    ("composer.json", "composer test"),
)
_TARGETS = ("test", "tests", "check", "lint")
_SCRIPTS = ("test", "lint", "typecheck", "build")
_READABLE = ("CLAUDE.md", "AGENTS.md", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs")


def build_project_instructions(cwd: str) -> str:
    """Template and the project's own words, as they stand in CLAUDE.md."""
    folder = (list_project_dirs(cwd) or [""])[0]
    text = _format_template(
        list(dict.fromkeys(_list_check_commands(folder))), _list_readable_docs(folder)
    )
    own = read_custom_instructions(cwd)
    return f"{text}\n{own}" if own else text


def read_custom_instructions(cwd: str) -> str:
    """`.holdfast/compact.md` of the worktree, else of the project, as the text of that file."""
    for folder in list_project_dirs(cwd):
        path = f"{folder}/{PROJECT_DIR_NAME}/{CUSTOM_FILE}"
        raw = read(path, within=folder, most=4 * MAX_CUSTOM_CHARS)
        if raw and raw.strip():
            text = raw.decode("utf-8", "replace").strip()
            return f"{CUSTOM_OPENING}\n{quote_block(redact_text(text[:MAX_CUSTOM_CHARS]))}"[
                :MAX_CUSTOM_CHARS
            ]
    return ""


def append_instructions(ctx: SessionContext, facts: str) -> str:
    """For the summariser: the facts first; nothing where nothing is known and nothing is asked."""
    if not ctx.config.settings.flag("instructions"):
        return facts
    if not facts and not read_custom_instructions(ctx.session.cwd):
        return ""
    text = build_project_instructions(ctx.session.cwd)
    whole = f"{facts}\n\n{text}" if facts else text
    return (
        whole
        if len(whole) <= MAX_INSTRUCTIONS_CHARS
        else whole[:MAX_INSTRUCTIONS_CHARS].rpartition("\n")[0]
    )


def _list_check_commands(folder: str) -> Iterator[str]:
    lines = File(f"{folder}/Makefile", folder).text(MAX_FILE_BYTES).split("\n")
    for target in _TARGETS:
        if any(line.startswith(f"{target}:") for line in lines):
            yield f"make {target}"
    for script in _SCRIPTS:
        if script in _scripts(folder):
            yield f"npm run {script}" if script != "test" else "npm test"
    yield from (
        command for name, command in _CHECK_COMMANDS if stat(f"{folder}/{name}", within=folder)
    )


def _scripts(folder: str) -> set[str]:
    raw = read(f"{folder}/package.json", within=folder, most=MAX_FILE_BYTES)
    try:
        document = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        return set()
    scripts = document.get("scripts") if isinstance(document, dict) else None
    return set(scripts) if isinstance(scripts, dict) else set()


def _list_readable_docs(folder: str) -> list[str]:
    return [name for name in _READABLE if stat(f"{folder}/{name}", within=folder)]


# What a summary of a session should hold.

TEMPLATE_OPENING = "When this conversation is compacted, the summary holds, in this order:"
MAX_CHECKS, MAX_PATHS = 4, 5


def _format_template(checks: Sequence[str] = (), on_disk: Sequence[str] = ()) -> str:
    """`checks`: the commands that tell good from bad; `on_disk`: what can be read again."""
    commands = ", ".join(f"`{command}`" for command in checks[:MAX_CHECKS])
    verdicts = f" ({commands} and the like)" if commands else ""
    readable = ", ".join(on_disk[:MAX_PATHS])
    files = f" ({readable} are on disk)" if readable else ""
    # One paragraph: the client shows a user who asks for a compaction what the summariser is told.
    return (
        f"{TEMPLATE_OPENING} standing rules,"
        " corrections and the last request, word for word; the next step, and questions that wait"
        " for the user; tasks by their standing; changed files, and what is not committed; checks"
        f" and their verdicts{verdicts}; decisions with reasons, and attempts that failed; exact"
        " values (ports, URLs, ids, versions); jobs that run."
        f" It leaves out what can be read again{files}, long tool output and finished detours."
    )
