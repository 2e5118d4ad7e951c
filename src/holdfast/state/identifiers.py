"""Identifiers: the exact values that a paraphrase destroys.

Ports, URLs, tickets and environment settings. Each keeps the line in which it last stood, because
a bare value says nothing.
"""

import re
from collections.abc import Iterator
from itertools import islice

from holdfast.events import AgentSaid, CommandRan, LinkSeen, Origin, UserSaid
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import OPEN, Fact, FactKind, Position
from holdfast.state.prose import has_any

MAX_IDENTIFIERS = 120
MAX_VALUE_CHARS = 200  # a longer one is not kept: cut short it would be another
MAX_CONTEXT_CHARS = 140
MAX_SCAN_CHARS = 4000
MAX_TICKETS = 12  # of one text
MAX_OUTPUT_CHARS = 2000  # of what a command printed: its end

_URL = lazy_compile(r"https?://[^\s\"'<>()\[\]{}`|\\]+[^\s\"'<>()\[\]{}`|\\.,;:!?*]")
_PORT = lazy_compile(
    r"(?:\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):|\bports?\b(?: (?:is|number|to"
    r"|on))?[ =:]+|--port[= ]|\bPORT=)(\d{2,5})\b",
    re.I,
)
# What every port has before it, in small letters; "port" alone stands in every import.
_PORT_HOSTS = ("localhost:", "127.0.0.1:", "0.0.0.0:", "[::")
# And in the letters in which people write it: asked before the whole text is made small.
_PORT_CUES = ("ort", "ORT", "ost:", "OST:", ".0.0.", "[::")
_PORT_WORD = lazy_compile(r"ports?(?: (?:is|number|to|on))?[ =:]+\d\d")
_SENTENCE_END = lazy_compile(r"[?\n]|[.!](?=\s|$)")
# Begins with the dash, a plain character, for which `re` looks quickly; the rest is checked
# backwards from there.
_TICKET = lazy_compile(r"-(?<=[A-Z0-9]-)\d{1,6}\b")
_TICKET_KEY = lazy_compile(r"\b[A-Z][A-Z0-9]{1,9}\Z")
_NOT_TICKETS = lazy_compile(
    r"(?:UTF|SHA|ISO|RFC|AES|RSA|MD|TLS|CVE|HTTP|GPT|BASE|INT|UINT|X|ADR|ARM|H|V|P|ES|IPV|EC"
    r"|CP)\d*-"
)
# Whole values only, and none that the shell makes: `X=$(date)` says nothing exact.
_ENVIRONMENT = lazy_compile(
    r"(?:^|\s|export )([A-Z][A-Z0-9_]{2,40}=(?:\"[^\"$`]{0,80}\"|'[^']{0,80}'"
    r"|[^\s;&|\"'$`()]{1,80})(?=$|[\s;&|]))"
)
# Stands in every one of them, and begins with a plain character.
_ENVIRONMENT_CUE = lazy_compile(r"=(?<=[A-Z0-9_]{3}=)")


class Identifier(NamedTuple):
    number: int
    category: str  # port | url | ticket | environment | link
    value: str
    context: str
    typed: int  # in the words or commands of the user and the agent
    seen: int  # in output
    status: str
    step: int
    at: Origin

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, Identifier]


def _note_identifier(
    table: Table, sort: str, value: str, line: str, typed: bool, position: Position, at: Origin
) -> Table:
    if len(value) > MAX_VALUE_CHARS:
        return table
    key = truncate_safely(f"{sort} {value}", 220)
    known = table.get(key)
    context = truncate_safely(line.strip(), MAX_CONTEXT_CHARS)
    if known is None:
        number = facts.next_number(table)
        known = Identifier(number, sort, value, context, 0, 0, OPEN, position.step, at)
    elif not context or (not typed and known.typed):
        context = known.context  # what was said about it beats where it scrolled past
    counted = known._replace(typed=known.typed + typed, seen=known.seen + (not typed))
    identifier = counted._replace(context=context, step=position.step, at=at)
    return facts.put_record(table, key, identifier, MAX_IDENTIFIERS, lambda i: not i.typed)


def _line_around(text: str, start: int, end: int) -> str:
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)]
    if len(line) <= MAX_CONTEXT_CHARS:
        return line
    offset = max(0, start - first - 50)
    if offset:
        offset = line.find(" ", offset, start - first) + 1 or offset  # not in mid-word
    window = line[offset : offset + MAX_CONTEXT_CHARS - 2]
    if offset + len(window) < len(line):
        # Half an address at the end would read as another one.
        window = window[: max(window.rfind(" "), 0)] + "…"
    return ("…" if offset else "") + window


def _scan_text(
    table: Table, text: str, typed: bool, position: Position, at: Origin, *, words: bool = False
) -> Table:
    """`words` says that somebody said it, where a command would have used it."""
    for sort, start, end in _find_values(text, words):
        # A command that holds a ticket says nothing of it.
        line = _line_around(text, start, end) if words or not typed or sort != "ticket" else ""
        table = _note_identifier(table, sort, text[start:end], line, typed, position, at)
    return table


def _find_values(text: str, words: bool) -> Iterator[tuple[str, int, int]]:
    if "://" in text:
        for found in islice(_URL.finditer(text), 12):
            yield "url", *found.span()
    lowered = text.lower() if has_any(text, _PORT_CUES) else ""
    if lowered and (has_any(lowered, _PORT_HOSTS) or _PORT_WORD.search(lowered)):
        for found in islice(_PORT.finditer(text), 6):
            stop = _SENTENCE_END.search(text, found.end()) if words else None
            asked = stop is not None and stop.group() == "?"  # a question states no value
            if int(found[1]) <= 65535 and not asked:
                yield "port", *found.span(1)
    yield from islice(_find_tickets(text), MAX_TICKETS)


def find_tickets(text: str) -> list[str]:
    """The ids of tickets or documents in a text, as CR-096, in order."""
    return [text[start:end] for _, start, end in islice(_find_tickets(text), MAX_TICKETS)]


def _find_tickets(text: str) -> Iterator[tuple[str, int, int]]:
    for found in _TICKET.finditer(text):
        dash, end = found.span()
        key = _TICKET_KEY.search(text, max(0, dash - 11), dash)
        if key is None or text[max(0, key.start() - 1)] in "-_":  # REQ-FOO-003 is no FOO-003
            continue
        if not _NOT_TICKETS.match(text, key.start(), end):
            yield "ticket", key.start(), end


def on_user_said(table: Table, event: UserSaid | AgentSaid, position: Position) -> Table:
    text = event.text[: MAX_SCAN_CHARS * 2]
    return _scan_text(table, text, True, position, event.at, words=True)


on_agent_said = on_user_said


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    command = event.command[:MAX_SCAN_CHARS]
    table = _scan_text(table, command, True, position, event.at)
    if _ENVIRONMENT_CUE.search(command):
        for found in islice(_ENVIRONMENT.finditer(command), 6):
            value = truncate_safely(found.group(1), 160)
            table = _note_identifier(table, "environment", value, command, True, position, event.at)
    return _scan_text(table, event.output[-MAX_OUTPUT_CHARS:], False, position, event.at)


def on_link_seen(table: Table, event: LinkSeen, position: Position) -> Table:
    return _note_identifier(table, "link", event.url, event.label, True, position, event.at)


def list_facts(table: Table) -> Iterator[Fact]:
    for item in table.values():
        text = f"{item.category} {item.value}"
        yield Fact(item.fact_id, KIND.name, text, item.status, item.at, item.context)


KIND = FactKind(
    "identifier",
    "i",
    Identifier,
    list_facts,
    called="Exact value",
    gap=facts.AskedInGap("Exact value", most=8, rank=11),
    status_words={OPEN: "known"},
)
