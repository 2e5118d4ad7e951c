"""Which commands and skills are in force in a session, and their rules as text.

In force: what the transcript shows as invoked, what was activated by hand, and what the project's
own list (`session-state.json`) says of this session; not what was deactivated by hand since. Two
names of one file are one command. The list by hand is a file in the session's directory, so no
session sees another's; lines are only ever appended to it, so that of many writers none loses
a line.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.compaction.active_commands import command_finder
from holdfast.compaction.active_commands.command_finder import CommandFinder, find_state_files
from holdfast.compaction.active_commands.rules_text import (
    ActiveCommand,
    ResolvedCommand,
    compose_rules,
    format_names,
    has_rules,
)
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import File, append, make_private_dir, read
from holdfast.session.context import SessionContext, list_project_dirs
from holdfast.session.update import redact_text
from holdfast.state import State

MANUAL_FILE = "commands"
ACTIVATED, DEACTIVATED = "+", "-"
MAX_COMMANDS = 30
MAX_STATE_CHARS = 200
MAX_PROJECT_LIST_BYTES = 1024 * 1024  # bytes of a project's list
MAX_ARGUMENTS_CHARS = 400  # characters of one line
MAX_MANUAL_BYTES = 1024 * 1024  # bytes of the list by hand: thousands of lines


def compose_active_rules(ctx: SessionContext, state: State, room: int | None = None) -> str:
    """What to put back after a compaction, in at most so much room; "" for nothing."""
    if not ctx.config.settings.flag("command_rules"):
        return ""
    found = list_with_rules(ctx, state)
    if not found:
        return ""
    most = ctx.config.settings.number("command_rules_chars")
    return redact_text(compose_rules(found, most if room is None else min(most, room)))


def describe_for_summariser(ctx: SessionContext, state: State) -> str:
    if not ctx.config.settings.flag("command_rules"):
        return ""
    names = format_names(list_with_rules(ctx, state))
    if not names:
        return ""
    return (
        f"Commands and skills in force: {names}. They stay active after the compaction; their "
        "rules are restored verbatim and need not be in the summary."
    )


def list_with_rules(ctx: SessionContext, state: State) -> list[ResolvedCommand]:
    """Those whose file is there and has something to keep."""
    return [found for found in resolve_active(ctx, state) if found.path and has_rules(found)]


def resolve_active(ctx: SessionContext, state: State) -> list[ResolvedCommand]:
    """Everything in force, with what its file says; no path where there is no file."""
    find = command_finder.make_finder(ctx.session.cwd, ctx.config)
    active = list_active(ctx, state, find)
    if not active:
        return []
    from holdfast.compaction.active_commands.command_file import CommandFile, parse_command_file

    found = []
    for one in active:
        there = find(one.name)
        if there is None:
            found.append(ResolvedCommand(one, CommandFile(one_shot=True), ""))
            continue
        file = parse_command_file(there.text(command_finder.MAX_FILE_BYTES))
        found.append(
            ResolvedCommand(one, file, shorten_path(there.path, ctx.session.cwd), there.path)
        )
    return found


def list_active(
    ctx: SessionContext, state: State, find: CommandFinder | None = None
) -> list[ActiveCommand]:
    """In the order in which they were started, each once, whatever it was called.

    `/team:babysit` as typed is `babysit` in the project's list: its file tells.
    """
    find = find or command_finder.make_finder(ctx.session.cwd, ctx.config)
    since: dict[str, ActiveCommand] = {}
    for skill in state.skills.values():
        key = _identity(skill.name, find)
        since[key] = ActiveCommand(skill.name, skill.arguments, skill.by, skill.at.time)
    for one in _listed_by_project(ctx, state, find):
        # The latest start and the project's state; order and name are those of the first.
        key = _identity(one.name, find)
        before = since.get(key)
        latest = max(before.time, one.time) if before else ""
        since[key] = before._replace(state=one.state, time=latest) if before else one
    for time, sign, name, arguments in read_manual_entries(ctx.session_dir):
        key = _identity(name, find)
        before = since.get(key)
        if sign == ACTIVATED:
            since[key] = before or ActiveCommand(name, arguments, "hand", time)
        elif before is not None and before.time[:19] <= time[:19]:
            del since[key]
    return list(since.values())[-MAX_COMMANDS:]


def find_active(ctx: SessionContext, state: State, name: str) -> ActiveCommand | None:
    """The one in force that a person means by a name; it may have been started by another."""
    find = command_finder.make_finder(ctx.session.cwd, ctx.config)
    for one in list_active(ctx, state, find):
        if name == one.name or _identity(name, find) == _identity(one.name, find):
            return one
    return None


def _identity(name: str, find: CommandFinder) -> str:
    found = find(name)
    return found.path if found else name


def shorten_path(path: str, cwd: str) -> str:
    for folder in (cwd, *list_project_dirs(cwd)):
        if folder and path.startswith(folder.rstrip("/") + "/"):
            return path[len(folder.rstrip("/")) + 1 :]
    return path


def read_manual_entries(session_dir: SessionDir) -> list[tuple[str, str, str, str]]:
    """(time, sign, name, arguments): the last word on each name, oldest first."""
    raw = (read(f"{session_dir.path}/{MANUAL_FILE}", most=MAX_MANUAL_BYTES) or b"").decode(
        "utf-8", "replace"
    )
    said: dict[str, tuple[str, str, str, str]] = {}
    for line in raw.split("\n"):
        words = line.split("\t")
        if len(words) == 4 and words[1] in (ACTIVATED, DEACTIVATED):
            said.pop(words[2], None)
            said[words[2]] = (words[0], words[1], words[2], words[3])
    return list(said.values())


def append_manual_entry(
    session_dir: SessionDir, sign: str, name: str, arguments: str, time: str
) -> None:
    """Raises OSError where it cannot be kept."""
    history = " ".join(redact_text(arguments).split())[:MAX_ARGUMENTS_CHARS]
    line = "\t".join((time, sign, name, history)) + "\n"
    make_private_dir(session_dir.path)
    if not append(
        f"{session_dir.path}/{MANUAL_FILE}",
        line.encode("utf-8", "replace"),
        most=MAX_MANUAL_BYTES,
    ):
        raise OSError(errno.ENOSPC, "the session's list of commands is full")


def _listed_by_project(
    ctx: SessionContext, state: State, find: CommandFinder
) -> Iterator[ActiveCommand]:
    """Entries of the project's own list that belong to this session.

    One file serves all sessions of the project, so an entry counts only where it names this
    session, or was made while this session ran and this session's own work touched the file.
    """
    for folder in list_project_dirs(ctx.session.cwd):
        configured = ctx.config.settings.words("active_command_files")
        for wanted in dict.fromkeys((*configured, *find_state_files(folder))):
            if wanted.startswith("/") or ".." in wanted.split("/"):
                continue
            for entry in _entries(File(os.path.join(folder, wanted), folder)):
                if _is_ours(ctx, state, entry, os.path.basename(wanted), find):
                    name = str(entry.get("name", "")).lstrip("/")
                    fields = tuple(_state(entry.get("state")))
                    yield ActiveCommand(
                        name, "", "user", str(entry.get("activated_at", "")), fields
                    )


def _entries(file: File) -> list[dict[str, Any]]:
    raw = file.read(MAX_PROJECT_LIST_BYTES)
    try:
        document = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        return []
    listed = document.get("active_commands") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        return []
    return [one for one in listed[:MAX_COMMANDS] if isinstance(one, dict) and one.get("name")]


def _is_ours(
    ctx: SessionContext, state: State, entry: dict[str, Any], file: str, find: CommandFinder
) -> bool:
    if session := entry.get("session_id"):
        return bool(session == ctx.session.id)
    started, activated = state.session.started, str(entry.get("activated_at", ""))
    if not started or not activated or activated[:19] < started[:19]:
        return False
    if any(file in text for text in _commands_and_edits(state)):
        return True
    key = _identity(str(entry["name"]).lstrip("/"), find)
    return any(key == _identity(known, find) for known in state.skills)


def _commands_and_edits(state: State) -> Iterable[str]:
    yield from (command.text for command in state.commands.values())
    yield from (item.path for item in state.files.values() if item.changed or item.created)


def _state(fields: Any) -> Iterator[tuple[str, str]]:
    for key, value in fields.items() if isinstance(fields, dict) else ():
        if isinstance(value, str | int | float) and value != "":
            yield str(key), str(value)[:MAX_STATE_CHARS]
