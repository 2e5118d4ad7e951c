"""Which messages of a list are new, given the keys of those heard last.

Some libraries hand over the whole history each time, some what is new, some what is left of it
after a compaction of their own; and most messages have no id. Pure.
"""

from collections.abc import Sequence

MAX_KEYS = 256  # heard last, that are remembered


def find_new(heard: Sequence[str], keys: Sequence[str]) -> list[int]:
    """The places of the messages that were not heard yet.

    First as a history that went on: all that was heard stands at its beginning, whatever is said
    again behind it; or what was heard last stands in it. Then as one that lost messages: where most
    of it is known, whatever stands there in the same order is. Else all are new: the same words
    said again later are said again.
    """
    if heard and list(keys[: len(heard)]) == list(heard):
        return list(range(len(heard), len(keys)))
    end = _end_of_overlap(heard, keys)
    if end:
        return list(range(end, len(keys)))
    known = set(heard)
    if len(keys) > 2 and sum(key in known for key in keys) * 2 > len(keys):
        return _not_in_order(heard, keys)
    return list(range(len(keys)))


def _end_of_overlap(heard: Sequence[str], keys: Sequence[str]) -> int:
    """The longest start of `keys` that ends with the end of `heard`."""
    if not heard:
        return 0
    for end in range(len(keys), 0, -1):
        if keys[end - 1] == heard[-1]:
            size = min(end, len(heard))
            if list(keys[end - size : end]) == list(heard[-size:]):
                return end
    return 0


def _not_in_order(heard: Sequence[str], keys: Sequence[str]) -> list[int]:
    new: list[int] = []
    position = 0
    for place, key in enumerate(keys):
        try:
            position = heard.index(key, position) + 1
        except ValueError:
            new.append(place)
    return new
