"""Redacts many texts at once: one scan over all of them, and a look at those it points to.

Owns: the way from a place in the joined texts back to the one text that stands there.
Must not: hold patterns; the bulk scan says where to look, the finders say what is a secret.
"""

from collections.abc import Collection, Iterator, Sequence

from holdfast.redact.bulk_scan import find_candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.redactor import Redactor


def redact_batch(redactor: "Redactor", texts: Sequence[str]) -> dict[int, str]:
    """The texts that hold secrets, by their place, without them."""
    found: Collection[int] = range(len(texts)) if redactor.has_extra else list(_worth_a_look(texts))
    clean = {at: redactor.redact(texts[at], worth=True) for at in found}
    return {at: text for at, text in clean.items() if text != texts[at]}


# Between two texts. Each then begins and ends a line, and which one a place is in can be counted.
_BETWEEN = "\n\0\n"


def _worth_a_look(texts: Sequence[str]) -> Iterator[int]:
    joined = _BETWEEN.join(texts)
    if joined.count("\0") != len(texts) - 1:
        joined = _BETWEEN.join(text.replace("\0", " ") for text in texts)
    data = joined.encode("utf-8", "replace")
    hits = sorted(find_candidates(data.decode("latin-1"), data.lower().decode("latin-1")))
    at = position = 0
    last = -1
    for hit in hits:
        at += data.count(b"\0", position, hit)
        position = hit
        if at != last:
            yield at
        last = at
