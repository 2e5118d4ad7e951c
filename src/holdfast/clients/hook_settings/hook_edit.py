"""Puts our entries into a settings text, and takes them out again.

Owns the two edits. Each changes our entries and nothing else, is read back with an independent
parser before anyone gets it, and is refused when the rest would not mean the same.
Must not open a file, and must not touch another tool's entry, even one in the same group as ours.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings.hook_entries import (
    HookLocation,
    HookTable,
    invalid_at,
    is_blank,
    is_holdfast_hook,
    list_hook_locations,
    parse_root,
)
from holdfast.clients.installation import HookSpec, UnsafeEdit
from holdfast.settings import json_edit
from holdfast.settings.json_edit import Node


class SettingsEdit(NamedTuple):
    """A text after an edit, and the events whose entries were touched."""

    text: str
    added: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def add_hooks(settings_text: str, launcher: Launcher, table: HookTable) -> SettingsEdit:
    """The text with our entries, each exactly once and up to date; the rest as it was.

    An entry that only points elsewhere is replaced where it stands. One that cannot work where it
    stands (an event we no longer use, a second copy, a group whose matcher narrows it) goes.
    """
    text = "{}\n" if is_blank(settings_text) else settings_text
    _require_shape(text)
    style = json_edit.style_of(text, parse_root(text))
    before = {place.event for place in _ours(text)}
    events = {spec.event for spec in table.hooks}
    repaired: list[str] = []
    added: list[str] = []
    for spec in table.hooks:
        wanted = table.build_entry(spec, launcher)
        place = next((p for p in _ours(text) if _stands_well(p, spec)), None)
        if place is None:
            text = _add_group(text, spec, wanted, style)
            (repaired if spec.event in before else added).append(spec.event)
        elif place.value != wanted:
            text = json_edit.replace(text, place.entry, wanted, style)
            repaired.append(spec.event)
    # Only now, so that a container which they alone had filled keeps its place in the file.
    dropped: list[str] = []
    while misplaced := _first_misplaced(text, table):
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
    while place := next(_ours(text), None):
        text = _take_out(text, place, base)
        removed.append(place.event)
    if removed and _parsed(text) != _stripped(_parsed(settings_text), base and _parsed(base)):
        raise UnsafeEdit("removing Holdfast's entries would have changed something else")
    return SettingsEdit(text, removed=tuple(removed))


def _ours(text: str) -> Iterator[HookLocation]:
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


def _first_misplaced(text: str, table: HookTable) -> HookLocation | None:
    seen: set[str] = set()
    for place in _ours(text):
        if place.event in seen or not any(_stands_well(place, spec) for spec in table.hooks):
            return place
        seen.add(place.event)
    return None


def _add_group(text: str, spec: HookSpec, entry: dict[str, Any], style: json_edit.Style) -> str:
    group: dict[str, Any] = {} if spec.matcher is None else {"matcher": spec.matcher}
    group["hooks"] = [entry]
    root = parse_root(text)
    hooks = root.get("hooks")
    if hooks is None:
        return json_edit.add_member(text, root, "hooks", {spec.event: [group]}, style)
    groups = hooks.get(spec.event)
    if groups is None:
        return json_edit.add_member(text, hooks, spec.event, [group], style)
    return json_edit.add_item(text, groups, group, style)


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
        return _emptied(text, place.groups, base or "", base_event)
    root = parse_root(text)
    hooks = root.get("hooks")
    if hooks is None or len(hooks.members) > 1:
        return json_edit.remove_member(text, hooks or root, place.event)
    if base_hooks:
        return _emptied(text, hooks, base or "", base_hooks)
    if base_root and len(root.members) == 1:
        return _emptied(text, root, base or "", base_root)
    return json_edit.remove_member(text, root, "hooks")


def _is_plain_group(keys: Iterable[str]) -> bool:
    """A group that somebody wrote more into is theirs, and stays when our entry goes."""
    return set(keys) <= {"matcher", "hooks"}


def _emptied(text: str, node: Node, base: str, base_node: Node) -> str:
    filled = base_node.members or base_node.items
    brackets = text[node.start] + text[node.end - 1]
    before = brackets if filled else base[base_node.start : base_node.end]
    return text[: node.start] + before + text[node.end :]


def _require_same_rest(before: str, after: str) -> None:
    want = _stripped(_parsed(before), None)
    if _stripped(_parsed(after), want) != want:
        raise UnsafeEdit("adding Holdfast's entries would have changed something else")


def _parsed(text: str) -> Any:
    """The document by the standard parser, order and repeats kept: an object is a tuple of pairs.

    Numbers stay as written, in bytes, so that 1, 1.0 and true are three things.
    """
    if is_blank(text):
        return ()
    return json.loads(text, object_pairs_hook=tuple, parse_int=str.encode, parse_float=str.encode)


def _stripped(document: Any, like: Any) -> Any:
    """A parsed document without our entries; ``like`` names the emptied containers that stay."""
    like_hooks = dict(like or ()).get("hooks")
    kept_events = dict(like_hooks or ())
    members = []
    for key, value in document:
        if key == "hooks" and isinstance(value, tuple):
            events = _stripped_events(value, kept_events)
            if value and not events and like_hooks is None:
                continue
            members.append((key, events))
        else:
            members.append((key, value))
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
