"""The compact instructions of a project: the template fitted to it, and its own words.

Given to every compaction, and put into CLAUDE.md on request (`holdfast instructions`). Looks at
the names of a few files at the project's root; must not run anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from holdfast.brief.compact_instructions import compact_instructions
from holdfast.files import File, read, stat
from holdfast.lifecycle.keep import Scene, clean
from holdfast.lifecycle.terms import project_folders
from holdfast.quoting import behind_bars
from holdfast.settings.reading import PROJECT_FOLDER

OPENING = (
    "The project adds, in its .holdfast/compact.md (the text of that file stands behind bars):"
)
OWN = "compact.md"
LONGEST_OWN = 3_000
# The client cuts a hook's instructions at 10,000 characters.
MOST = 9_500
LARGEST = 256 * 1024

_MARKS = (
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


def project_instructions(cwd: str) -> str:
    """Template and the project's own words, as they stand in CLAUDE.md."""
    folder = (project_folders(cwd) or [""])[0]
    text = compact_instructions(list(dict.fromkeys(_checks(folder))), _readable(folder))
    own = own_words(cwd)
    return f"{text}\n{own}" if own else text


def own_words(cwd: str) -> str:
    """`.holdfast/compact.md` of the worktree, else of the project, as the text of that file."""
    for folder in project_folders(cwd):
        path = f"{folder}/{PROJECT_FOLDER}/{OWN}"
        raw = read(path, within=folder, most=4 * LONGEST_OWN)
        if raw and raw.strip():
            text = raw.decode("utf-8", "replace").strip()
            return f"{OPENING}\n{behind_bars(clean(text[:LONGEST_OWN]))}"[:LONGEST_OWN]
    return ""


def joined(facts: str, scene: Scene) -> str:
    """For the summariser: the facts first; nothing where nothing is known and nothing is asked."""
    if not scene.terms.settings.flag("instructions"):
        return facts
    if not facts and not own_words(scene.cwd):
        return ""
    text = project_instructions(scene.cwd)
    whole = f"{facts}\n\n{text}" if facts else text
    return whole if len(whole) <= MOST else whole[:MOST].rpartition("\n")[0]


def _checks(folder: str) -> Iterator[str]:
    lines = File(f"{folder}/Makefile", folder).text(LARGEST).split("\n")
    for target in _TARGETS:
        if any(line.startswith(f"{target}:") for line in lines):
            yield f"make {target}"
    for script in _SCRIPTS:
        if script in _scripts(folder):
            yield f"npm run {script}" if script != "test" else "npm test"
    yield from (command for name, command in _MARKS if stat(f"{folder}/{name}", within=folder))


def _scripts(folder: str) -> set[str]:
    raw = read(f"{folder}/package.json", within=folder, most=LARGEST)
    try:
        document = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        return set()
    scripts = document.get("scripts") if isinstance(document, dict) else None
    return set(scripts) if isinstance(scripts, dict) else set()


def _readable(folder: str) -> list[str]:
    return [name for name in _READABLE if stat(f"{folder}/{name}", within=folder)]
