"""Regular expressions that are compiled when they are first used.

A hook is a new process each time, and folds a few rows of a few kinds: compiling every pattern
of this package took 20 ms of each, a third of all its imports.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:  # redaction runs in the fast hooks, where `typing` is a tenth of the time
    from collections.abc import Callable
    from typing import Any

# What words are made of, the commonest in what agents say first.
_COMMONEST_FIRST = " etsinoarchldmupgfwkby:vx'zjq"


class _Lazy:
    # Stands for a `re.Pattern`: it has the methods of one from its first use.

    def __init__(self, compiled: Callable[[], re.Pattern[Any]]) -> None:
        self._compiled = compiled

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet: the first use of any method brings all of them."""
        if name.startswith("__"):
            raise AttributeError(name)
        pattern = self._compiled()
        for method in ("search", "match", "fullmatch", "findall", "finditer", "split", "sub"):
            setattr(self, method, getattr(pattern, method))
        return getattr(pattern, name)


def lazy_compile(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, at the first use."""
    return _Lazy(lambda: re.compile(source, flags))  # type: ignore[return-value]


def lazy_compile_bytes(source: bytes) -> re.Pattern[bytes]:
    return _Lazy(lambda: re.compile(source))  # type: ignore[return-value]


def lazy_any_word(*words: str) -> re.Pattern[str]:
    """Finds where one of some words stands in a text of small letters.

    Half the time of `in` for each word, which reads the text as often as there are words, and a
    third of that of an alternation, which tries them all at every letter. Each word is looked for
    by its rarest letter, and what goes before that is checked backwards: a match begins there.
    """
    return _Lazy(lambda: re.compile(_by_rarest_letter(words)))  # type: ignore[return-value]


def _by_rarest_letter(words: tuple[str, ...]) -> str:
    found: dict[str, list[str]] = {}
    for word in words:
        letter = max(word, key=_COMMONEST_FIRST.index)
        before, _, after = word.partition(letter)
        found.setdefault(letter, []).append(f"{after}(?<={before}{letter}{after})")
    # Tried one after the other, so the commonest first.
    letters = filter(found.__contains__, _COMMONEST_FIRST)
    return "|".join(f"{letter}(?:{'|'.join(found[letter])})" for letter in letters)
