"""The gate: no fact is made of a text before its secrets are out.

Events pass it before anything hears them (`session.follow`), a batch at a time: one scan over all
their texts instead of one per text. A password is known by what stands around it, and words that
became symbols, identifiers or search words have nothing around them any more; so the texts are
redacted and not the state. Colours and other terminal codes go with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args, get_type_hints

from holdfast import events as ev
from holdfast.redact import redact, redact_bytes, redact_lines, redact_many, strip_codes
from holdfast.redact.private_keys import find_key_lines
from holdfast.state.symbols import MAX_SEARCH_CHARS, MAX_SEEN_CHARS, MAX_TYPED_CHARS
from holdfast.state.touched_files import MAX_HUNKS

# How much behind what is read of a text is looked at: a secret may begin before the cut.
_MARGIN = 600
# What the client chose from a few words of its own, or made up to tell rows apart.
_NO_TEXT = frozenset("how by standing trigger status model session_id task job client kind".split())
_READ = MAX_SEEN_CHARS + _MARGIN
_WRITTEN = MAX_TYPED_CHARS + _MARGIN
_FOUND = MAX_SEARCH_CHARS + _MARGIN
# Of a key that stands in a diff without its heading, a line has one of these lengths.
_KEY_LENGTHS = frozenset((64, 65, 70, 71))
# A question about one of these is answered with it.
_ASKED = ("password", "passphrase", "passcode", "passwd", " pw", "pin code")


def redact_document(document: Any) -> tuple[Any, bool]:
    """The JSON-able document without secrets, and whether there were any."""
    data = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    clean = redact_bytes(data)
    if clean == data:
        return document, False
    return json.loads(clean), True


def redact_events(events: Sequence[ev.Event]) -> list[ev.Event]:
    """The events as everything that keeps or shows something of them hears them."""
    texts: list[str] = []
    owners: list[tuple[int, int]] = []  # which event, which of its fields
    heard: list[Any] = []
    event: Any
    for event in events:
        fields, special = _HEARD.get(type(event), _NONE)
        if special is not None:
            event = special(event)
        for field in fields:
            text = event[field]
            if text:
                owners.append((len(heard), field))
                texts.append(text)
        if type(event) is ev.FileTouched:
            for number, hunk in enumerate(event.hunks):
                owners.append((len(heard), -1 - number))
                texts.append("\n".join(hunk.lines))
        heard.append(event)
    changed = {at for at, text in enumerate(texts) if "\x1b" in text}
    for at in changed:
        texts[at] = strip_codes(texts[at])
    clean = redact_many(texts)
    changed.update(clean)
    changed.update(at for at, text in enumerate(texts) if owners[at][1] < 0 and _may_be_key(text))
    for at in changed:
        _put(heard, *owners[at], clean.get(at, texts[at]))
    return heard


def _put(heard: list[Any], at: int, field: int, text: str) -> None:
    event = heard[at]
    if field >= 0:
        heard[at] = event._replace(**{event._fields[field]: text})
        return
    # A diff has one string for each line, of what may be one secret.
    hunks = list(event.hunks)
    lines = [strip_codes(line) for line in hunks[-1 - field].lines]
    hunks[-1 - field] = hunks[-1 - field]._replace(lines=redact_lines(lines))
    heard[at] = event._replace(hunks=tuple(hunks))


def _may_be_key(text: str) -> bool:
    lines = text.split("\n")
    return not _KEY_LENGTHS.isdisjoint(map(len, lines)) and bool(find_key_lines(lines))


def _file_touched(event: ev.FileTouched) -> ev.FileTouched:
    """Only what is heard of it: what an edit replaced is nowhere asked for."""
    most = _READ if event.action == "read" else _WRITTEN
    if len(event.hunks) > MAX_HUNKS:
        event = event._replace(hunks=event.hunks[:MAX_HUNKS])
    if event.before or len(event.text) > most:
        event = event._replace(text=event.text[:most], before="")
    return event


def _searched(event: ev.Searched) -> ev.Searched:
    return event if len(event.output) <= _FOUND else event._replace(output=event.output[:_FOUND])


def _user_said(event: ev.UserSaid) -> ev.UserSaid:
    asked = event.about.lower()
    if event.source == "answer" and any(word in asked for word in _ASKED):
        cleaned = redact(f"password is {event.text.strip()}")
        return event._replace(text=cleaned.removeprefix("password is "))
    return event


def _todos_set(event: ev.TodosSet) -> ev.TodosSet:
    return event._replace(
        todos=tuple(one._replace(content=_alone(one.content)) for one in event.todos)
    )


def _tasks_listed(event: ev.TasksListed) -> ev.TasksListed:
    return event._replace(tasks=tuple(map(_task_changed, event.tasks)))


def _task_changed(event: ev.TaskChanged) -> ev.TaskChanged:
    return event._replace(
        subject=event.subject and _alone(event.subject),
        description=event.description and _alone(event.description),
        owner=event.owner and _alone(event.owner),
    )


def _alone(text: str) -> str:
    return redact(strip_codes(text))


_SPECIAL: dict[type, Callable[[Any], Any]] = {
    ev.FileTouched: _file_touched,
    ev.Searched: _searched,
    ev.UserSaid: _user_said,
    ev.TodosSet: _todos_set,
    ev.TasksListed: _tasks_listed,
}


def _kinds() -> Iterator[tuple[type, tuple[tuple[int, ...], Callable[[Any], Any] | None]]]:
    for kind in get_args(ev.Event):
        texts = tuple(
            index
            for index, (name, hint) in enumerate(get_type_hints(kind).items())
            if hint in (str, str | None) and name not in _NO_TEXT
        )
        yield kind, (texts, _SPECIAL.get(kind))


_HEARD = dict(_kinds())
_NONE: tuple[tuple[int, ...], None] = ((), None)
