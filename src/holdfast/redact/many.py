"""Redacts many texts at once: one scan over all of them, and a look at those it points to.

Owns: the way from a place in the joined texts back to the one text that stands there.
Must not: hold patterns; the bulk scan says where to look, the finders say what is a secret.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

from holdfast.redact.bulk import bulk_hits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.engine import Redactor

# A word by itself, as most names in code are, is a vendor's token or nothing; none is shorter.
SHORTEST_TOKEN = 20


def any_secret(redactor: "Redactor", texts: Collection[str]) -> bool:
    """Say whether one of these texts holds a secret."""
    if redactor.has_extra:
        # No anchor is known for a user's pattern: every text is worth a look.
        return any(map(redactor.spans, texts))
    long = [text for text in texts if len(text) >= SHORTEST_TOKEN or not text.isidentifier()]
    return any(redactor.spans(long[at]) for at in _worth_a_look(long))


def redacted(redactor: "Redactor", texts: Sequence[str]) -> dict[int, str]:
    """The texts that hold secrets, by their place, without them."""
    found: Collection[int] = range(len(texts)) if redactor.has_extra else set(_worth_a_look(texts))
    clean = {at: redactor.redact(texts[at]) for at in found}
    return {at: text for at, text in clean.items() if text != texts[at]}


def _worth_a_look(texts: Sequence[str]) -> Iterator[int]:
    joined = "\n".join(texts)
    data = joined.encode("utf-8", "replace")
    hits = set(bulk_hits(data.decode("latin-1"), data.lower().decode("latin-1")))
    if not hits:
        return
    sizes: Iterator[int] = (len(text) + 1 for text in texts)
    if not joined.isascii():
        sizes = (len(text.encode("utf-8", "replace")) + 1 for text in texts)
    edges = list(accumulate(sizes, initial=0))
    yield from {bisect_right(edges, hit) - 1 for hit in hits}
