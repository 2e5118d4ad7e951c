"""Puts our entries into a settings text, and our status line, and takes them out again.

Owns these edits. Each changes what is ours and nothing else, is read back with an independent
parser before anyone gets it, and is refused when the rest would not mean the same.
Must not open a file, and must not touch another tool's entry, even one in the same group as ours.

The client has one status line. Ours is a command that runs the user's and adds to it, so what
was there is in ours word for word, twice: as the argument that is run, and behind `||`, where
the shell runs it should Holdfast be gone. Every other field of `statusLine` stays as it is.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.install import launcher as hook_launcher
from holdfast.install.hook_entries import (
    HookLocation,
    invalid_at,
    is_blank,
    is_holdfast_hook,
    list_hook_locations,
    parse_root,
)
from holdfast.install.installation import HookSpec, UnsafeEdit
from holdfast.install.launcher import STATUSLINE_EVENT, Launcher
from holdfast.records import NamedTuple
from holdfast.settings import json_edit
from holdfast.settings.json_edit import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.install.installer import Installer

HOOKS_KEY, STATUSLINE_KEY = "hooks", "statusLine"


class SettingsEdit(NamedTuple):
    """A text after an edit, and the events whose entries were touched."""

    text: str
    added: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def add_hooks(settings_text: str, launcher: Launcher, installer: Installer) -> SettingsEdit:
    """The text with our entries, each exactly once and up to date; the rest as it was.

    An entry that only points elsewhere is replaced in its place. One that cannot work where it
    is (an event we no longer use, a second copy, a group whose matcher narrows it) goes.
    """
    text = "{}\n" if is_blank(settings_text) else settings_text
    _require_shape(text)
    style = json_edit.style_of(text, parse_root(text))
    ours = list(_list_ours(text))
    before = {place.event for place in ours}
    events = {spec.event for spec in installer.hooks}
    repaired: list[str] = []
    added: list[str] = []
    missing: dict[str, list[dict[str, Any]]] = {}
    for spec in installer.hooks:
        wanted = installer.build_entry(spec, launcher)
        place = next((p for p in ours if _stands_well(p, spec)), None)
        if place is None:
            group: dict[str, Any] = {} if spec.matcher is None else {"matcher": spec.matcher}
            missing.setdefault(spec.event, []).append({**group, "hooks": [wanted]})
            (repaired if spec.event in before else added).append(spec.event)
        elif place.value != wanted:
            text = json_edit.replace(text, place.entry, wanted, style)
            ours = list(_list_ours(text))
            repaired.append(spec.event)
    text = _add_groups(text, missing, style)
    # Only now, so that a container which they alone had filled keeps its place in the file.
    dropped: list[str] = []
    while misplaced := _first_misplaced(text, installer):
        dropped.append(misplaced.event)
        text = _take_out(text, misplaced, None)
    repaired += [event for event in dropped if event in events]
    removed = [event for event in dropped if event not in events]
    if not (added or repaired or removed):
        return SettingsEdit(settings_text)
    _require_same_rest(settings_text, text)
    return SettingsEdit(text, tuple(added), tuple(dict.fromkeys(repaired)), tuple(removed))


def remove_hooks(settings_text: str, base_text: str | None) -> SettingsEdit:
    """The text without our entries, and without containers that only they filled.

    ``base_text`` is the file before the install, where known: containers that it had stay, and
    empty ones come back as they were written.
    """
    base = None if base_text is None or is_blank(base_text) else base_text
    text, removed = settings_text, []
    while place := next(_list_ours(text), None):
        text = _take_out(text, place, base)
        removed.append(place.event)
    if removed and _parse_pairs(text) != _strip_ours(
        _parse_pairs(settings_text), base and _parse_pairs(base)
    ):
        raise UnsafeEdit("removing Holdfast's entries would have changed something else")
    return SettingsEdit(text, removed=tuple(removed))


def _list_ours(text: str) -> Iterator[HookLocation]:
    return (place for place in list_hook_locations(text) if is_holdfast_hook(place.value))


def _require_shape(text: str) -> None:
    """What an install asks beyond valid JSON: the client ignores the rest of a wrong shape."""
    hooks = parse_root(text).get("hooks")
    if hooks is None:
        return
    if hooks.kind != "object":
        raise invalid_at(text, hooks, '"hooks" must be an object of events, { ... }')
    for member in hooks.members:
        if member.value.kind != "array":
            reason = f"the event {json.dumps(member.key)} must be a list of groups, [ ... ]"
            raise invalid_at(text, member.value, reason)


def _stands_well(place: HookLocation, spec: HookSpec) -> bool:
    matcher = None if place.matcher in ("", "*") else place.matcher
    return (place.event, matcher) == (spec.event, spec.matcher)


def _first_misplaced(text: str, installer: Installer) -> HookLocation | None:
    seen: set[str] = set()
    for place in _list_ours(text):
        if place.event in seen or not any(_stands_well(place, spec) for spec in installer.hooks):
            return place
        seen.add(place.event)
    return None


def _add_groups(text: str, missing: dict[str, list[dict[str, Any]]], style: json_edit.Style) -> str:
    """With these groups. A file is looked through once for all new events, not once for each."""
    root = parse_root(text)
    hooks = root.get("hooks")
    if hooks is None or not missing:
        return json_edit.add_members(text, root, {"hooks": missing}, style) if missing else text
    fresh = {event: groups for event, groups in missing.items() if hooks.get(event) is None}
    if fresh:
        text = json_edit.add_members(text, hooks, fresh, style)
    for event, groups in missing.items():
        for group in groups if event not in fresh else ():
            there = (parse_root(text).get("hooks") or hooks).get(event)
            text = json_edit.add_item(text, there, group, style) if there else text
    return text


def _take_out(text: str, place: HookLocation, base: str | None) -> str:
    """Without this entry; then, from the inside out, without what it alone had filled."""
    if len(place.entries.items) > 1 or not _is_plain_group(m.key for m in place.group.members):
        return json_edit.remove_item(text, place.entries, place.entry)
    if len(place.groups.items) > 1:
        return json_edit.remove_item(text, place.groups, place.group)
    base_root = None if base is None else parse_root(base)
    base_hooks = base_root and base_root.get("hooks")
    base_event = base_hooks and base_hooks.get(place.event)
    if base_event:
        return _empty_node(text, place.groups, base or "", base_event)
    root = parse_root(text)
    hooks = root.get("hooks")
    if hooks is None or len(hooks.members) > 1:
        return json_edit.remove_member(text, hooks or root, place.event)
    if base_hooks:
        return _empty_node(text, hooks, base or "", base_hooks)
    if base_root and len(root.members) == 1:
        return _empty_node(text, root, base or "", base_root)
    return json_edit.remove_member(text, root, "hooks")


def _is_plain_group(keys: Iterable[str]) -> bool:
    """A group with more in it belongs to the user, and stays when our entry goes."""
    return set(keys) <= {"matcher", "hooks"}


def _empty_node(text: str, node: Node, base: str, base_node: Node) -> str:
    filled = base_node.members or base_node.items
    brackets = text[node.start] + text[node.end - 1]
    before = brackets if filled else base[base_node.start : base_node.end]
    return text[: node.start] + before + text[node.end :]


def _parse_pairs(text: str) -> Any:
    """The document by the standard parser, order and repeats kept: an object is a tuple of pairs.

    Numbers stay as written, in bytes, so that 1, 1.0 and true are three things.
    """
    if is_blank(text):
        return ()
    return json.loads(text, object_pairs_hook=tuple, parse_int=str.encode, parse_float=str.encode)


def _require_same_rest(before: str, after: str) -> None:
    want = _strip_ours(_parse_pairs(before), None)
    if _strip_ours(_parse_pairs(after), want) != want:
        raise UnsafeEdit("adding Holdfast's entries would have changed something else")


def _strip_ours(document: Any, like: Any) -> Any:
    """A parsed document without our entries; ``like`` names the emptied containers that stay."""
    like_hooks = dict(like or ()).get(HOOKS_KEY)
    members = []
    for key, value in document:
        rest = value
        if key == HOOKS_KEY and isinstance(value, tuple):
            rest = _stripped_events(value, dict(like_hooks or ()))
        if rest == value or rest or like_hooks is not None:
            members.append((key, rest))
    return tuple(members)


def _stripped_events(events: Any, kept: dict[str, Any]) -> Any:
    members = []
    for event, groups in events:
        rest = groups
        if isinstance(groups, list):
            rest = [left for group in groups for left in _stripped_group(group)]
        if rest or not groups or event in kept:
            members.append((event, rest))
    return tuple(members)


def _stripped_group(group: Any) -> list[Any]:
    """The group without our entries, as a list: of none, where only they were in it."""
    entries = dict(group).get("hooks") if isinstance(group, tuple) else None
    if not isinstance(entries, list):
        return [group]
    rest = [e for e in entries if not (isinstance(e, tuple) and is_holdfast_hook(dict(e)))]
    if len(rest) == len(entries):
        return [group]
    if not rest and _is_plain_group(key for key, _ in group):
        return []
    return [tuple((key, rest if key == "hooks" else value) for key, value in group)]


def build_command(launcher: Launcher, wrapped: str) -> str:
    ours = shlex.join(launcher.build_argv(STATUSLINE_EVENT))
    if not wrapped:
        return ours
    theirs = shlex.quote(wrapped)
    return f"{ours} {theirs} || /bin/sh -c {theirs}"


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
    _, command = _find_statusline(settings_text)
    return command is not None and unwrap_command(command.value(settings_text)) is not None


def _find_statusline(text: str) -> tuple[Node | None, Node | None]:
    """The status line that is there, and its command."""
    node = parse_root(text).get(STATUSLINE_KEY)
    return node, node.get("command") if node and node.kind == "object" else None


def add_statusline(settings_text: str, launcher: Launcher) -> str:
    """The text with our status line, around what was there; unchanged when it is up to date."""
    text = "{}\n" if is_blank(settings_text) else settings_text
    root = parse_root(text)
    style = json_edit.style_of(text, root)
    node, there = _find_statusline(text)
    if node is not None and node.kind != "object":
        raise invalid_at(text, node, f'"{STATUSLINE_KEY}" must be an object, {{ ... }}')
    before = there.value(text) if there else None
    inside = unwrap_command(before)
    if inside is None:
        inside = before if isinstance(before, str) else ""
    wanted = build_command(launcher, inside)
    if before == wanted:
        return settings_text
    if there is not None:
        after = json_edit.replace(text, there, wanted, style)
    elif node is not None:
        after = json_edit.add_members(text, node, {"command": wanted}, style)
    else:
        value = {"type": "command", "command": wanted}
        after = json_edit.add_members(text, root, {STATUSLINE_KEY: value}, style)
    return _require_others_kept(text, after)


def remove_statusline(settings_text: str, base_text: str | None) -> str:
    """The text without ours: the user's own command is back, or no status line at all."""
    text, (node, there) = settings_text, _find_statusline(settings_text)
    inside = unwrap_command(there.value(text)) if there else None
    if node is None or there is None or inside is None:
        return text
    if inside:
        spelled = _spell_as_before(inside, base_text)
        after = text[: there.start] + spelled + text[there.end :]
    elif {member.key for member in node.members} <= {"type", "command"}:
        root = parse_root(text)
        if len(root.members) == 1 and base_text and not is_blank(base_text):
            after = _empty_node(text, root, base_text, parse_root(base_text))
        else:
            after = json_edit.remove_member(text, root, STATUSLINE_KEY)
    else:
        after = json_edit.remove_member(text, node, "command")
    return _require_others_kept(text, after)


def _spell_as_before(command: str, base_text: str | None) -> str:
    """The command as JSON: as the file before had it, where that says the same."""
    _, there = _find_statusline(base_text or "")
    if base_text and there and there.value(base_text) == command:
        return base_text[there.start : there.end]
    return json.dumps(command, ensure_ascii=False)


def _require_others_kept(before: str, after: str) -> str:
    """Nothing but the status line may differ, by an independent parser."""
    if _parse_others(before) != _parse_others(after):
        raise UnsafeEdit("changing the status line would have changed something else")
    return after


def _parse_others(text: str) -> Any:
    rest = []
    for key, value in _parse_pairs(text):
        if key == STATUSLINE_KEY and isinstance(value, tuple):
            value = tuple(p for p in value if p[0] not in ("type", "command"))
        if (key, value) != (STATUSLINE_KEY, ()):
            rest.append((key, value))
    return tuple(rest)
