"""Which commands and skills are in force in a session, and their rules as text.

In force: what the transcript shows as invoked, what was activated by hand, and what the project's
own list (`session-state.json`) says of this session; not what was deactivated by hand since. Two
names of one file are one command. The list by hand is a file in the session's directory, so no
session sees another's; lines are only ever appended to it, so that of many writers none loses
a line.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import suppress

from holdfast.clients.json_fields import as_object, as_objects, parse_json
from holdfast.clock import parse_timestamp
from holdfast.compaction.active_commands import command_finder
from holdfast.compaction.active_commands.command_finder import CommandFinder, find_state_files
from holdfast.compaction.active_commands.rules_text import (
    ActiveCommand,
    ResolvedCommand,
    compose_rest,
    compose_rules,
    format_names,
    has_rules,
    list_cut,
)
from holdfast.fastpath.pending_texts import MAX_RULES_CHARS, RULES, PrebuiltText
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import File, append, make_private_dir, read
from holdfast.lazy_regex import lazy_compile
from holdfast.records import Any
from holdfast.redact import redact
from holdfast.session.context import SessionContext, list_project_dirs
from holdfast.state import State
from holdfast.state.commands import Command

MANUAL_FILE = "commands"
ACTIVATED, DEACTIVATED = "+", "-"
MAX_COMMANDS = 30
_NO_TIME = "~"  # sorts behind every time
MAX_STATE_CHARS = 200
MAX_LIST_BYTES = 1024 * 1024  # bytes of a project's list
MAX_ARGUMENTS_CHARS = 400  # characters of one line
REGISTERING_SECONDS = 60  # between an entry and the command that made it
_WORD = lazy_compile(r"[\w:/.-]+")
MAX_MANUAL_BYTES = 1024 * 1024  # bytes of the list by hand: thousands of lines


def compose_active_rules(ctx: SessionContext, state: State, room: int | None = None) -> str:
    """What to put back after a compaction, in at most so much room; "" for nothing."""
    found = _list_wanted(ctx, state)
    if not found:
        return ""
    most = ctx.config.settings.number("command_rules_chars")
    return redact(compose_rules(found, most if room is None else min(most, room)))


def queue_rest(ctx: SessionContext, state: State, given: PrebuiltText) -> None:
    """What the text after a compaction had no room for follows with the next prompts and tools."""
    found = _list_wanted(ctx, state)
    texts = compose_rest(found, given.text, MAX_RULES_CHARS, redact)
    with suppress(OSError):  # no space: the text names the files
        for kind, text in zip(RULES, texts, strict=False):
            rest = PrebuiltText(given.epoch, given.generation, given.offset, ctx.now.text, "", text)
            ctx.session_dir.pending.put(kind, rest)


def describe_for_summariser(ctx: SessionContext, state: State, room: int) -> str:
    """`room`: for rules in the text after the compaction."""
    found = _list_wanted(ctx, state)
    names = format_names(found)
    if not names:
        return ""
    in_force = f"Commands and skills in force: {names}. They stay active after the compaction"
    cut = list_cut(found, compose_active_rules(ctx, state, room))
    if not cut:
        return f"{in_force}; their rules are restored verbatim and need not be in the summary."
    return (
        f"{in_force}. There may be no room to restore all rules of {format_names(cut)}: the "
        "summary keeps what they demand. All other rules are restored verbatim."
    )


def _list_wanted(ctx: SessionContext, state: State) -> list[ResolvedCommand]:
    return list_with_rules(ctx, state) if ctx.config.settings.flag("command_rules") else []


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
        if skill.by == "list":
            continue
        started = skill.started or skill.at.time
        one = ActiveCommand(skill.name, skill.arguments, skill.by, skill.at.time, started)
        key = _identify_file(skill.name, find)
        before = since.get(key)
        since[key] = (
            one._replace(started=min(before.started, started, key=_sort_key)) if before else one
        )
    for one in _listed_by_project(ctx, state, find):
        # The project's state, the latest start and the first; the name is that of the start seen.
        key = _identify_file(one.name, find)
        before = since.get(key)
        if before is not None:
            latest, first = (
                max(before.time, one.time),
                min(before.started, one.started, key=_sort_key),
            )
            one = before._replace(state=one.state, time=latest, started=first)
        since[key] = one
    for time, sign, name, arguments in read_manual_entries(ctx.session_dir):
        key = _identify_file(name, find)
        before = since.get(key)
        if sign == ACTIVATED:
            since[key] = before or ActiveCommand(name, arguments, "hand", time, time)
        elif before is not None and before.time[:19] <= time[:19]:
            del since[key]
    return sorted(since.values(), key=lambda one: _sort_key(one.started))[-MAX_COMMANDS:]


def _sort_key(time: str) -> str:
    """With what the time says of parts of a second: scripts start several commands in one."""
    return time.rstrip("Z") or _NO_TIME


def find_active(ctx: SessionContext, state: State, name: str) -> ActiveCommand | None:
    """The one in force that a person means by a name; it may have been started by another."""
    find = command_finder.make_finder(ctx.session.cwd, ctx.config)
    for one in list_active(ctx, state, find):
        if name == one.name or _identify_file(name, find) == _identify_file(one.name, find):
            return one
    return None


def _identify_file(name: str, find: CommandFinder) -> str:
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
    history = " ".join(redact(arguments).split())[:MAX_ARGUMENTS_CHARS]
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
    session, or was made while this session ran and by its own work as far as that shows.
    """
    for folder in list_project_dirs(ctx.session.cwd):
        configured = ctx.config.settings.words("active_command_files")
        for wanted in dict.fromkeys((*configured, *find_state_files(folder))):
            if wanted.startswith("/") or ".." in wanted.split("/"):
                continue
            listed = parse_json(File(os.path.join(folder, wanted), folder).read(MAX_LIST_BYTES))
            for entry in as_objects(as_object(listed).get("active_commands"))[:MAX_COMMANDS]:
                name = str(entry.get("name") or "").lstrip("/")
                if name and _is_ours(ctx, state, entry, os.path.basename(wanted), find):
                    fields = tuple(
                        (str(key), str(value)[:MAX_STATE_CHARS])
                        for key, value in as_object(entry.get("state")).items()
                        if isinstance(value, str | int | float) and value != ""
                    )
                    time = str(entry.get("activated_at", ""))
                    yield ActiveCommand(name, "", "user", time, time, fields)


def _is_ours(
    ctx: SessionContext, state: State, entry: dict[str, Any], file: str, find: CommandFinder
) -> bool:
    if session := entry.get("session_id"):
        return bool(session == ctx.session.id)
    started, activated = state.session.started, str(entry.get("activated_at", ""))
    if not started or not activated or activated[:19] < started[:19]:
        return False
    name = str(entry["name"]).lstrip("/")
    if any(item.path.endswith(file) for item in state.files.values() if item.changed):
        return True
    if any(_starts(command, name, activated) for command in state.commands.values()):
        return True
    key = _identify_file(name, find)
    return any(key == _identify_file(known, find) for known in state.skills)


def _starts(command: Command, name: str, activated: str) -> bool:
    """Whether a command line names it, and ran at about that time; again it may run at any."""
    if name not in _WORD.findall(command.text):
        return False
    with suppress(ValueError):
        later = parse_timestamp(command.at.time) - parse_timestamp(activated)
        return abs(later) <= REGISTERING_SECONDS or (later > 0 and command.times > 1)
    return False
