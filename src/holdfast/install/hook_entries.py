"""Holdfast's place in a settings text: what entries of ours look like, and what is there.

Owns how an entry of ours is recognised, and reading what a settings text holds. Which hooks there
are, and the shape of an entry, is each client's own; the form around them ("hooks", events, groups,
entries) is Claude Code's, which others took over. `hook_edit` puts ours in and out of a text,
`settings_file` is the only code that opens or writes the file. Must not change a text and must not
open a file.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.install import launcher as hook_launcher
from holdfast.install.installation import ForeignHook, HookEntry, HookSpec, InvalidSettings
from holdfast.records import NamedTuple
from holdfast.settings import json_edit
from holdfast.settings.json_edit import JsonSyntaxError, Node


class HookLocation(NamedTuple):
    """Where one hook entry is in the scanned document."""

    event: str
    matcher: str | None
    groups: Node
    group: Node
    entries: Node
    entry: Node
    value: dict[str, Any]


def is_holdfast_hook(entry: Mapping[str, Any]) -> bool:
    """Ours are known by their program's name, in whatever folder."""
    return hook_launcher.find_program(_list_words(entry)) is not None


def _list_words(entry: Mapping[str, Any]) -> list[Any]:
    args, command = entry.get("args"), entry.get("command")
    if isinstance(args, list):
        return [command, *args]
    # Without `args` a shell gets the command. Ours is then the launcher with the client's name and
    # the event, and nothing else: whatever more somebody wrote around it is theirs.
    if not isinstance(command, str) or hook_launcher.LAUNCHER_NAME not in command:
        return []
    try:
        words = hook_launcher.split_command(command)
    except ValueError:
        return []
    return words if len(words) == 2 and ":" in words[1] else []


def parse_entries(settings_text: str) -> list[HookEntry]:
    """Our entries as the client would start them; raises InvalidSettings."""
    found = []
    for place in list_hook_locations(settings_text):
        if is_holdfast_hook(place.value):
            argv = tuple(str(word) for word in _list_words(place.value))
            limit = place.value.get("timeout")
            seconds = float(limit) if isinstance(limit, int | float) else 60.0
            found.append(HookEntry(place.event, argv, seconds))
    return found


def list_foreign_hooks(settings_text: str, hooks: tuple[HookSpec, ...]) -> list[ForeignHook]:
    """Other tools' hooks on the events of ours; raises InvalidSettings."""
    ours = {spec.event for spec in hooks}
    found = []
    for place in list_hook_locations(settings_text):
        if place.event in ours and not is_holdfast_hook(place.value):
            value = place.value
            args = value.get("args")
            words = [value.get("command") or value.get("url") or value.get("prompt") or ""]
            words += args if isinstance(args, list) else []
            kind = str(value.get("type", ""))
            command = " ".join(str(word) for word in words)
            found.append(ForeignHook(place.event, place.matcher, kind, command))
    return found


def read_setting(settings_text: str, name: str) -> Any:
    """A top-level value, None where it is not there; raises InvalidSettings."""
    node = parse_root(settings_text).get(name)
    return None if node is None else node.value(settings_text)


def is_blank(settings_text: str) -> bool:
    """An empty file: the client takes it for no settings, so it is not broken."""
    return not settings_text.strip(" \t\r\n")


def is_empty(settings_text: str) -> bool:
    return is_blank(settings_text) or not parse_root(settings_text).members


def parse_root(text: str) -> Node:
    try:
        root = json_edit.scan("{}" if is_blank(text) else text)
    except JsonSyntaxError as fault:
        raise InvalidSettings(fault.reason, fault.line, fault.column) from fault
    if root.kind != "object":
        raise invalid_at(text, root, "the settings must be one object, { ... }")
    return root


def invalid_at(text: str, node: Node, reason: str) -> InvalidSettings:
    return InvalidSettings(reason, *json_edit.position(text, node.start))


def _require_single(text: str, node: Node, key: str | None, where: str) -> None:
    """A second key of one name hides the first: an edit of either would lie."""
    seen = set()
    for member in node.members:
        if member.key in seen and key in (None, member.key):
            reason = f"{json.dumps(member.key)} appears twice in {where}"
            raise InvalidSettings(reason, *json_edit.position(text, member.start))
        seen.add(member.key)


def list_hook_locations(text: str) -> Iterator[HookLocation]:
    """Every hook entry that is an object in a group that is one, ours and others'."""
    root = parse_root(text)
    _require_single(text, root, "hooks", "the settings")
    hooks = root.get("hooks")
    if hooks is None or hooks.kind != "object":
        return
    _require_single(text, hooks, None, '"hooks"')
    for event in hooks.members:
        for group in event.value.items:
            _require_single(text, group, "hooks", f'a group of "{event.key}"')
            entries, matcher = group.get("hooks"), group.get("matcher")
            if entries is None:
                continue
            name = matcher.value(text) if matcher else None
            name = name if isinstance(name, str) else None
            for entry in entries.items:
                if entry.kind == "object":
                    value = entry.value(text)
                    yield HookLocation(event.key, name, event.value, group, entries, entry, value)
