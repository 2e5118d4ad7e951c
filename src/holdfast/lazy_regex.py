"""Regular expressions that are compiled when they are first used, and by one process for the next.

A hook is a new process each time, and compiling the patterns that one needs takes up to half of
its time. What `re` makes of a pattern is a list of numbers: `use_kept` reads those of earlier
processes, `keep_new` writes down what was missing among them. Without them, patterns are compiled
as ever.
"""

from __future__ import annotations

import marshal
import re
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # redaction runs in the fast hooks, where `typing` is a tenth of the time
    from collections.abc import Callable
    from typing import Any

# More are no longer of this version alone: then all are made again.
MAX_KEPT = 1_500

# By source and flags: the flags in effect, the numbers, how many groups there are, and their names.
_kept: dict[tuple[Any, int], tuple[int, bytes, int, dict[str, int]]] = {}
_made: list[tuple[Any, int]] = []


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
    return _Lazy(lambda: compile_once(source, flags))  # type: ignore[return-value]


def lazy_compile_bytes(source: bytes) -> re.Pattern[bytes]:
    return _Lazy(lambda: compile_once(source))  # type: ignore[return-value]


def compile_once(source: Any, flags: int = 0) -> re.Pattern[Any]:
    """As `re.compile`, from the numbers of an earlier process where there are any."""
    key = source, int(flags)
    kept = _kept.get(key)
    if kept is not None:
        with suppress(ValueError, TypeError, RuntimeError, OverflowError):
            return _rebuild(source, *kept)
    _made.append(key)
    return re.compile(source, flags)


def kept_name() -> str:
    """The file's name: what one interpreter makes is nothing to another."""
    return f"patterns-{sys.implementation.cache_tag}-{sys.hexversion:x}"


def use_kept(kept: bytes) -> None:
    """`kept` as `keep_new` answered it; what cannot be read is as if there were nothing."""
    with suppress(ValueError, EOFError, TypeError):
        found = marshal.loads(kept)
        if isinstance(found, dict) and len(found) <= MAX_KEPT:
            _kept.update(found)


def keep_new() -> bytes:
    """All that is kept, where something was compiled in this process; else nothing."""
    made, _made[:] = _made[:], []
    new = {key: _take_apart(*key) for key in made}
    if not new:
        return b""
    _kept.update(new)
    return marshal.dumps(_kept)


# `re` has no names of its own for this. A change there shows in a test and costs time alone: what
# cannot be rebuilt is compiled.
def _take_apart(source: Any, flags: int) -> tuple[int, bytes, int, dict[str, int]]:
    from array import array
    from re import _compiler, _parser  # type: ignore[attr-defined]

    parsed = _parser.parse(source, flags)
    code = array("I", _compiler._code(parsed, flags))
    state = parsed.state
    return int(flags | state.flags), code.tobytes(), state.groups - 1, dict(state.groupdict)


def _rebuild(
    source: Any, flags: int, code: bytes, groups: int, names: dict[str, int]
) -> re.Pattern[Any]:
    import _sre  # type: ignore[import-not-found]

    by_number: list[str | None] = [None] * (groups + 1)
    for name, number in names.items():
        by_number[number] = name
    numbers = memoryview(code).cast("I").tolist()
    pattern: re.Pattern[Any] = _sre.compile(source, flags, numbers, groups, names, tuple(by_number))
    return pattern
