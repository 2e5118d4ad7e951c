"""Holdfast's place in a settings text: what entries of ours look like, and what is there.

Owns how an entry of ours is recognised, and reading what a settings text holds. Which hooks there
are, and the shape of an entry, is each client's own (`HookTable`). `hook_edit` puts ours in and
out of a text, `settings_file` is the only code that opens or writes the file.
Must not change a text and must not open a file.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.clients import hook_launcher
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.installation import (
    ForeignHook,
    HookEntry,
    HookFlags,
    HookSpec,
    InstalledHook,
    InvalidSettings,
)
from holdfast.settings import json_edit
from holdfast.settings.json_edit import JsonSyntaxError, Node


class HookTable(NamedTuple):
    """Which hooks a client gets, and what an entry of them looks like.

    The form around them ("hooks", events, groups, entries) is Claude Code's; others took it over.
    """

    hooks: tuple[HookSpec, ...]
    build_entry: Callable[[HookSpec, Launcher], dict[str, Any]]


class HookLocation(NamedTuple):
    """Where one hook entry stands in the scanned document."""

    event: str
    matcher: str | None
    groups: Node
    group: Node
    entries: Node
    entry: Node
    value: dict[str, Any]


def is_holdfast_hook(entry: Mapping[str, Any]) -> bool:
    """Ours are known by their program's name, in whatever folder."""
    return hook_launcher.find_program(_argv(entry)) is not None


def _argv(entry: Mapping[str, Any]) -> list[Any]:
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


def list_installed_hooks(settings_text: str) -> list[InstalledHook]:
    """Our entries in this text, in its order; raises InvalidSettings."""
    return [
        _installed_hook(p) for p in list_hook_locations(settings_text) if is_holdfast_hook(p.value)
    ]


def _installed_hook(place: HookLocation) -> InstalledHook:
    argv = _argv(place.value)
    program = hook_launcher.find_program(argv) or ""
    after = argv[argv.index(program) + 1 :]
    timeout = place.value.get("timeout")
    return InstalledHook(
        event=place.event,
        program=program,
        argument=str(after[0]) if after else "",
        matcher=place.matcher,
        background=place.value.get("async") is True,
        timeout=timeout if isinstance(timeout, int | float) else None,
    )


def parse_entries(settings_text: str) -> list[HookEntry]:
    """Our entries as the client would start them; raises InvalidSettings."""
    found = []
    for place in list_hook_locations(settings_text):
        if not is_holdfast_hook(place.value):
            continue
        argv = tuple(str(word) for word in _argv(place.value))
        limit = place.value.get("timeout")
        seconds = float(limit) if isinstance(limit, int | float) else 60.0
        found.append(HookEntry(place.event, argv, seconds))
    return found


def build_direct_entries(
    hooks: tuple[HookSpec, ...], interpreter: str, script: str, prefix: str = ""
) -> list[HookEntry]:
    """Our hooks as they run without an install; `prefix` names the client before the event."""
    return [
        HookEntry(
            spec.event,
            (interpreter, *hook_launcher.build_arguments(script, prefix + spec.event)),
            float(spec.timeout_seconds),
        )
        for spec in hooks
    ]


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


def read_hook_flags(settings_text: str) -> HookFlags:
    """The switches that keep our hooks from running; raises InvalidSettings."""
    root = parse_root(settings_text)
    switches = {m.key: m.value.value(settings_text) for m in root.members if "Hooks" in m.key}
    return HookFlags(
        disable_all_hooks=switches.get("disableAllHooks") is True,
        allow_managed_hooks_only=switches.get("allowManagedHooksOnly") is True,
    )


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
            line, column = json_edit.position(text, member.start)
            raise InvalidSettings(
                f"{json.dumps(member.key)} appears twice in {where}", line, column
            )
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
