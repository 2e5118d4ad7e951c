"""Identifiers: the exact values that a paraphrase destroys.

Ports, URLs, tickets, commits, environment settings, and the session's branch. Each keeps the
line in which it last stood, because a bare value says nothing.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from holdfast.events import AgentSaid, CommandRan, LinkSeen, Origin, SessionSeen, UserSaid
from holdfast.lazy_regex import lazy_compile
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, Position, next_number, put_record
from holdfast.state.prose import has_any

MAX_IDENTIFIERS = 120
MAX_VALUE_CHARS = 200  # a longer one is not kept: cut short it would be another
MAX_CONTEXT_CHARS = 140
MAX_SCAN_CHARS = 4000
MAX_OUTPUT_CHARS = 2000  # of what a command printed: its end
MAX_COMMITS_PER_TEXT = 8  # of one text: a log of a hundred commits is not what is being worked on

_URL = lazy_compile(r"https?://[^\s\"'<>()\[\]{}`|\\]+[^\s\"'<>()\[\]{}`|\\.,;:!?*]")
_PORT = lazy_compile(
    r"(?:\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):"
    r"|\bports?\b(?: (?:is|number|to|on))?[ =:]+|--port[= ]|\bPORT=)"
    r"(\d{2,5})\b",
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
    r"^(?:UTF|SHA|ISO|RFC|AES|RSA|MD|TLS|CVE|HTTP|GPT|BASE|INT|UINT|X|ADR|ARM|H|V|P|ES|IPV|EC|CP)\d*-"
)
# Whole values only, and none that the shell makes: `X=$(date)` says nothing exact.
_ENVIRONMENT = lazy_compile(
    r"(?:^|\s|export )([A-Z][A-Z0-9_]{2,40}="
    r"(?:\"[^\"$`]{0,80}\"|'[^']{0,80}'|[^\s;&|\"'$`()]{1,80})(?=$|[\s;&|]))"
)
# Stands in every one of them, and begins with a plain character.
_ENVIRONMENT_CUE = lazy_compile(r"=(?<=[A-Z0-9_]{3}=)")


# What may stand in a commit's name as "0", the rest as a space: seven of them in a row are five
# times as quick to find as by a pattern on the text itself.
_HEX = bytes(48 if chr(code) in "0123456789abcdef" else 32 for code in range(256))
_HASH = b"0" * 7
_HASH_LENGTHS = frozenset((7, 8, 9, 10, 11, 12, 40))
# Words beside a hash that make it a commit's, and those that make it something else's.
_OF_COMMIT = lazy_compile(
    r"\b(?:commit\w*|sha|rev(?:ision|ert\w*)?|head|merge[ds]?|cherry|branch|git|tag(?:ged)?|rebase[ds]?"
    r"|push(?:ed)?|landed|main|master|bisect|introduced|fixed (?:in|by))\b",
    re.I,
)
_OF_OTHERS = lazy_compile(
    r"^index |\b(?:sha256|sha512|md5|checksum|digest|integrity|etag|container|image id|uuid)\b",
    re.I,
)


# What is said right before a hash of which another is said to be one.
_NAMED_OTHERWISE = lazy_compile(
    r"\b(?:keys?|colou?rs?|ids?|tokens?|values?|address(?:es)?|pointers?|containers?|images?|layers?"
    r"|digests?|checksums?|etags?|uuids?|seeds?|nonces?|salts?|masks?|flags?|offsets?)\b[^,;]{0,12}\Z",
    re.I,
)
_BEFORE_CHARS = 40
_GIT = lazy_compile(r"(?:^|[\s;&|(/\"'])(?:git|gh)\s")


class Identifier(NamedTuple):
    number: int
    category: str  # port | url | ticket | commit | environment | branch | link
    value: str
    context: str
    typed: int  # in the words or commands of the user and the agent
    seen: int  # in output
    status: str
    step: int
    at: Origin


Table = dict[str, Identifier]


def _note(
    table: Table, sort: str, value: str, line: str, typed: bool, position: Position, at: Origin
) -> Table:
    if len(value) > MAX_VALUE_CHARS:
        return table
    key = truncate_safely(f"{sort} {value}", 220)
    known = table.get(key)
    number = known.number if known else next_number(table)
    context = truncate_safely(line.strip(), MAX_CONTEXT_CHARS)
    if known and not typed and known.typed:
        context = known.context  # what was said about it beats where it scrolled past
    identifier = Identifier(
        number,
        sort,
        value,
        context,
        (known.typed if known else 0) + typed,
        (known.seen if known else 0) + (not typed),
        OPEN,
        position.step,
        at,
    )
    return put_record(table, key, identifier, MAX_IDENTIFIERS, lambda i: not i.typed)


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


def _is_asked(text: str, place: int) -> bool:
    """Whether the sentence that goes on here is a question: it states no value."""
    end = _SENTENCE_END.search(text, place)
    return end is not None and end.group() == "?"


def _scan(
    table: Table, text: str, typed: bool, position: Position, at: Origin, *, words: bool = False
) -> Table:
    """`words` says that somebody said it, where a command would have used it."""
    if "://" in text:
        for found in islice(_URL.finditer(text), 12):
            line = _line_around(text, *found.span())
            table = _note(table, "url", found.group(), line, typed, position, at)
    if has_any(text, _PORT_CUES) and _names_port(text.lower()):
        for found in islice(_PORT.finditer(text), 6):
            if int(found.group(1)) <= 65535 and not (words and _is_asked(text, found.end())):
                line = _line_around(text, *found.span())
                table = _note(table, "port", found.group(1), line, typed, position, at)
    if "-" in text:
        for start, end in islice(_tickets(text), 12):
            ticket = text[start:end]
            if not _NOT_TICKETS.match(ticket):
                line = _line_around(text, start, end)
                table = _note(table, "ticket", ticket, line, typed, position, at)
    return table


def _names_port(lowered: str) -> bool:
    return has_any(lowered, _PORT_HOSTS) or _PORT_WORD.search(lowered) is not None


def _tickets(text: str) -> Iterator[tuple[int, int]]:
    for found in _TICKET.finditer(text):
        dash = found.start()
        key = _TICKET_KEY.search(text, max(0, dash - 11), dash)
        if key:
            yield key.start(), found.end()


def _scan_commits(
    table: Table, text: str, typed: bool, position: Position, at: Origin, *, words: bool = False
) -> Table:
    """In words a commit is named as one, or known; what git prints may be of other things too."""
    for start, end in islice(_hashes(text), MAX_COMMITS_PER_TEXT):
        line = _line_around(text, start, end)
        value = text[start : min(end, start + 10)]
        if words:
            if f"commit {value}" not in table and not _is_called_commit(text, start, line):
                continue
        elif _OF_OTHERS.search(line):
            continue
        table = _note(table, "commit", value, line, typed, position, at)
    return table


def _is_called_commit(text: str, start: int, line: str) -> bool:
    before = text[max(0, start - _BEFORE_CHARS) : start]
    return _OF_COMMIT.search(line) is not None and _NAMED_OTHERWISE.search(before) is None


def _hashes(text: str) -> Iterator[tuple[int, int]]:
    """Where what may be a commit's name begins and ends."""
    # One byte for each character, so that both have the same places.
    marks = text.encode("ascii", "replace").translate(_HEX) + b" "
    start = marks.find(_HASH)
    while start >= 0:
        end = marks.find(b" ", start)
        if end - start in _HASH_LENGTHS:
            value = text[start:end]
            # A word of letters or a plain number is no hash.
            if not (value.isdigit() or value.isalpha()) and not (
                _in_word(text, start - 1) or _in_word(text, end)
            ):
                yield start, end
        start = marks.find(_HASH, end)


def _in_word(text: str, place: int) -> bool:
    """Whether a longer name goes on at this place."""
    if not 0 <= place < len(text):
        return False
    character = text[place]
    return character.isalnum() or character in "_-"


def on_user_said(table: Table, event: UserSaid, position: Position) -> Table:
    text = event.text[: MAX_SCAN_CHARS * 2]
    table = _scan(table, text, True, position, event.at, words=True)
    return _scan_commits(table, text, True, position, event.at, words=True)


def on_agent_said(table: Table, event: AgentSaid, position: Position) -> Table:
    text = event.text[: MAX_SCAN_CHARS * 2]
    table = _scan(table, text, True, position, event.at, words=True)
    return _scan_commits(table, text, True, position, event.at, words=True)


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    command = event.command[:MAX_SCAN_CHARS]
    table = _scan(table, command, True, position, event.at)
    if _ENVIRONMENT_CUE.search(command):
        for found in islice(_ENVIRONMENT.finditer(command), 6):
            value = truncate_safely(found.group(1), 160)
            table = _note(table, "environment", value, command, True, position, event.at)
    output = (
        event.output if len(event.output) <= MAX_OUTPUT_CHARS else event.output[-MAX_OUTPUT_CHARS:]
    )
    table = _scan(table, output, False, position, event.at)
    if _GIT.search(command):
        table = _scan_commits(table, command, True, position, event.at)
        table = _scan_commits(table, output, False, position, event.at)
    return table


def on_session_seen(table: Table, event: SessionSeen, position: Position) -> Table:
    """The branch: one at a time. Leaving a branch supersedes it."""
    if not event.branch or event.at.agent:
        return table
    key = f"branch {event.branch}"
    known = table.get(key)
    if known is not None and known.status == OPEN:
        return table
    table = {
        name: item._replace(status=SUPERSEDED) if item.category == "branch" else item
        for name, item in table.items()
    }
    return _note(
        table, "branch", event.branch, f"on branch {event.branch}", True, position, event.at
    )


def on_link_seen(table: Table, event: LinkSeen, position: Position) -> Table:
    return _note(table, "link", event.url, event.label, True, position, event.at)


def list_facts(table: Table) -> Iterator[Fact]:
    for item in table.values():
        text = f"{item.category} {item.value}"
        yield Fact(f"i{item.number}", "identifier", text, item.status, item.at, item.context)
