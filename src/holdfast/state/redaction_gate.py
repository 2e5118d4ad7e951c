"""The gate: no fact is made of a text before its secrets are out.

Events pass it before anything hears them (`session.follow`), a batch at a time: one scan over all
their texts instead of one per text. A password is known by what stands around it, and words that
became symbols, identifiers or search words have nothing around them any more; so the texts are
redacted and not the state. Colours and other terminal codes go with them.
"""

import json
from collections.abc import Callable, Sequence

from holdfast import events as ev
from holdfast.records import Any
from holdfast.redact import redact, redact_bytes, redact_lines, redact_many, strip_codes
from holdfast.redact.private_keys import find_key_lines
from holdfast.state.symbols import MAX_TYPED_CHARS
from holdfast.state.touched_files import MAX_HUNKS

# How much behind what is read of a text is looked at: a secret may begin before the cut.
_MARGIN = 600
# What the client chose from a few words of its own, or made up to tell rows apart.
_NO_TEXT = frozenset(
    "how by standing trigger status model session_id task job client kind began".split()
)
_WRITTEN = MAX_TYPED_CHARS + _MARGIN
_FOUND = 3000 + _MARGIN
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
        if (special := _SPECIAL.get(type(event))) is not None:
            event = special(event)
        for field in _TEXTS[type(event)]:
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
        _put_field(heard, *owners[at], clean.get(at, texts[at]))
    return heard


def _put_field(heard: list[Any], at: int, field: int, text: str) -> None:
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
    """Only what is heard of it: neither what was read nor what an edit replaced is asked for."""
    most = 0 if event.action == "read" else _WRITTEN
    if len(event.hunks) > MAX_HUNKS:
        event = event._replace(hunks=event.hunks[:MAX_HUNKS])
    if event.before or len(event.text) > most:
        event = event._replace(text=event.text[:most], before="")
    return event


def _user_said(event: ev.UserSaid) -> ev.UserSaid:
    asked = event.about.lower()
    if event.source == "answer" and any(word in asked for word in _ASKED):
        cleaned = redact(f"password is {event.text.strip()}")
        return event._replace(text=cleaned.removeprefix("password is "))
    return event


def _task_changed(event: ev.TaskChanged) -> ev.TaskChanged:
    return event._replace(
        subject=event.subject and _redact_alone(event.subject),
        description=event.description and _redact_alone(event.description),
        owner=event.owner and _redact_alone(event.owner),
    )


def _redact_alone(text: str) -> str:
    return redact(strip_codes(text))


_SPECIAL: dict[type, Callable[[Any], Any]] = {
    ev.FileTouched: _file_touched,
    ev.Searched: lambda event: event._replace(output=event.output[:_FOUND]),
    ev.UserSaid: _user_said,
    ev.TodosSet: lambda event: event._replace(
        todos=tuple(one._replace(content=_redact_alone(one.content)) for one in event.todos)
    ),
    ev.TasksListed: lambda event: event._replace(tasks=tuple(map(_task_changed, event.tasks))),
}
# Of each kind of event, the places of its texts.
_TEXTS: dict[type, tuple[int, ...]] = {
    kind: tuple(
        index
        for index, (name, hint) in enumerate(kind.__annotations__.items())
        if hint in (str, str | None) and name not in _NO_TEXT
    )
    for kind in ev.Event.__args__
}
