"""Asks of many texts at once whether there is anything to redact in them.

Owns: the way from a place in the joined texts back to the one text that stands there.
Must not: hold patterns; the bulk scan says where to look, the finders say what is a secret.
"""

from bisect import bisect_right
from collections.abc import Collection
from itertools import accumulate

from holdfast.redact.bulk import bulk_hits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.engine import Redactor

# A word by itself, as most names in code are, is a vendor's token or nothing; none is shorter.
SHORTEST_TOKEN = 20


def any_secret(redactor: "Redactor", texts: Collection[str]) -> bool:
    """Say whether one of these texts holds a secret: one scan, and a look at what it points to."""
    if redactor.has_extra:
        # No anchor is known for a user's pattern: every text is worth a look.
        return any(map(redactor.spans, texts))
    texts = [text for text in texts if len(text) >= SHORTEST_TOKEN or not text.isidentifier()]
    data = "\n".join(texts).encode("utf-8", "replace")
    hits = set(bulk_hits(data.decode("latin-1"), data.lower().decode("latin-1")))
    if not hits:
        return False
    sizes = (len(text.encode("utf-8", "replace")) + 1 for text in texts)
    edges = list(accumulate(sizes, initial=0))
    after = {bisect_right(edges, hit) for hit in hits}
    return any(redactor.spans(data[edges[at - 1] : edges[at] - 1].decode()) for at in after)
