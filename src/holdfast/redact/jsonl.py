"""Redacts raw JSONL of any size without parsing what holds nothing suspicious.

Owns: the way from a secret in a decoded JSON string back to its bytes. Only the bytes of a secret
change, and the result is what redacting each string of the parsed row would give (a property test
holds that); a list of strings is also read as lines of one text, because that is how a diff
is written down, and a line of a private key that stands in the row goes wherever it stands there.
Must not: hold patterns; the bulk scan says where to look, the finders say what is a secret.

The scan reads the bytes as Latin-1, so that an offset in the text is an offset in the file.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from holdfast.redact.assignments import member_is_secret
from holdfast.redact.bulk_scan import find_candidates
from holdfast.redact.private_keys import find_key_lines, find_private_keys
from holdfast.redact.secret_patterns import LABEL_OPEN
from holdfast.redact.token_shapes import Span, compile_once, replace_spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.redactor import Redactor

# The scan needs a lower-case copy; chunks of whole lines keep that copy small.
_CHUNK = 256 * 1024

# A shorter line of a private key is its last one, or says nothing by itself.
MIN_KEY_LINE_CHARS = 24

_DIFF_MARKS = ("+", "-", " ")

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_NEXT_ROW = r"\n(?=[ \t]*[{\[\"])"
_ESCAPE = r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^u])"


def redact_rows(redactor: "Redactor", data: bytes) -> bytes:
    """Redact JSONL; lines that are no JSON are redacted as text."""
    raw = data.decode("latin-1")
    if redactor.extra:
        # No anchor is known for a user's pattern: every line is worth a look.
        hits = [match.start() for match in compile_once(r"[^\n]+").finditer(raw)]
    else:
        hits = sorted(set(_list_hits(data)))
    if not hits:
        return data
    pieces = []
    position = 0
    for start, end, is_row, inside in _cut_regions(raw, hits):
        pieces.append(data[position:start])
        if is_row:
            pieces.append(_redact_row(redactor, raw[start:end], [hit - start for hit in inside]))
        else:
            pieces.append(_as_text(redactor, data[start:end]))
        position = end
    pieces.append(data[position:])
    return b"".join(pieces)


def _list_hits(data: bytes) -> Iterator[int]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _CHUNK) + 1 or len(data)
        chunk = data[start:end]
        for hit in find_candidates(chunk.decode("latin-1"), chunk.lower().decode("latin-1")):
            yield start + hit
        start = end


def _cut_regions(raw: str, hits: Sequence[int]) -> Iterator[tuple[int, int, bool, Sequence[int]]]:
    """Cut out what to look at: a row by itself, other text up to the next row."""
    index = 0
    while index < len(hits):
        start = raw.rfind("\n", 0, hits[index]) + 1
        end = raw.find("\n", hits[index])
        end = len(raw) if end < 0 else end
        is_row = _is_json(raw[start:end])
        if not is_row:
            following = compile_once(_NEXT_ROW).search(raw, hits[index])
            end = following.start() if following else len(raw)
        after = bisect_left(hits, end, index)
        yield start, end, is_row, hits[index:after]
        index = after


def _is_json(line: str) -> bool:
    if not line.lstrip(" \t").startswith(("{", "[", '"')):
        return False
    try:
        json.loads(line)
    except RecursionError:
        return True  # deep, but JSON so far: keep it valid
    except ValueError:
        return False
    return True


def _as_text(redactor: "Redactor", region: bytes) -> bytes:
    text = region.decode("utf-8", "surrogateescape")
    return redactor.redact(text).encode("utf-8", "surrogateescape")


class _String:
    """One string of a row: where it stands, and its source before and after redaction."""

    __slots__ = ("body", "end", "hit", "is_name", "start")

    def __init__(self, start: int, end: int, body: str, hit: bool, is_name: bool) -> None:
        self.start, self.end, self.body, self.hit, self.is_name = start, end, body, hit, is_name


def _redact_row(redactor: "Redactor", row: str, hits: Sequence[int]) -> bytes:
    """Redact the strings that hold a hit, the member whose name holds one, and lists of lines."""
    strings = _list_strings(redactor, row, hits)
    changed: dict[int, str] = {}
    keys: set[str] = set()
    for index, string in enumerate(strings):
        label = None
        before = strings[index - 1] if index else None
        named = before is not None and row[before.end + 1 : string.start - 1].strip() == ":"
        if before is not None and named and before.hit:
            label = member_is_secret(_read_string(before.body), _read_string(string.body))
        if label is not None:
            changed[index] = f"{LABEL_OPEN}{label}]"
        elif string.hit:
            if "PRIVATE KEY" in string.body:
                keys |= list_key_lines(_read_string(string.body))
            redacted = _redact_string(redactor, string.body)
            if redacted != string.body:
                changed[index] = redacted
    for group in _join_lists(row, strings):
        _redact_lines(redactor, strings, group, changed, keys)
    if keys:
        for index, string in enumerate(strings):
            redacted = _without_lines(changed.get(index, string.body), keys)
            if redacted != string.body:
                changed[index] = redacted
    pieces = []
    position = 0
    for index in sorted(changed):
        string = strings[index]
        pieces.append(row[position : string.start].encode("latin-1"))
        pieces.append(changed[index].encode("utf-8", "surrogateescape"))
        position = string.end
    pieces.append(row[position:].encode("latin-1"))
    return b"".join(pieces)


def _list_strings(redactor: "Redactor", row: str, hits: Sequence[int]) -> list[_String]:
    found = []
    index = 0
    for match in compile_once(_STRING).finditer(row):
        start, end = match.start() + 1, match.end() - 1
        while index < len(hits) and hits[index] < match.start():
            index += 1
        hit = bool(redactor.extra) or (index < len(hits) and hits[index] < match.end())
        following = row[match.end() : match.end() + 8].lstrip(" \t\r\n")
        found.append(_String(start, end, _to_utf8(row[start:end]), hit, following.startswith(":")))
    return found


def _join_lists(row: str, strings: Sequence[_String]) -> list[list[int]]:
    """The strings that follow each other in a list, of which one has a hit."""
    groups: list[list[int]] = [[]]
    for index, string in enumerate(strings):
        last = strings[groups[-1][-1]] if groups[-1] else None
        if string.is_name or (last and row[last.end + 1 : string.start - 1].strip() != ","):
            groups.append([])
        if not string.is_name:
            groups[-1].append(index)
    return [group for group in groups if len(group) > 1 and any(strings[at].hit for at in group)]


def _redact_lines(
    redactor: "Redactor",
    strings: Sequence[_String],
    group: Sequence[int],
    changed: dict[int, str],
    keys: set[str],
) -> None:
    """Redact what spans several strings of a list: a diff has one string for each line."""
    lines = [_read_string(changed.get(index, strings[index].body)) for index in group]
    for at, spans in spans_of_lines(redactor, lines).items():
        if spans:
            index = group[at]
            body = changed.get(index, strings[index].body)
            keys |= set(filter(_is_key, (lines[at][a:b].strip() for a, b, _ in spans)))
            changed[index] = splice_labels(body, spans)


def spans_of_lines(redactor: "Redactor", lines: Sequence[str]) -> dict[int, list[Span]]:
    """What to replace in each of these lines because of the lines around it."""
    found: dict[int, list[Span]] = {}
    edges = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for start, end, label in redactor.spans("\n".join(lines)):
        first = bisect_right(edges, start) - 1
        last = bisect_right(edges, end - 1) - 1
        for at in range(first, last + 1):
            a, b = max(0, start - edges[at]), min(len(lines[at]), end - edges[at])
            if at > first and lines[at][:1] in _DIFF_MARKS:
                a = 1
            if b > a and not lines[at][a:b].isspace():
                found.setdefault(at, []).append((a, b, label))
    for at in find_key_lines(lines):
        a = len(lines[at]) - len(lines[at].lstrip("+- \t"))
        found.setdefault(at, [(a, len(lines[at].rstrip()), "private-key")])
    return found


def redact_lines(redactor: "Redactor", lines: Sequence[str]) -> tuple[str, ...]:
    """Redact lines of one text; each stays one line."""
    clean = [redactor.redact(line) for line in lines]
    for at, spans in spans_of_lines(redactor, clean).items():
        clean[at] = replace_spans(clean[at], spans)
    return tuple(clean)


def list_key_lines(text: str) -> set[str]:
    """The lines of the private keys in a text: they may stand in a diff without their heading."""
    found = find_private_keys(text)
    return {line for start, end, _ in found for line in text[start:end].split() if _is_key(line)}


def _is_key(line: str) -> bool:
    return (
        len(line) >= MIN_KEY_LINE_CHARS
        and compile_once(r"[A-Za-z0-9+/=]+\Z").match(line) is not None
    )


def _without_lines(body: str, keys: set[str]) -> str:
    for word in compile_once(rf"[A-Za-z0-9+/=]{{{MIN_KEY_LINE_CHARS},}}").findall(body):
        if word in keys:
            body = body.replace(word, f"{LABEL_OPEN}private-key]")
    return body


def _to_utf8(latin: str) -> str:
    return latin.encode("latin-1").decode("utf-8", "surrogateescape")


def _read_string(body: str) -> str:
    if "\\" not in body:
        return body
    text: str = json.loads(f'"{body}"', strict=False)
    return text


def _redact_string(redactor: "Redactor", body: str) -> str:
    return redactor.redact(body, read=_read_string, put=splice_labels)


def splice_labels(body: str, spans: Sequence[Span]) -> str:
    """Put labels into a JSON string's source, where the spans are those of its decoded text."""
    edges = _source_offsets(body, [edge for start, end, _ in spans for edge in (start, end)])
    labels = (label for _, _, label in spans)
    return replace_spans(body, list(zip(edges[::2], edges[1::2], labels, strict=True)))


def _source_offsets(body: str, decoded: Sequence[int]) -> list[int]:
    """Turn rising offsets in the decoded text into offsets in its source."""
    offsets = []
    shift = 0  # how much longer the source is than the text, so far
    escapes = compile_once(_ESCAPE).finditer(body)
    escape = next(escapes, None)
    for offset in decoded:
        while escape is not None and escape.start() - shift < offset:
            shift += escape.end() - escape.start() - 1
            escape = next(escapes, None)
        offsets.append(offset + shift)
    return offsets
