"""The byte code of the full path in one file, instead of a hundred and fifty.

Python looks for each module, opens its byte code and checks it: a tenth of the time of a hook. The
one file lies where Python keeps byte code and is checked as Python checks its own, by time and size
of every source. Where it is missing or out of date modules are imported as ever, and the hook
writes it for the next; where it cannot be written, that is all.
"""

import marshal
import os
import sys
from importlib._bootstrap_external import SourceFileLoader, spec_from_file_location

from holdfast.files import read, where_possible, write_atomic

MAX_BUNDLE_BYTES = 32 * 1024 * 1024
_PACKAGE_DIR = __file__.replace("\\", "/").rsplit("/", 2)[0]
_BUNDLE = f"full-path.{sys.implementation.cache_tag}-{sys.hexversion:x}"
_PATH = f"{_PACKAGE_DIR}/hooks/__pycache__/{_BUNDLE}"

_loaded_before: set[str] = set()
_codes: dict[str, object] = {}
_files: dict[str, str] = {}


class _Loader(SourceFileLoader):
    """As for any source, with code that is there already."""

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        return _codes[fullname]

    @staticmethod
    def find_spec(name: str, *_: object) -> object:
        if name not in _codes:
            return None
        file = _files[name]
        inside = [os.path.dirname(file)] if file.endswith("/__init__.py") else None
        loader = _Loader(name, file)
        return spec_from_file_location(name, file, loader=loader, submodule_search_locations=inside)


def use() -> None:
    """Before the full path is imported."""
    if _loaded_before:
        return
    _loaded_before.update(sys.modules)
    try:
        sources, codes = marshal.loads(read(_PATH, most=MAX_BUNDLE_BYTES) or b"")
        if any(_describe(_PACKAGE_DIR + one[0]) != one for one in sources.values()):
            return
    except (OSError, ValueError, EOFError, TypeError, AttributeError, LookupError):
        return  # it is written again
    _codes.update(codes)
    _files.update((name, _PACKAGE_DIR + one[0]) for name, one in sources.items())
    sys.meta_path.insert(0, _Loader)  # type: ignore[arg-type]


def keep() -> None:
    """Once the hook's work is done; only where there was nothing to use."""
    if _codes or sys.dont_write_bytecode or not os.access(os.path.dirname(_PATH), os.W_OK):
        return
    sources, codes = {}, {}
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name.startswith("holdfast.") and name not in _loaded_before and spec is not None:
            sources[name], codes[name] = _describe(spec.origin), spec.loader.get_code(name)
    with where_possible:
        write_atomic(_PATH, marshal.dumps((sources, codes)))


def _describe(file: str) -> tuple[str, float, int]:
    """Its place in the package, which may have moved, its time and its size."""
    stat = os.stat(file)
    return file.replace("\\", "/").removeprefix(_PACKAGE_DIR), stat.st_mtime, stat.st_size
