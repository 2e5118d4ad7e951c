"""Transcripts as rows: the judge's own reader.

Owns finding the files, reading them and saying what a row is. It must not know the product.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Transcript:
    """One file, and the repository that its session worked in."""

    path: Path
    repo: str

    @property
    def session(self) -> str:
        return self.path.name.split(".")[0]


def find_transcripts(folders: Iterable[Path], repo_of_session: dict[str, str]) -> list[Transcript]:
    """Every transcript below some folders, each session once, with its repository.

    A folder holds one repository's sessions: its name is the repository's ("owner+name"), unless
    an annotation of one of its sessions names another.
    """
    files: dict[str, Path] = {}
    for folder in folders:
        for path in sorted([*folder.rglob("*.jsonl"), *folder.rglob("*.jsonl.gz")]):
            if "subagents" not in path.parts:
                files.setdefault(path.name.split(".")[0], path)
    named: dict[Path, Counter[str]] = {}
    for session, path in files.items():
        if session in repo_of_session:
            named.setdefault(path.parent, Counter())[repo_of_session[session]] += 1

    def repo(session: str, path: Path) -> str:
        if session in repo_of_session:
            return repo_of_session[session]
        if path.parent in named:
            return named[path.parent].most_common(1)[0][0]
        return path.parent.name.replace("+", "/", 1)

    return [Transcript(p, repo(s, p)) for s, p in sorted(files.items())]


def fingerprint(path: Path) -> str:
    """Changes whenever the file does."""
    stat = path.stat()
    return hashlib.sha256(f"{path}|{stat.st_size}|{stat.st_mtime_ns}".encode()).hexdigest()[:16]


def read_rows(path: Path) -> list[Row]:
    """Every row of a file in its order; what is no JSON object is passed over."""
    opener = gzip.open if path.suffix == ".gz" else open
    rows = []
    with opener(path, "rb") as handle:
        for line in handle:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                rows.append(row)
    return rows


def main_chain(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if not row.get("isSidechain")]


def content(row: Row) -> Any:
    message = row.get("message")
    return message.get("content") if isinstance(message, dict) else None


def blocks(row: Row, kind: str) -> Iterator[Row]:
    held = content(row)
    for block in held if isinstance(held, list) else []:
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def read_text(held: Any) -> str:
    """The text of a message's content, or of a tool result's."""
    if isinstance(held, str):
        return held
    return "\n".join(
        str(b.get("text", ""))
        for b in (held if isinstance(held, list) else [])
        if isinstance(b, dict) and b.get("type") == "text"
    )


def is_boundary(row: Row) -> bool:
    return row.get("subtype") == "compact_boundary"


def find_boundaries(rows: list[Row]) -> list[int]:
    """Where the compactions stand."""
    return [i for i, row in enumerate(rows) if is_boundary(row)]


def read_summary(rows: list[Row], boundary: int) -> str:
    """The summary that a compaction left, which newer clients write behind its boundary."""
    around = [*rows[boundary + 1 : boundary + 12], *rows[max(0, boundary - 6) : boundary]]
    return next((read_text(content(r)) for r in around if r.get("isCompactSummary")), "")


# How a message begins that the client wrote in the user's name.
_NOT_TYPED = ("<", "[Request", "Caveat:")


def read_prompt(row: Row) -> str:
    """What the user sent with a row, in the wide sense: a paste counts, a notification does not."""
    if row.get("type") != "user" or row.get("isMeta") or row.get("isCompactSummary"):
        return ""
    text = read_text(content(row)).strip()
    return "" if text.startswith(_NOT_TYPED) else text


def shorten(text: str, size: int) -> str:
    """The head and the end of a text, two thirds and one."""
    text = re.sub(r"[ \t]+", " ", text.strip())
    return text if len(text) <= size else text[: size * 2 // 3] + " […] " + text[-size // 3 :]
