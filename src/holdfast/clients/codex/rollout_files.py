"""Which files make up a Codex session, and how much of each.

A thread's rollout is a JSONL file that is only appended to. Going back (revert) starts a new file
of the same thread; a fork starts one of a new thread. Neither copies rows: its first row,
`session_meta`, names the file that it goes on from and the byte at which (`history_base`). Files
are named `rollout-<time>-<thread id>.jsonl` and `rollout-<time>-<thread id>_<file id>.jsonl`; ids
are UUIDs of version 7, which sort by their time. Must not know what other rows mean.
"""

import os
from collections.abc import Iterator

from holdfast.clients.json_fields import as_object, as_text
from holdfast.files import file_size
from holdfast.lazy_regex import lazy_compile
from holdfast.records import Any, NamedTuple
from holdfast.transcript.file_chain import ChainFile
from holdfast.transcript.reader import TranscriptError, TranscriptReader

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NAME = lazy_compile(rf"rollout-.*?({_UUID})(?:_({_UUID}))?\.jsonl(?:\.gz)?")
# Below the client's folder: where threads are, and where `codex archive` puts them.
SESSION_FOLDERS = ("sessions", "archived_sessions")
MAX_FILES = 200  # of one thread
_MAX_META_BYTES = 4_000_000


class RolloutName(NamedTuple):
    thread: str
    file: str  # the id of this file: the thread's own for its first


def parse_name(path: str) -> RolloutName | None:
    found = _NAME.fullmatch(os.path.basename(path))
    return None if found is None else RolloutName(found[1], found[2] or found[1])


def list_chain(path: str) -> list[ChainFile]:
    """The files of this session in order; the last is the one that was named."""
    if parse_name(path) is None:
        return [ChainFile(os.path.basename(path), path)]
    *before, own = _list_until(path, None, frozenset())
    return [*before, own._replace(length=None)]  # it may still grow


class _Base(NamedTuple):
    """The place that a file goes on from."""

    file: str
    end: int


def _list_until(path: str, end: int | None, above: frozenset[str]) -> list[ChainFile]:
    """This file up to `end`, behind all that come before it; `above` are those behind it."""
    name, base = parse_name(path), _read_base(path)
    assert name is not None
    before, rewinds_to = list[ChainFile](), None
    places = {} if base is None else _find_files(path)
    above |= {name.file}
    if (
        base is not None
        and base.file in places
        and base.file not in above
        and len(above) <= MAX_FILES
    ):
        if _find_thread(places[base.file]) != name.thread:  # a fork
            before = _list_until(places[base.file], base.end, above)
        else:  # the thread's own files before this one
            before = _list_earlier(name, places, above)
            rewinds_to = _find_position(before, base)
    size = max(file_size(path), 0)
    length = size if end is None else min(end, size or end)
    return [*before, ChainFile(name.file, path, length, rewinds_to)]


def _list_earlier(
    name: RolloutName, places: dict[str, str], above: frozenset[str]
) -> list[ChainFile]:
    own = [file for file in places if file < name.file]
    own = sorted(file for file in own if _find_thread(places[file]) == name.thread)[-MAX_FILES:]
    found = _list_until(places[own[0]], None, above) if own else []
    for file in own[1:]:
        base = _read_base(places[file])
        to = _find_position(found, base) if base else None
        found.append(ChainFile(file, places[file], max(file_size(places[file]), 0), to))
    return found


def _find_thread(path: str) -> str:
    name = parse_name(path)
    return name.thread if name else ""


def _find_position(files: list[ChainFile], base: _Base) -> int | None:
    start = 0
    for file in files:
        if file.id == base.file:
            return start + base.end
        start += file.length or 0
    return None


def _read_base(path: str) -> _Base | None:
    base = as_object(as_object(read_meta(path).get("payload")).get("history_base"))
    file, end = as_text(base.get("thread_id")), base.get("end_byte_offset")
    return _Base(file, end) if file and type(end) is int and end >= 0 else None


def read_meta(path: str) -> dict[str, Any]:
    """The first row of a rollout; {} where it is not there yet, or is something else."""
    try:
        with TranscriptReader(path, limit_bytes=1, max_line=_MAX_META_BYTES, final=True) as reader:
            for row in reader.rows():
                return row.data if row.data.get("type") == "session_meta" else {}
    except TranscriptError:
        return {}
    return {}


def _find_files(path: str) -> dict[str, str]:
    """Every rollout of this installation, by the id of the file. Of two copies the first."""
    found: dict[str, str] = {}
    for folder in _list_roots(path):
        for place in iterate_rollouts(folder):
            name = parse_name(place)
            if name is not None:
                found.setdefault(name.file, place)
    return found


def _list_roots(path: str) -> list[str]:
    """The folders to look in: the client's, or the file's own where it lies elsewhere."""
    folder = os.path.dirname(os.path.abspath(path))
    at = folder
    while at != os.path.dirname(at):
        if os.path.basename(at) in SESSION_FOLDERS:
            home = os.path.dirname(at)
            return [os.path.join(home, name) for name in SESSION_FOLDERS]
        at = os.path.dirname(at)
    return [folder]


def iterate_rollouts(folder: str) -> Iterator[str]:
    for place, below, names in os.walk(folder):
        below.sort()
        for name in sorted(names):
            if name.startswith("rollout-"):
                yield os.path.join(place, name)
