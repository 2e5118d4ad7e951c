"""Which commands and skills are in force in a session, and their rules as text.

In force: what the transcript shows as invoked, what was activated by hand, and what the project's
own list (`session-state.json`) says of this session; not what was deactivated by hand since. Two
names of one file are one command. The list by hand is a file in the session's tray, so no session
sees another's; lines are only ever appended to it, so that of many writers none loses a line.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.active.rules_text import Active, Found, compose_rules, keeps, names
from holdfast.files import File, append, make_folder, read
from holdfast.lifecycle import command_files
from holdfast.lifecycle.command_files import Finder
from holdfast.lifecycle.keep import Scene, clean
from holdfast.lifecycle.project_layouts import state_files
from holdfast.lifecycle.terms import project_folders
from holdfast.lifecycle.tray import Tray
from holdfast.state import State

FILE = "commands"
ON, OFF = "+", "-"
MOST = 30
STATE_VALUE = 200
LARGEST = 1024 * 1024  # bytes of a project's list
ARGUMENTS = 400  # characters of one line
SAID = 1024 * 1024  # bytes of the list by hand: thousands of lines


def rules(state: State, tray: Tray, scene: Scene, room: int | None = None) -> str:
    """What to put back after a compaction, in at most so much room; "" for nothing."""
    if not scene.terms.settings.flag("command_rules"):
        return ""
    found = kept(state, tray, scene)
    if not found:
        return ""
    most = scene.terms.settings.number("command_rules_chars")
    return clean(compose_rules(found, most if room is None else min(most, room)))


def for_summariser(state: State, tray: Tray, scene: Scene) -> str:
    if not scene.terms.settings.flag("command_rules"):
        return ""
    told = names(kept(state, tray, scene))
    if not told:
        return ""
    return (
        f"Commands and skills in force: {told}. They go on after the compaction; their rules are"
        " put back word for word and need no place in the summary."
    )


def kept(state: State, tray: Tray, scene: Scene) -> list[Found]:
    """Those whose file is there and has something to keep."""
    return [found for found in known(state, tray, scene) if found.path and keeps(found)]


def known(state: State, tray: Tray, scene: Scene) -> list[Found]:
    """Everything in force, with what its file says; no path where there is no file."""
    find = command_files.finder(scene.cwd, scene.terms)
    active = in_force(state, tray, scene, find)
    if not active:
        return []
    from holdfast.active.command_file import CommandFile, understood

    found = []
    for one in active:
        there = find(one.name)
        if there is None:
            found.append(Found(one, CommandFile(one_shot=True), ""))
            continue
        file = understood(there.text(command_files.LARGEST))
        found.append(Found(one, file, shown(there.path, scene), there.path))
    return found


def in_force(state: State, tray: Tray, scene: Scene, find: Finder | None = None) -> list[Active]:
    """In the order in which they were started, each once, whatever it was called.

    `/team:babysit` as typed is `babysit` in the project's list: its file tells.
    """
    find = find or command_files.finder(scene.cwd, scene.terms)
    since: dict[str, Active] = {}
    for skill in state.skills.values():
        key = _identity(skill.name, find)
        since[key] = Active(skill.name, skill.arguments, skill.by, skill.at.time)
    for one in _listed_by_project(state, scene, find):
        # The latest start and the project's state; order and name are those of the first.
        key = _identity(one.name, find)
        before = since.get(key)
        latest = max(before.time, one.time) if before else ""
        since[key] = before._replace(state=one.state, time=latest) if before else one
    for time, sign, name, arguments in by_hand(tray):
        key = _identity(name, find)
        before = since.get(key)
        if sign == ON:
            since[key] = before or Active(name, arguments, "hand", time)
        elif before is not None and before.time[:19] <= time[:19]:
            del since[key]
    return list(since.values())[-MOST:]


def named(name: str, state: State, tray: Tray, scene: Scene) -> Active | None:
    """The one in force that a person means by a name; it may have been started by another."""
    find = command_files.finder(scene.cwd, scene.terms)
    for one in in_force(state, tray, scene, find):
        if name == one.name or _identity(name, find) == _identity(one.name, find):
            return one
    return None


def _identity(name: str, find: Finder) -> str:
    found = find(name)
    return found.path if found else name


def shown(path: str, scene: Scene) -> str:
    for folder in (scene.cwd, *project_folders(scene.cwd)):
        if folder and path.startswith(folder.rstrip("/") + "/"):
            return path[len(folder.rstrip("/")) + 1 :]
    return path


def by_hand(tray: Tray) -> list[tuple[str, str, str, str]]:
    """(time, sign, name, arguments): the last word on each name, oldest first."""
    raw = (read(f"{tray.folder}/{FILE}", most=SAID) or b"").decode("utf-8", "replace")
    said: dict[str, tuple[str, str, str, str]] = {}
    for line in raw.split("\n"):
        words = line.split("\t")
        if len(words) == 4 and words[1] in (ON, OFF):
            said.pop(words[2], None)
            said[words[2]] = (words[0], words[1], words[2], words[3])
    return list(said.values())


def say(tray: Tray, sign: str, name: str, arguments: str, time: str) -> None:
    """Raises OSError where it cannot be kept."""
    history = " ".join(clean(arguments).split())[:ARGUMENTS]
    line = "\t".join((time, sign, name, history)) + "\n"
    make_folder(tray.folder)
    if not append(f"{tray.folder}/{FILE}", line.encode("utf-8", "replace"), most=SAID):
        raise OSError(errno.ENOSPC, "the session's list of commands is full")


def _listed_by_project(state: State, scene: Scene, find: Finder) -> Iterator[Active]:
    """Entries of the project's own list that belong to this session.

    One file serves all sessions of the project, so an entry counts only where it names this
    session, or was made while this session ran and this session's own work touched the file.
    """
    for folder in project_folders(scene.cwd):
        configured = scene.terms.settings.words("command_state_files")
        for wanted in dict.fromkeys((*configured, *state_files(folder))):
            if wanted.startswith("/") or ".." in wanted.split("/"):
                continue
            for entry in _entries(File(os.path.join(folder, wanted), folder)):
                if _is_ours(entry, state, scene, os.path.basename(wanted), find):
                    name = str(entry.get("name", "")).lstrip("/")
                    fields = tuple(_state(entry.get("state")))
                    yield Active(name, "", "user", str(entry.get("activated_at", "")), fields)


def _entries(file: File) -> list[dict[str, Any]]:
    raw = file.read(LARGEST)
    try:
        document = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        return []
    listed = document.get("active_commands") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        return []
    return [one for one in listed[:MOST] if isinstance(one, dict) and one.get("name")]


def _is_ours(entry: dict[str, Any], state: State, scene: Scene, file: str, find: Finder) -> bool:
    if session := entry.get("session_id"):
        return bool(session == scene.session_id)
    started, activated = state.place.started, str(entry.get("activated_at", ""))
    if not started or not activated or activated[:19] < started[:19]:
        return False
    name = str(entry["name"]).lstrip("/")
    key = _identity(name, find)
    if any(key == _identity(known, find) for known in state.skills):
        return True
    return any(file in text for text in _doings(state))


def _doings(state: State) -> Iterable[str]:
    yield from (command.text for command in state.commands.values())
    yield from (item.path for item in state.files.values() if item.changed or item.created)


def _state(fields: Any) -> Iterator[tuple[str, str]]:
    for key, value in fields.items() if isinstance(fields, dict) else ():
        if isinstance(value, str | int | float) and value != "":
            yield str(key), str(value)[:STATE_VALUE]
