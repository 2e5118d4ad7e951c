"""Where a project's own tools keep their commands and the list of active ones, found by looking.

No product's paths are settings: a folder or file counts because it is there and is marked as what
it is (`COMPACT_SUMMARY_START` in a command's file, `active_commands` in a list). The look is
bounded, and stays inside of the project.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.files import is_file, names

MOST = 40  # folders looked into on each level
STATE_FILE = "session-state.json"
_NOT_TOOLS = frozenset((".git", ".claude", ".holdfast", ".venv", ".cache", ".tox"))


def command_folders(project: str) -> Iterator[str]:
    """Sources in a package before what is installed in a tool's own folder."""
    for package in _below(project, "packages"):
        yield f"{package}/commands"
        yield f"{package}/src/commands"
        yield from (f"{folder}/commands" for folder in _below(project, f"{package}/src"))
    for name in _tool_folders(project):
        yield f"{name}/commands"


def state_files(project: str) -> Iterator[str]:
    """Files that may list active commands; their content decides."""
    for folder in (".claude", *_below(project, "docs"), *_tool_folders(project), ""):
        path = f"{folder}/{STATE_FILE}".lstrip("/")
        if is_file(f"{project}/{path}", within=project):
            yield path


def _tool_folders(project: str) -> list[str]:
    hidden = sorted(name for name in names(project) if name.startswith("."))
    return [name for name in hidden if name not in _NOT_TOOLS and "." not in name[1:]][:MOST]


def _below(project: str, folder: str) -> list[str]:
    """Folders by name, as paths of the project; files among them lead nowhere."""
    found = sorted(names(f"{project}/{folder}", within=project))
    return [f"{folder}/{name}" for name in found if "." not in name][:MOST]
