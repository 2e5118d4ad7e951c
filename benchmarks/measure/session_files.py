"""Sessions from transcript files: rows in file order, and the boundaries inside them.

Owns reading, merging copies, dropping sidechains and cutting at compaction boundaries. It knows
nothing about entities, needs or briefs.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

Row = dict[str, Any]

MAX_TOOL_CALLS_AFTER = 150
MIN_TOOL_CALLS_BEFORE = 15
MIN_TOOL_CALLS_AFTER = 8

_WORKTREE_PARTS = frozenset({".worktrees", "worktrees", ".worktree"})
_WORKTREE_SUFFIX = re.compile(r"[-_.](?:worktree|wt)[-_.]?\w*$")


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its main-chain rows, in file order, from every copy that was found."""

    session_id: str
    path: str
    rows: list[Row]
    repository: str


@dataclass(frozen=True, slots=True)
class Boundary:
    """One real compaction, as positions in the rows of its session."""

    index: int
    uuid: str
    summary: str
    after_start: int
    after_end: int
    kept: frozenset[str]


def find_transcripts(folder: Path) -> list[Path]:
    """Every transcript below a folder, subagent files left out, in a fixed order."""
    found = [*folder.rglob("*.jsonl"), *folder.rglob("*.jsonl.gz")]
    return sorted(p for p in found if "subagents" not in p.parts)


def read_rows(path: Path) -> list[Row]:
    """The rows of one file; torn lines and lines that are no object are passed over."""
    with _named(path):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows: list[Row] = []
    for line in data.split(b"\n"):
        line = line.strip(b"\0 \t\r")
        if not line:
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def read_session_id(path: Path, rows: list[Row]) -> str:
    """The id most rows carry; the file's name when none does."""
    ids = Counter(r["sessionId"] for r in rows if isinstance(r.get("sessionId"), str))
    return ids.most_common(1)[0][0] if ids else path.name.split(".")[0]


def group_by_session(files: list[Path]) -> list[tuple[str, list[Path]]]:
    """Files of the same session together. Looks only at the head of each file."""
    groups: dict[str, list[Path]] = {}
    for path in files:
        groups.setdefault(_head_session_id(path), []).append(path)
    return sorted(groups.items())


def _head_session_id(path: Path) -> str:
    opener = gzip.open if path.suffix == ".gz" else open
    with _named(path), opener(path, "rb") as handle:
        for _, line in zip(range(200), handle, strict=False):
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(row, dict) and isinstance(row.get("sessionId"), str):
                return str(row["sessionId"])
    return path.name.split(".")[0]


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """What goes wrong with a packed file does not say with which."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise OSError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def load_session(paths: list[Path]) -> Session:
    """Read every copy of one session and merge them by uuid, keeping file order."""
    copies = [(path, read_rows(path)) for path in paths]
    copies.sort(key=lambda c: (-len(c[1]), str(c[0])))
    rows = merge_copies([c[1] for c in copies])
    main = [r for r in rows if not r.get("isSidechain")]
    return Session(
        session_id=read_session_id(copies[0][0], rows),
        path=str(copies[0][0]),
        rows=main,
        repository=name_repository(list_cwds(main)),
    )


def merge_copies(copies: list[list[Row]]) -> list[Row]:
    """The first copy, with rows only others hold put behind the row they follow there."""
    order: list[Row] = []
    seen: set[str] = set()
    for number, rows in enumerate(copies):
        missing: dict[str | None, list[Row]] = {}
        last: str | None = None
        for row in rows:
            uuid = row.get("uuid")
            if not isinstance(uuid, str):
                if number == 0:
                    order.append(row)
                continue
            if uuid in seen:
                last = uuid
                continue
            seen.add(uuid)
            if number == 0:
                order.append(row)
            else:
                missing.setdefault(last, []).append(row)
        if missing:
            order = list(_insert(order, missing))
    return order


def _insert(order: list[Row], missing: dict[str | None, list[Row]]) -> Iterator[Row]:
    yield from missing.get(None, [])
    for row in order:
        yield row
        uuid = row.get("uuid")
        if isinstance(uuid, str) and uuid in missing:
            yield from missing[uuid]


def list_cwds(rows: list[Row]) -> list[str]:
    """Every working directory named by the rows, each once, in order of appearance."""
    return list(dict.fromkeys(c for r in rows if isinstance(c := r.get("cwd"), str) and c))


def list_roots(cwds: list[str]) -> list[str]:
    """The directories that paths are made relative to, longest first.

    A directory inside another is only a place the agent stepped into; a worktree inside its
    repository is a root of its own.
    """
    roots = []
    for cwd in cwds:
        parents = [o for o in cwds if o != cwd and cwd.startswith(o.rstrip("/") + "/")]
        inside = any(
            not _WORKTREE_PARTS & set(cwd[len(parent) :].strip("/").split("/"))
            for parent in parents
        )
        if not inside:
            roots.append(cwd.rstrip("/"))
    return sorted(roots, key=lambda c: (-len(c), c))


def name_repository(cwds: list[str]) -> str:
    """A stable name: the last part of the shortest cwd, without its worktree."""
    if not cwds:
        return "unknown"
    parts = [p for p in min(cwds, key=lambda c: (len(c), c)).split("/") if p]
    for number, part in enumerate(parts):
        if part in _WORKTREE_PARTS:
            parts = parts[:number]
            break
    return _WORKTREE_SUFFIX.sub("", parts[-1]) if parts else "unknown"


def content_blocks(row: Row) -> list[Row]:
    """The content of a message as blocks, whatever shape it was written in."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [b for b in content if isinstance(b, dict)]
    return []


def list_tool_calls(row: Row) -> list[Row]:
    """The tool_use blocks of an assistant row."""
    if row.get("type") != "assistant":
        return []
    return [b for b in content_blocks(row) if b.get("type") == "tool_use"]


def is_boundary(row: Row) -> bool:
    return row.get("type") == "system" and row.get("subtype") == "compact_boundary"


def find_boundaries(rows: list[Row]) -> list[Boundary]:
    """Every boundary with a summary and enough tool calls on both sides."""
    marks = [i for i, row in enumerate(rows) if is_boundary(row)]
    calls = [0]
    for row in rows:
        calls.append(calls[-1] + len(list_tool_calls(row)))
    found = []
    for number, index in enumerate(marks):
        end = marks[number + 1] if number + 1 < len(marks) else len(rows)
        summary_at = next(
            (i for i in range(index + 1, end) if rows[i].get("isCompactSummary") is True), None
        )
        if summary_at is None:
            continue
        end = _cut_after(rows, index + 1, end)
        if calls[index] < MIN_TOOL_CALLS_BEFORE or calls[end] - calls[index] < MIN_TOOL_CALLS_AFTER:
            continue
        summary = "\n".join(
            str(b.get("text", "")) for b in content_blocks(rows[summary_at]) if b.get("text")
        )
        found.append(
            Boundary(
                index=index,
                uuid=str(rows[index].get("uuid", "")),
                summary=summary,
                after_start=index + 1,
                after_end=end,
                kept=_kept_uuids(rows, index),
            )
        )
    return found


def _cut_after(rows: list[Row], start: int, end: int) -> int:
    """Where the stretch after a boundary ends: before the call beyond the last that counts."""
    seen = 0
    for i in range(start, end):
        seen += len(list_tool_calls(rows[i]))
        if seen > MAX_TOOL_CALLS_AFTER:
            return i
    return end


def _kept_uuids(rows: list[Row], index: int) -> frozenset[str]:
    """Rows the client kept word for word after the summary."""
    meta = rows[index].get("compactMetadata")
    if not isinstance(meta, dict):
        return frozenset()
    kept: set[str] = set()
    messages = meta.get("preservedMessages")
    if isinstance(messages, dict):
        for key in ("uuids", "allUuids"):
            named = messages.get(key)
            if isinstance(named, list):
                kept.update(u for u in named if isinstance(u, str))
    segment = meta.get("preservedSegment")
    if isinstance(segment, dict):
        ids = [r.get("uuid") for r in rows[:index]]
        head, tail = segment.get("headUuid"), segment.get("tailUuid")
        if head in ids and tail in ids:
            kept.update(u for u in ids[ids.index(head) : ids.index(tail) + 1] if isinstance(u, str))
    return frozenset(kept)


# Rows as pieces of text: who said it, and for tools what was called with what outcome.
#
# Owns the view of a row that every later step shares. Thinking is left out: it is not visible
# text, and the client drops it. It extracts no entities.

USER, ASSISTANT, INPUT, RESULT, SUMMARY, ATTACHED = (
    "user",
    "assistant",
    "input",
    "result",
    "summary",
    "attached",
)

_READ_NUMBER = re.compile(r"^ *\d+(?:→|\t)", re.MULTILINE)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)

# Inputs that choose among a tool's modes: `files_with_matches` is nobody's identifier.
_SETTINGS = frozenset({"output_mode", "status", "subagent_type", "model", "type", "taskId"})


@dataclass(slots=True)
class Call:
    """One tool call and, once seen, its result."""

    id: str
    tool: str
    input: dict[str, Any]
    row: int
    result: str | None = None
    error: bool = False
    details: Any = None


@dataclass(slots=True)
class Piece:
    """One stretch of text in a row."""

    row: int
    source: str
    text: str
    call: Call | None = None


@dataclass(slots=True)
class SessionPieces:
    """A run of rows as pieces and calls, both in file order."""

    pieces: list[Piece] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


def list_strings(value: Any) -> list[str]:
    """Every string inside a JSON value, in order. Numbers and keys are not text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for v in value.values() for s in list_strings(v)]
    if isinstance(value, list):
        return [s for v in value for s in list_strings(v)]
    return []


def read_pieces(rows: list[Row], start: int, end: int) -> SessionPieces:
    """The pieces of rows[start:end]; results find calls inside the same stretch only."""
    reading = SessionPieces()
    by_id: dict[str, Call] = {}
    for i in range(start, end):
        row = rows[i]
        kind = row.get("type")
        if kind == "assistant":
            _assistant(row, i, reading, by_id)
        elif kind == "user":
            _user(row, i, reading, by_id)
        elif kind == "attachment":
            _attachment(row, i, reading)
    return reading


def _assistant(row: Row, i: int, reading: SessionPieces, by_id: dict[str, Call]) -> None:
    for block in content_blocks(row):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            reading.pieces.append(Piece(i, ASSISTANT, block["text"]))
        elif block.get("type") == "tool_use":
            given = block.get("input")
            call = Call(
                id=str(block.get("id", "")),
                tool=str(block.get("name", "")),
                input=given if isinstance(given, dict) else {},
                row=i,
            )
            by_id[call.id] = call
            reading.calls.append(call)
            inputs = {k: v for k, v in call.input.items() if k not in _SETTINGS}
            reading.pieces.append(Piece(i, INPUT, "\n".join(list_strings(inputs)), call))


def _user(row: Row, i: int, reading: SessionPieces, by_id: dict[str, Call]) -> None:
    if row.get("isCompactSummary"):
        text = "\n".join(str(b.get("text", "")) for b in content_blocks(row))
        reading.pieces.append(Piece(i, SUMMARY, text))
        return
    for block in content_blocks(row):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            text = _REMINDER.sub("", block["text"])
            if text.strip():
                reading.pieces.append(Piece(i, USER, text))
        elif block.get("type") == "tool_result":
            text = _result_text(block.get("content"))
            call = by_id.get(str(block.get("tool_use_id", "")))
            if call is not None:
                if call.tool == "Read":
                    text = _READ_NUMBER.sub("", text)
                call.result = text
                call.error = bool(block.get("is_error"))
                call.details = row.get("toolUseResult")
            reading.pieces.append(Piece(i, RESULT, text, call))


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return _REMINDER.sub("", content)
    if isinstance(content, list):
        texts = [
            b["text"] for b in content if isinstance(b, dict) and isinstance(b.get("text"), str)
        ]
        return _REMINDER.sub("", "\n".join(texts))
    return ""


def _attachment(row: Row, i: int, reading: SessionPieces) -> None:
    attachment = row.get("attachment")
    if not isinstance(attachment, dict):
        return
    source = USER if attachment.get("type") == "queued_command" else ATTACHED
    text = "\n".join(list_strings({k: v for k, v in attachment.items() if k != "type"}))
    if text:
        reading.pieces.append(Piece(i, source, text))
