"""The byte code of the full path in one file, instead of a hundred and fifty.

Python looks for each module, opens its byte code and checks it: a tenth of the time of a hook. The
one file lies where Python keeps byte code and is checked as Python checks its own, by time and size
of every source. Where it is missing or out of date modules are imported as ever, and the hook
writes it for the next; where it cannot be written, that is all.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib._bootstrap_external import SourceFileLoader, spec_from_file_location

from holdfast.files import read, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

PACKAGE = "holdfast"
HEAD_BYTES = 8  # the length of what says whether the rest is up to date
MAX_BUNDLE_BYTES = 32 * 1024 * 1024

_loaded_before: set[str] = set()
_is_current = False


class _Loader(SourceFileLoader):
    """As for any source, with code that is there already."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, _: str) -> CodeType:
        return self._code


class _Finder:
    def __init__(self, sources: dict[str, tuple[str, float, int]], codes: dict[str, CodeType]):
        self._sources, self._codes = sources, codes

    def find_spec(self, name: str, *_: object) -> Any:
        code = self._codes.get(name)
        if code is None:
            return None
        file = _package_dir() + self._sources[name][0]
        folder, last = file.rsplit("/", 1)
        inside = [folder] if last == "__init__.py" else None
        loader = _Loader(name, file, code)
        return spec_from_file_location(name, file, loader=loader, submodule_search_locations=inside)


def use() -> None:
    """Before the full path is imported."""
    global _is_current
    if _loaded_before:
        return
    _loaded_before.update(sys.modules)
    held = read(_path(), most=MAX_BUNDLE_BYTES) or b""
    end = HEAD_BYTES + int.from_bytes(held[:HEAD_BYTES], "little")
    try:
        sources = marshal.loads(held[HEAD_BYTES:end])
        if any(_describe(_package_dir() + one[0]) != one for one in sources.values()):
            return
        sys.meta_path.insert(0, _Finder(sources, marshal.loads(memoryview(held)[end:])))
        _is_current = True
    except (OSError, ValueError, EOFError, TypeError, AttributeError, LookupError):
        pass  # it is written again


def keep() -> None:
    """Once the hook's work is done; only where there was nothing to use."""
    if _is_current or sys.dont_write_bytecode or not os.access(os.path.dirname(_path()), os.W_OK):
        return
    sources, codes = {}, {}
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name.startswith(f"{PACKAGE}.") and name not in _loaded_before and spec is not None:
            sources[name] = _describe(spec.origin)
            codes[name] = spec.loader.get_code(name)
    from contextlib import suppress  # loaded by then

    head = marshal.dumps(sources)
    whole = len(head).to_bytes(HEAD_BYTES, "little") + head + marshal.dumps(codes)
    with suppress(OSError):
        write_atomic(_path(), whole)


def _package_dir() -> str:
    return __file__.replace("\\", "/").rsplit("/", 2)[0]


def _path() -> str:
    name = f"full-path.{sys.implementation.cache_tag}-{sys.hexversion:x}"
    return f"{_package_dir()}/hooks/__pycache__/{name}"


def _describe(file: str) -> tuple[str, float, int]:
    """Its place in the package, which may have moved, its time and its size."""
    stat = os.stat(file)
    return file.replace("\\", "/").removeprefix(_package_dir()), stat.st_mtime, stat.st_size
