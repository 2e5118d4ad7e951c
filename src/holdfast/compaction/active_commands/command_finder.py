"""Finding the file of a command or skill, where the client would look for it.

First the configured folders, then those in which the project's own tools keep marked commands
(the development source of a command before its installed copy), then the project's commands and
skills, the user's, and those of plugins. Reads names and files; `command_file` parses
them.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from holdfast import clients
from holdfast.files import File, is_file, list_names
from holdfast.records import NamedTuple
from holdfast.session.context import EffectiveConfig, list_project_dirs

CommandFinder = Callable[[str], File | None]
MAX_FILE_BYTES = 512 * 1024
MAX_FILES = 2_000  # files that a walk through all of them looks at
# A project's folders are as many as its author likes; what each of them costs is bounded.
MAX_MARKED_DIRS = 100  # folders of a project's own tools in which names are looked for
MAX_SUBDIRS = 100  # folders below a place whose commands go by their bare names
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")


class SearchPath(NamedTuple):
    """A folder of command files; `skills` are folders with a SKILL.md each."""

    folder: str
    skills: bool = False
    plugin: str = ""  # commands of a plugin are named plugin:command
    within: str = ""  # the tree that it must stay in; "" for the user's own
    requires_marker: bool = (
        False  # only files that carry rules count: the client does not look here
    )


class _Listing(NamedTuple):
    """What is in a place: read once, however many names are looked for."""

    place: SearchPath
    names: frozenset[str]
    folders: dict[str, list[str]]  # the folders below that have a file of this name


def make_finder(cwd: str, config: EffectiveConfig) -> CommandFinder:
    """Finds the files of many names, looking for the places once."""
    looked_at: list[_Listing] = []
    known: dict[str, File | None] = {}

    def found(name: str) -> File | None:
        if name not in known:
            if not looked_at:
                looked_at.extend(_list_places(list_search_paths(cwd, config)))
            known[name] = _search_places(name, looked_at)
        return known[name]

    return found


def _search_places(name: str, looked_at: Sequence[_Listing]) -> File | None:
    parts = name.replace("/", ":").split(":")
    if not all(part and _PLAIN.issuperset(part) and part.strip(".") for part in parts):
        return None
    for listing in looked_at:
        place = listing.place
        for path in _list_candidates(listing, parts):
            file = File(path, place.within)
            if is_file(path, within=place.within) and (
                not place.requires_marker or _is_marked(file)
            ):
                return file
    return None


def _list_places(places: Sequence[SearchPath]) -> Iterator[_Listing]:
    """The places that hold anything, with what they hold."""
    marked = 0
    for place in places:
        names = list_names(place.folder, within=place.within)
        marked += bool(names) and place.requires_marker
        if not names or (place.requires_marker and marked > MAX_MARKED_DIRS):
            continue
        folders: dict[str, list[str]] = {}
        if not place.skills:
            below = sorted(name for name in names if not name.endswith(".md"))
            for folder in below[:MAX_SUBDIRS]:
                for name in list_names(f"{place.folder}/{folder}", within=place.within):
                    folders.setdefault(name, []).append(folder)
        yield _Listing(place, frozenset(names), folders)


def _is_marked(file: File) -> bool:
    text = file.read(MAX_FILE_BYTES) or b""
    return b"COMPACT_SUMMARY_START" in text or b"compact_context" in text


def list_search_paths(cwd: str, config: EffectiveConfig) -> list[SearchPath]:
    folders = list(
        dict.fromkeys(f for f in (cwd, config.client_project_dir, *list_project_dirs(cwd)) if f)
    )
    found = list(_configured_paths(folders, config))
    for folder in folders:
        found += [
            SearchPath(f"{folder}/{name}", within=folder, requires_marker=True)
            for name in find_command_dirs(folder)
        ]
    for folder in folders:
        found += [
            SearchPath(f"{folder}/.claude/commands", within=folder),
            SearchPath(f"{folder}/.claude/skills", True, within=folder),
        ]
    if config.client_config_dir:
        base = config.client_config_dir
        found += [SearchPath(f"{base}/commands"), SearchPath(f"{base}/skills", True)]
        for name, folder in clients.default().paths.list_plugins(base):
            plugin, folder = name.partition("@")[0], folder.rstrip("/")
            found += [
                SearchPath(f"{folder}/commands", plugin=plugin),
                SearchPath(f"{folder}/skills", True, plugin),
            ]
    return list(dict.fromkeys(found))


def list_command_files(cwd: str, config: EffectiveConfig) -> Iterator[File]:
    """Every command and skill file in those places, each once."""
    seen: set[str] = set()
    for place in list_search_paths(cwd, config):
        if place.within and not list_names(place.folder, within=place.within):
            continue  # a link would be walked to wherever it leads
        for folder, below, files in os.walk(place.folder):
            below.sort()
            for name in sorted(files):
                wanted = name == "SKILL.md" if place.skills else name.endswith(".md")
                path = os.path.join(folder, name)
                file = File(path, place.within)
                if not wanted or path in seen or not is_file(path, within=place.within):
                    continue
                if len(seen) < MAX_FILES and (not place.requires_marker or _is_marked(file)):
                    seen.add(path)
                    yield file


def _configured_paths(folders: Sequence[str], config: EffectiveConfig) -> Iterator[SearchPath]:
    for wanted in config.settings.words("command_paths"):
        if wanted.startswith(("/", "~")):
            yield SearchPath(os.path.expanduser(wanted).rstrip("/"))
        elif ".." not in wanted.split("/"):
            below = os.path.normpath(wanted)
            yield from (SearchPath(f"{folder}/{below}", within=folder) for folder in folders)


def _list_candidates(listing: _Listing, parts: list[str]) -> Iterator[str]:
    """Files that could be this command's here, the likeliest first."""
    place, inner = listing.place, parts
    if place.plugin:
        if len(parts) > 1 and parts[0] != place.plugin:
            return
        inner = parts[1:] or parts
    if place.skills:
        if inner[0] in listing.names:
            yield f"{place.folder}/{'/'.join(inner)}/SKILL.md"
        return
    for left_out in range(len(inner)):
        # What is left out in front: a configured folder may be the namespace itself.
        tail = inner[left_out:]
        file, first = f"{'/'.join(tail)}.md", tail[0] if len(tail) > 1 else f"{tail[0]}.md"
        if first in listing.names:
            yield f"{place.folder}/{file}"
        if not left_out:
            # The client lists a command in a folder below without that folder's name too.
            folders = listing.folders.get(first, ())
            yield from (f"{place.folder}/{folder}/{file}" for folder in folders)


# No product's paths are settings: a folder or file of a project's own tools counts because it is
# there and is marked as what it is (`COMPACT_SUMMARY_START` in a command's file, `active_commands`
# in a list). The look is bounded, and stays inside of the project.
MAX_DIRS = 40  # folders looked into on each level
MAX_STATE_FILES = 10  # lists of active commands that are read
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
    folders = (".claude", *_list_subdirs(project, "docs"), *_list_tool_dirs(project), "")
    paths = (f"{folder}/{STATE_FILE}".lstrip("/") for folder in folders)
    there = (path for path in paths if is_file(f"{project}/{path}", within=project))
    return islice(there, MAX_STATE_FILES)


def _list_tool_dirs(project: str) -> list[str]:
    hidden = sorted(name for name in list_names(project) if name.startswith("."))
    return [name for name in hidden if name not in _NOT_TOOLS and "." not in name[1:]][:MAX_DIRS]


def _list_subdirs(project: str, folder: str) -> list[str]:
    """Folders by name, as paths of the project; files among them lead nowhere."""
    found = sorted(list_names(f"{project}/{folder}", within=project))
    return [f"{folder}/{name}" for name in found if "." not in name][:MAX_DIRS]
