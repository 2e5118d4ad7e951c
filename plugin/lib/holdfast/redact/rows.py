"""Redacts raw JSONL of any size without parsing what holds nothing suspicious.

Owns: the way from a secret in a decoded JSON string back to its bytes. Only the bytes of a secret
change, and the result is what redacting each string of the parsed row would give (a property test
holds that).
Must not: hold patterns; the bulk scan says where to look, the finders say what is a secret.

The scan reads the bytes as Latin-1, so that an offset in the text is an offset in the file.
"""

import json
from collections.abc import Iterator, Sequence

from holdfast.redact.assignments import member_is_secret
from holdfast.redact.bulk import bulk_hits
from holdfast.redact.finders import Span, lazy
from holdfast.redact.patterns import LABEL_OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.engine import Redactor

# The scan needs a lower-case copy; chunks of whole lines keep that copy small.
_CHUNK = 256 * 1024

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_NEXT_ROW = r"\n(?=[ \t]*[{\[\"])"
_ESCAPE = r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^u])"


def redact_rows(redactor: "Redactor", data: bytes) -> bytes:
    """Redact JSONL; lines that are no JSON are redacted as text."""
    raw = data.decode("latin-1")
    if redactor.has_extra:
        # No anchor is known for a user's pattern: every line is worth a look.
        hits = [match.start() for match in lazy(r"[^\n]+").finditer(raw)]
    else:
        hits = sorted(set(_hits(data)))
    if not hits:
        return data
    pieces = []
    position = 0
    for start, end, is_row, inside in _regions(raw, hits):
        pieces.append(data[position:start])
        if is_row:
            pieces.append(_redact_row(redactor, raw[start:end], [hit - start for hit in inside]))
        else:
            pieces.append(_as_text(redactor, data[start:end]))
        position = end
    pieces.append(data[position:])
    return b"".join(pieces)


def _hits(data: bytes) -> Iterator[int]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _CHUNK) + 1 or len(data)
        chunk = data[start:end]
        for hit in bulk_hits(chunk.decode("latin-1"), chunk.lower().decode("latin-1")):
            yield start + hit
        start = end


def _regions(raw: str, hits: Sequence[int]) -> Iterator[tuple[int, int, bool, list[int]]]:
    """Cut out what to look at: a row by itself, other text up to the next row."""
    index = 0
    while index < len(hits):
        start = raw.rfind("\n", 0, hits[index]) + 1
        end = raw.find("\n", hits[index])
        end = len(raw) if end < 0 else end
        is_row = _is_json(raw[start:end])
        if not is_row:
            following = lazy(_NEXT_ROW).search(raw, hits[index])
            end = following.start() if following else len(raw)
        inside = []
        while index < len(hits) and hits[index] < end:
            inside.append(hits[index])
            index += 1
        yield start, end, is_row, inside


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


def _redact_row(redactor: "Redactor", row: str, hits: Sequence[int]) -> bytes:
    """Redact the strings that hold a hit, and the member whose name holds one."""
    pieces = []
    position = 0
    index = 0
    named: str | None = None
    named_end = 0
    for match in lazy(_STRING).finditer(row):
        while index < len(hits) and hits[index] < match.start():
            index += 1
        hit = redactor.has_extra or (index < len(hits) and hits[index] < match.end())
        if not hit and named is None:
            if index >= len(hits):
                break
            continue
        body = _utf8(row[match.start() + 1 : match.end() - 1])
        redacted = body
        label = None
        if named is not None and row[named_end : match.start()].strip() == ":":
            label = member_is_secret(named, _unescape(body))
        if label is not None:
            redacted = f"{LABEL_OPEN}{label}]"
        elif hit:
            redacted = _redact_string(redactor, body)
        named, named_end = (_unescape(body), match.end()) if hit else (None, 0)
        if redacted != body:
            pieces.append(row[position : match.start() + 1].encode("latin-1"))
            pieces.append(redacted.encode("utf-8", "surrogateescape"))
            position = match.end() - 1
    pieces.append(row[position:].encode("latin-1"))
    return b"".join(pieces)


def _utf8(latin: str) -> str:
    return latin.encode("latin-1").decode("utf-8", "surrogateescape")


def _unescape(body: str) -> str:
    if "\\" not in body:
        return body
    text: str = json.loads(f'"{body}"', strict=False)
    return text


def _redact_string(redactor: "Redactor", body: str) -> str:
    return redactor.until_clean(body, lambda raw: redactor.spans(_unescape(raw)), splice)


def splice(body: str, spans: Sequence[Span]) -> str:
    """Put labels into a JSON string's source, where the spans are those of its decoded text."""
    pieces = []
    position = 0
    edges = _source_offsets(body, [edge for start, end, _ in spans for edge in (start, end)])
    for (_, _, label), start, end in zip(spans, edges[::2], edges[1::2], strict=True):
        pieces.append(body[position:start])
        pieces.append(f"{LABEL_OPEN}{label}]")
        position = end
    pieces.append(body[position:])
    return "".join(pieces)


def _source_offsets(body: str, decoded: Sequence[int]) -> list[int]:
    """Turn rising offsets in the decoded text into offsets in its source."""
    offsets = []
    shift = 0  # how much longer the source is than the text, so far
    escapes = lazy(_ESCAPE).finditer(body)
    escape = next(escapes, None)
    for offset in decoded:
        while escape is not None and escape.start() - shift < offset:
            shift += escape.end() - escape.start() - 1
            escape = next(escapes, None)
        offsets.append(offset + shift)
    return offsets
