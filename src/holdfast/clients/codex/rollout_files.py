"""Which files make up a Codex session, and how much of each.

A thread's rollout is a JSONL file that is only appended to. Going back (revert) starts a new file
of the same thread; a fork starts one of a new thread. Neither copies rows: its first row,
`session_meta`, names the file that it goes on from and the byte at which (`history_base`). Files
are named `rollout-<time>-<thread id>.jsonl` and `rollout-<time>-<thread id>_<file id>.jsonl`; ids
are UUIDs of version 7, which sort by their time. Must not know what other rows mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from holdfast.clients.json_fields import as_object, as_text
from holdfast.transcript.file_chain import ChainFile
from holdfast.transcript.reader import TranscriptError, TranscriptReader

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NAME = re.compile(rf"rollout-.*?({_UUID})(?:_({_UUID}))?\.jsonl(?:\.gz)?")
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
    name = parse_name(path)
    if name is None:
        return [ChainFile(os.path.basename(path), path)]
    base = _read_base(path)
    if base is None:
        return [ChainFile(name.file, path)]
    earlier, rewinds_to = _before(path, name, base, {name.file})
    return [*earlier, ChainFile(name.file, path, None, rewinds_to)]


class _Base(NamedTuple):
    """The place that a file goes on from."""

    file: str
    end: int


def _before(
    path: str, name: RolloutName, base: _Base, above: set[str]
) -> tuple[list[ChainFile], int | None]:
    """The files before this one, and the position it goes back to where it is a revert."""
    places = _find_files(path)
    base_path = places.get(base.file)
    if base_path is None or base.file in above or len(above) > MAX_FILES:
        return [], None  # deleted: what is left is this file
    thread = parse_name(base_path)
    if thread is None or thread.thread != name.thread:
        return _truncated(_whole(base_path, above | {base.file}), base.end), None
    own = sorted(
        file
        for file, place in places.items()
        if file < name.file and (known := parse_name(place)) and known.thread == name.thread
    )
    earlier: list[ChainFile] = []
    for file in own[-MAX_FILES:]:
        earlier += _one(places[file], RolloutName(name.thread, file), earlier, above)
    return earlier, _position(earlier, base)


def _one(
    path: str, name: RolloutName, earlier: list[ChainFile], above: set[str]
) -> list[ChainFile]:
    """A finished file of the thread; with the base of a fork before it, where it is the first."""
    base = _read_base(path)
    before: list[ChainFile] = []
    if base is not None and not earlier:
        before, _ = _before(path, name, base, above | {name.file})
    to = None if base is None or not earlier else _position(earlier, base)
    return [*before, ChainFile(name.file, path, _size(path), to)]


def _whole(path: str, above: set[str]) -> list[ChainFile]:
    """A finished file of another thread, and all that comes before it."""
    name, base = parse_name(path), _read_base(path)
    assert name is not None
    if base is None:
        return [ChainFile(name.file, path, _size(path))]
    earlier, rewinds_to = _before(path, name, base, above)
    return [*earlier, ChainFile(name.file, path, _size(path), rewinds_to)]


def _truncated(files: list[ChainFile], end: int) -> list[ChainFile]:
    last = files[-1]
    return [*files[:-1], last._replace(length=min(end, last.length or end))]


def _position(files: list[ChainFile], base: _Base) -> int | None:
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


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
