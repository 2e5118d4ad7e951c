"""Where a project's own tools keep their commands and the list of active ones, found by looking.

No product's paths are settings: a folder or file counts because it is there and is marked as what
it is (`COMPACT_SUMMARY_START` in a command's file, `active_commands` in a list). The look is
bounded, and stays inside of the project.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.files import is_file, list_names

MAX_DIRS = 40  # folders looked into on each level
STATE_FILE = "session-state.json"
_NOT_TOOLS = frozenset((".git", ".claude", ".holdfast", ".venv", ".cache", ".tox"))


def find_command_dirs(project: str) -> Iterator[str]:
    """Sources in a package before what is installed in a tool's own folder."""
    for package in _list_subdirs(project, "packages"):
        yield f"{package}/commands"
        yield f"{package}/src/commands"
        yield from (f"{folder}/commands" for folder in _list_subdirs(project, f"{package}/src"))
    for name in _list_tool_dirs(project):
        yield f"{name}/commands"


def find_state_files(project: str) -> Iterator[str]:
    """Files that may list active commands; their content decides."""
    for folder in (".claude", *_list_subdirs(project, "docs"), *_list_tool_dirs(project), ""):
        path = f"{folder}/{STATE_FILE}".lstrip("/")
        if is_file(f"{project}/{path}", within=project):
            yield path


def _list_tool_dirs(project: str) -> list[str]:
    hidden = sorted(name for name in list_names(project) if name.startswith("."))
    return [name for name in hidden if name not in _NOT_TOOLS and "." not in name[1:]][:MAX_DIRS]


def _list_subdirs(project: str, folder: str) -> list[str]:
    """Folders by name, as paths of the project; files among them lead nowhere."""
    found = sorted(list_names(f"{project}/{folder}", within=project))
    return [f"{folder}/{name}" for name in found if "." not in name][:MAX_DIRS]
