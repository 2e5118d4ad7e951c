"""Puts our status line around the user's own in a settings text, and takes it off again.

The client has one status line. Ours is a command that runs the user's and adds to it, so what
was there stands in ours word for word, twice: as the argument that is run, and behind `||`, where
the shell runs it should Holdfast be gone. Every other field of `statusLine` stays as it is.
Must not open a file; each edit is read back before anyone gets it.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from holdfast.clients import hook_launcher
from holdfast.clients.hook_launcher import STATUSLINE_EVENT, Launcher
from holdfast.clients.hook_settings.hook_entries import invalid_at, is_blank, parse_root
from holdfast.clients.installation import UnsafeEdit
from holdfast.settings import json_edit

STATUSLINE_KEY = "statusLine"


def build_command(launcher: Launcher, wrapped: str) -> str:
    ours = shlex.join(launcher.build_argv(STATUSLINE_EVENT))
    if not wrapped:
        return ours
    theirs = shlex.quote(wrapped)
    return f"{ours} {theirs} || /bin/sh -c {theirs}"


def is_holdfast_statusline(command: object) -> bool:
    return unwrap_command(command) is not None


def unwrap_command(command: object) -> str | None:
    """The user's own command inside ours, "" for none; None when the command is not ours."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return None
    program = hook_launcher.find_program(words)
    if program is None:
        return None
    event, *rest = words[words.index(program) + 1 :] or [""]
    return (rest[0] if rest else "") if event == STATUSLINE_EVENT else None


def is_statusline_installed(settings_text: str) -> bool:
    return is_holdfast_statusline(_command(settings_text))


def add_statusline(settings_text: str, launcher: Launcher) -> str:
    """The text with our status line, around what was there; unchanged when it is up to date."""
    text = "{}\n" if is_blank(settings_text) else settings_text
    root = parse_root(text)
    style = json_edit.style_of(text, root)
    node = root.get(STATUSLINE_KEY)
    if node is None:
        value = {"type": "command", "command": build_command(launcher, "")}
        return _checked(text, json_edit.add_member(text, root, STATUSLINE_KEY, value, style))
    if node.kind != "object":
        raise invalid_at(text, node, f'"{STATUSLINE_KEY}" must be an object, {{ ... }}')
    there = node.get("command")
    before = there.value(text) if there else None
    inside = unwrap_command(before)
    if inside is None:
        inside = before if isinstance(before, str) else ""
    wanted = build_command(launcher, inside)
    if before == wanted:
        return settings_text
    if there is None:
        return _checked(text, json_edit.add_member(text, node, "command", wanted, style))
    return _checked(text, json_edit.replace(text, there, wanted, style))


def remove_statusline(settings_text: str, base_text: str | None) -> str:
    """The text without ours: the user's own command is back, or no status line at all."""
    if not is_statusline_installed(settings_text):
        return settings_text
    text, root = settings_text, parse_root(settings_text)
    node = root.get(STATUSLINE_KEY)
    there = node.get("command") if node else None
    if node is None or there is None:
        return settings_text
    inside = unwrap_command(there.value(text)) or ""
    if inside:
        spelled = _spelling(inside, base_text)
        return _checked(text, text[: there.start] + spelled + text[there.end :])
    if {member.key for member in node.members} <= {"type", "command"}:
        return _checked(text, _without_member(text, root, base_text))
    return _checked(text, json_edit.remove_member(text, node, "command"))


def _without_member(text: str, root: json_edit.Node, base_text: str | None) -> str:
    if len(root.members) == 1 and base_text and not is_blank(base_text):
        base_root = parse_root(base_text)
        if not base_root.members:  # an empty object, laid out in the user's own way
            inside = base_text[base_root.start : base_root.end]
            return text[: root.start] + inside + text[root.end :]
    return json_edit.remove_member(text, root, STATUSLINE_KEY)


def _spelling(command: str, base_text: str | None) -> str:
    """The command as JSON: as the file before had it, where that says the same."""
    if base_text and not is_blank(base_text):
        node = parse_root(base_text).get(STATUSLINE_KEY)
        there = node.get("command") if node and node.kind == "object" else None
        if there and there.value(base_text) == command:
            return base_text[there.start : there.end]
    return json.dumps(command, ensure_ascii=False)


def _command(text: str) -> object:
    node = parse_root(text).get(STATUSLINE_KEY)
    there = node.get("command") if node and node.kind == "object" else None
    return there.value(text) if there else None


def _checked(before: str, after: str) -> str:
    """Nothing but the status line may differ, by an independent parser."""
    if _rest(before) != _rest(after):
        raise UnsafeEdit("changing the status line would have changed something else")
    return after


def _rest(text: str) -> Any:
    exact: dict[str, Any] = {"parse_int": str.encode, "parse_float": str.encode}
    document = json.loads(text, object_pairs_hook=tuple, **exact)
    rest = []
    for key, value in document:
        if key == STATUSLINE_KEY and isinstance(value, tuple):
            own = tuple(p for p in value if p[0] not in ("type", "command"))
            if own:
                rest.append((key, own))
        else:
            rest.append((key, value))
    return tuple(rest)
