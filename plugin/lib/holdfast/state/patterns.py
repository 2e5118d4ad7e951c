"""Regular expressions that are compiled when they are first used.

A hook is a new process each time, and folds a few rows of a few kinds: compiling every pattern
of this package took 20 ms of each, a third of all its imports.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet: the first use of any method brings all of them."""
        if name.startswith("__"):
            raise AttributeError(name)
        pattern = re.compile(self._source, self._flags)
        for method in ("search", "match", "fullmatch", "findall", "finditer", "split", "sub"):
            setattr(self, method, getattr(pattern, method))
        return getattr(pattern, name)


def lazily(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, at the first use."""
    return cast("re.Pattern[str]", _Lazy(source, flags))


def lazily_bytes(source: bytes) -> re.Pattern[bytes]:
    return cast("re.Pattern[bytes]", _Lazy(source, 0))
