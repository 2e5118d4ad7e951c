"""How a state is packed into a column, and how some of it is read without unpacking all. Pure.

A page of a project looks at a hundred states, and of each at a few small tables. Those are at
the front of a document (`state.codec`), so that reading can stop behind them: a tenth of the
time. Whatever the order, the answer is the same.
"""

import json
import zlib
from collections.abc import Collection

from holdfast.records import Any
from holdfast.store.protocol import StoreDamaged

# Bytes of text to begin with; each further look is twice as long as all before it.
FIRST_READ_BYTES = 12 * 1024

_decode = json.JSONDecoder().raw_decode


SMALL, QUICK = 1, 0  # levels of zlib: three times as large as the other, in a third of its time


def pack_state(document: dict[str, Any], level: int = SMALL) -> bytes:
    # ASCII: it is the fast path of `json`, and holds what UTF-8 cannot (half surrogates).
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode("ascii"), level)


def make_small(packed: bytes) -> bytes:
    """As `pack_state` makes it by default, however it was packed."""
    is_stored = packed[2] & 6 == 0  # the kind of the first block behind zlib's two bytes
    return zlib.compress(zlib.decompress(packed), SMALL) if is_stored else packed


def unpack_state(packed: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(zlib.decompress(packed))
    return document


def unpack_fields(packed: bytes, names: Collection[str], where: str = "") -> dict[str, Any]:
    """What a packed document says under these names, as far as it does. Raises StoreDamaged,
    with the place of the store, for one that cannot be read."""
    try:
        return _unpack_until(packed, names)
    except (zlib.error, ValueError) as error:
        raise StoreDamaged(f"{where} contains an unreadable state: {error}") from error


def _unpack_until(packed: bytes, names: Collection[str]) -> dict[str, Any]:
    stream = zlib.decompressobj()
    text = stream.decompress(packed, FIRST_READ_BYTES).decode("ascii")
    found: dict[str, Any] = {}
    at = 1  # behind the brace
    if text == "{}":
        return found
    while len(found) < len(names):
        try:
            name, end = _decode(text, at)
            value, end = _decode(text, end + 1)
            closed = text[end]  # a number that is cut off is a number, too
        except (ValueError, IndexError):
            more = stream.decompress(stream.unconsumed_tail, 2 * len(text))
            if not more:
                raise ValueError("the document is truncated") from None
            text += more.decode("ascii")
            continue
        if name in names:
            found[name] = value
        if closed == "}":
            break
        at = end + 1
    return found
