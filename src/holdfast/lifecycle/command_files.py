"""Finding the file of a command or skill, where the client would look for it.

First the configured folders, then those in which the project's own tools keep marked commands
(the development source of a command before its installed copy), then the project's commands and
skills, the user's, and those of plugins. Reads names and files; `holdfast.active` understands
what they say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from holdfast.files import File, is_file, names, read
from holdfast.lifecycle.project_layouts import command_folders
from holdfast.lifecycle.terms import Terms, project_folders

Finder = Callable[[str], File | None]
LARGEST = 512 * 1024
MOST = 2_000  # files that a walk through all of them looks at
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")


class Place(NamedTuple):
    """A folder of command files; `skills` are folders with a SKILL.md each."""

    folder: str
    skills: bool = False
    plugin: str = ""  # commands of a plugin are named plugin:command
    within: str = ""  # the tree that it must stay in; "" for the user's own
    marked: bool = False  # only files that carry rules count: the client does not look here


def find(name: str, cwd: str, terms: Terms) -> File | None:
    return finder(cwd, terms)(name)


def finder(cwd: str, terms: Terms) -> Finder:
    """The same for many names, looking for the places once."""
    looked_at: list[Place] = []
    known: dict[str, File | None] = {}

    def found(name: str) -> File | None:
        if name not in known:
            if not looked_at:
                looked_at.extend(places(cwd, terms))
            known[name] = _found(name, looked_at)
        return known[name]

    return found


def _found(name: str, looked_at: Sequence[Place]) -> File | None:
    parts = name.split(":")
    if not all(part and _PLAIN.issuperset(part) and part.strip(".") for part in parts):
        return None
    for place in looked_at:
        for path in _candidates(place, parts):
            file = File(path, place.within)
            if is_file(path, within=place.within) and (not place.marked or _is_marked(file)):
                return file
    return None


def _is_marked(file: File) -> bool:
    text = file.read(LARGEST) or b""
    return b"COMPACT_SUMMARY_START" in text or b"compact_context" in text


def places(cwd: str, terms: Terms) -> list[Place]:
    folders = list(dict.fromkeys(f for f in (cwd, terms.project, *project_folders(cwd)) if f))
    found = list(_searched(folders, terms))
    for folder in folders:
        found += [
            Place(f"{folder}/{name}", within=folder, marked=True)
            for name in command_folders(folder)
        ]
    for folder in folders:
        found += [
            Place(f"{folder}/.claude/commands", within=folder),
            Place(f"{folder}/.claude/skills", True, within=folder),
        ]
    if terms.client_folder:
        base = terms.client_folder
        found += [Place(f"{base}/commands"), Place(f"{base}/skills", True)]
        for plugin, folder in plugins(base):
            found += [
                Place(f"{folder}/commands", plugin=plugin),
                Place(f"{folder}/skills", True, plugin),
            ]
    return list(dict.fromkeys(found))


def everything(cwd: str, terms: Terms) -> Iterator[File]:
    """Every command and skill file in those places, each once."""
    seen: set[str] = set()
    for place in places(cwd, terms):
        for folder, below, files in os.walk(place.folder):
            below.sort()
            for name in sorted(files):
                wanted = name == "SKILL.md" if place.skills else name.endswith(".md")
                path = os.path.join(folder, name)
                file = File(path, place.within)
                if not wanted or path in seen or not is_file(path, within=place.within):
                    continue
                if len(seen) < MOST and (not place.marked or _is_marked(file)):
                    seen.add(path)
                    yield file


def plugins(client_folder: str) -> list[tuple[str, str]]:
    """(name, folder) of every installed plugin, as the client's own list has them."""
    raw = read(f"{client_folder}/plugins/installed_plugins.json", most=LARGEST)
    try:
        document = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        return []
    listed = document.get("plugins") if isinstance(document, dict) else None
    found = []
    for key, installs in listed.items() if isinstance(listed, dict) else ():
        for install in installs if isinstance(installs, list) else [installs]:
            folder = install.get("installPath") if isinstance(install, dict) else None
            if isinstance(folder, str) and folder:
                found.append((str(key).partition("@")[0], folder.rstrip("/")))
    return found


def _searched(folders: Sequence[str], terms: Terms) -> Iterator[Place]:
    for wanted in terms.settings.words("command_search"):
        if wanted.startswith(("/", "~")):
            yield Place(os.path.expanduser(wanted).rstrip("/"))
        elif ".." not in wanted.split("/"):
            below = os.path.normpath(wanted)
            yield from (Place(f"{folder}/{below}", within=folder) for folder in folders)


def _candidates(place: Place, parts: list[str]) -> Iterator[str]:
    """Files that could be this command's here, the likeliest first."""
    inner = parts
    if place.plugin:
        if len(parts) > 1 and parts[0] != place.plugin:
            return
        inner = parts[1:] or parts
    if place.skills:
        yield f"{place.folder}/{'/'.join(inner)}/SKILL.md"
        return
    yield f"{place.folder}/{'/'.join(inner)}.md"
    if len(inner) > 1:
        # A configured folder may be the namespace itself.
        yield f"{place.folder}/{inner[-1]}.md"
    else:
        # The client lists a command in a folder below under its bare name too.
        for name in sorted(names(place.folder, within=place.within)):
            if not name.endswith(".md"):
                yield f"{place.folder}/{name}/{inner[0]}.md"
