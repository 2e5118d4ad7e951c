"""Everything that was written or handed over, as text: databases with what is packed in them.

Owns: getting at the text. Must not: decide what a secret is.
"""

import gzip
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path


def read_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Where it stands, and the text."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        name = str(path.relative_to(folder))
        yield f"{name} (name)", name
        if data.startswith(b"SQLite format 3"):
            yield from _rows(path, name)
        yield name, data.decode("utf-8", "replace")  # of a database, what was deleted too


def _rows(path: Path, name: str) -> Iterator[tuple[str, str]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            try:
                rows = connection.execute(f'SELECT * FROM "{table}"').fetchall()
            except sqlite3.Error:
                continue  # a table that holds no rows of its own
            for row in rows:
                for value in row:
                    yield f"{name}: {table}", _text(value)
    finally:
        connection.close()


def _text(value: object) -> str:
    if not isinstance(value, bytes):
        return str(value)
    for unpack in (zlib.decompress, gzip.decompress):
        try:
            return unpack(value).decode("utf-8", "replace")
        except (zlib.error, OSError, EOFError):
            continue
    return value.decode("utf-8", "replace")
