"""One connection to one database file: opening it, writing to it, and naming what goes wrong.

Owns pragmas, transactions, permissions and the way from SQLite's errors to ours. Knows
nothing about what is stored.

Why `synchronous=NORMAL`: in WAL mode every commit is in the file system when it is
acknowledged, so a killed process loses nothing. A power cut can take back the last commits
(never corrupt the file), and then the transcript still has their rows and the cursor that
went back with the state reads them again. FULL would buy that case with an fsync per hook.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from holdfast.files import make_private_dir, move, touch
from holdfast.records import TYPE_CHECKING, Any
from holdfast.store.protocol import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreUnwritable
from holdfast.store.search_query import replace_surrogates
from holdfast.store.sqlite import tables

if TYPE_CHECKING:
    import sqlite3
else:
    try:  # beside it, `sqlite3` has dates, for which a hook would wait 3 ms
        import _sqlite3 as sqlite3
    except ImportError:
        import sqlite3

# Longer than any transaction of ours, shorter than any hook's patience.
BUSY_TIMEOUT_SECONDS = 5.0
# After a large transaction (an archive of a long session) the log shrinks back to this.
MAX_WAL_BYTES = 4_000_000

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNWRITABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
}


MIN_FREE_BYTES = 64 * 1024  # twice what SQLite adds at a time


def to_store_error(error: sqlite3.Error, path: str) -> StoreError:
    """Our word for what SQLite reports, with the file that it is about."""
    extended: int = getattr(error, "sqlite_errorcode", 0) or 0
    code = extended & 0xFF
    if code in _BUSY:
        return StoreBusy(f"{path} was locked by another process for too long: {error}")
    # A read that ends early means a file cut short, not a disk that refuses.
    if code in _DAMAGED or extended == sqlite3.SQLITE_IOERR_SHORT_READ:
        return StoreDamaged(f"{path} cannot be read as a database: {error}")
    # Without room for its index of the log, SQLite calls a full disk an I/O error.
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_disk_full(path)):
        return StoreFull(f"the disk of {path} is full: {error}")
    if code in _UNWRITABLE:
        return StoreUnwritable(f"{path} cannot be written: {error}")
    return StoreError(f"{path}: {error}")


def _is_disk_full(path: str) -> bool:
    if not hasattr(os, "statvfs"):  # Windows
        return False
    try:
        disk = os.statvfs(os.path.dirname(path) or ".")
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < MIN_FREE_BYTES


class SqliteStatements:
    """`store.queries.Statements` on one connection."""

    __slots__ = ("_connection",)

    owner_columns: tuple[str, ...] = ("session",)
    session_join = "s.seq = {0}.session"
    owner_values: tuple[str, ...] = ("s.seq",)
    session_by_id = "s.seq = (SELECT min(seq) FROM sessions WHERE id = :session)"
    greatest = "max"
    sessions_table = "main.sessions"  # a store that is bound to projects has a view of that name
    where_session = "seq = :session"
    sees_all = "NOT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'sessions')"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, _make_storable(values)).fetchall()

    def execute(self, statement: str, **values: Any) -> int:
        return self._connection.execute(statement, _make_storable(values)).rowcount


def _make_storable(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: replace_surrogates(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


class SqliteDatabase:
    __slots__ = ("connection", "path", "statements")

    def __init__(
        self,
        path: str,
        busy_seconds: float = BUSY_TIMEOUT_SECONDS,
        schema: tables.Schema = tables.SCHEMA,
    ) -> None:
        self.path = os.path.abspath(path)
        _create_private_file(self.path)
        try:
            self.connection = sqlite3.connect(
                self.path,
                timeout=busy_seconds,
                isolation_level=None,  # transactions begin where we say so
            )
        except sqlite3.Error as error:
            raise to_store_error(error, self.path) from error
        self.statements = SqliteStatements(self.connection)
        try:
            with self.reading():
                self._prepare_connection(busy_seconds, schema)
        except StoreError:
            self.connection.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Names the errors of what runs inside."""
        try:
            yield self.connection
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.Error as error:
            raise to_store_error(error, self.path) from error

    @contextmanager
    def reading_at_once(self) -> Iterator[sqlite3.Connection]:
        """All that is read inside is as it was at one moment."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of what runs inside, or nothing of it.

        The write lock is taken at the start: a transaction that reads first and then wants to
        write can fail at once, without waiting, when another has written in between.
        """
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                # SQLite has already rolled back by itself after some errors, such as a full disk.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def bind(self, projects: Sequence[str] | None) -> None:
        """From now on this connection sees the sessions of these projects alone: statements that
        name the table mean a view of the same name, which SQLite looks for first. None for all."""
        with self.reading() as connection:
            connection.execute("DROP VIEW IF EXISTS temp.sessions")
            if projects is not None:
                names = ", ".join(
                    "'" + replace_surrogates(one).replace("'", "''") + "'" for one in projects
                )
                connection.execute(
                    "CREATE TEMP VIEW sessions AS SELECT * FROM main.sessions"
                    f" WHERE project IN ({names})"
                )

    def close(self) -> None:
        # The last connection to close folds the log into the database (1.2 ms measured).
        # Leaving without it loses nothing, but the next to open reads the log again from its
        # start, and a log that is never folded in only grows.
        self.connection.close()

    def _prepare_connection(self, busy_seconds: float, schema: tables.Schema) -> None:
        connection = self.connection
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {MAX_WAL_BYTES}")
        if not tables.has_schema(connection, self.path):
            _set_file_pragmas(connection, busy_seconds)
            tables.create_schema(connection, self.path, schema)


def _create_private_file(path: str) -> None:
    """The file and its folder for the user alone; SQLite gives -wal and -shm the same mode."""
    try:
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            make_private_dir(os.path.dirname(path))
            touch(path)
            return
        if not (mode & 0o170000 == 0o100000):
            # Above all no folder: without its bits it could not be used any more.
            raise StoreUnwritable(f"{path} cannot be written: not a regular file")
        if mode & 0o077:
            for name in _list_files(path):
                if os.path.exists(name):
                    os.chmod(name, 0o600)
    except OSError as error:
        raise StoreUnwritable(f"{path} cannot be written: {error}") from error


def _set_file_pragmas(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """What is decided once, before the first table, and then stays in the file."""
    # So that pruning can give space back without rewriting the whole file.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    # Where WAL is not possible (some network folders) SQLite keeps its old journal: slower,
    # and still correct. The change of mode does not wait for others, so we do.
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _list_files(path: str) -> tuple[str, str, str]:
    return (f"{path}-wal", f"{path}-shm", path)


def rename_damaged(path: str) -> str:
    """Rename a damaged database out of the way, with its log; answers its new name.

    Nothing is deleted: a person, or a recovery tool, may still get something out of it.
    """
    path = os.path.abspath(path)
    number = 1
    while any(os.path.lexists(name) for name in _list_files(f"{path}.damaged-{number}")):
        number += 1
    aside = f"{path}.damaged-{number}"
    try:
        # The log first: a new database must never be opened beside the old one's log.
        for old, new in zip(_list_files(path), _list_files(aside), strict=True):
            if old == path or os.path.lexists(old):
                move(old, new)
    except OSError as error:
        raise StoreUnwritable(f"{path} cannot be moved aside: {error}") from error
    return aside


def read_written_by(path: str) -> str:
    """The version of Holdfast that last wrote a database, of whatever schema; "" where unknown."""
    from pathlib import Path  # not in a hook

    if not os.path.isfile(path):
        return ""
    connection = None
    try:
        connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
        row = connection.execute("SELECT value FROM store_meta WHERE name='written_by'").fetchone()
        return str(row[0]) if row else ""
    except sqlite3.Error:
        return ""
    finally:
        if connection is not None:
            connection.close()
