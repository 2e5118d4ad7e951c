"""The schema, as named steps; each is recorded in the transaction that ran it.

Owns what tables there are, except for the search index (`store.sqlite.full_text_index`), which can
be rebuilt from them at any time. A step that has been released never changes: a new one
follows it. `user_version` counts the steps, so that a hook knows with one cheap question
that there is nothing to do.
"""

from __future__ import annotations

import sqlite3

from holdfast.store.protocol import StoreDamaged, StoreTooNew

# "Hold", so that `file` and we can tell our databases from others.
APPLICATION_ID = 0x486F6C64

# Big values sit last in each table: SQLite reads a row from its front, so a query for the
# small columns never walks the overflow pages of a state.
_SCHEMA = (
    # An id belongs to its project: two projects may have a session of the same id.
    """CREATE TABLE sessions (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        client TEXT NOT NULL DEFAULT '',
        project TEXT NOT NULL DEFAULT '',
        worktree TEXT NOT NULL DEFAULT '',
        cwd TEXT NOT NULL DEFAULT '',
        branch TEXT NOT NULL DEFAULT '',
        title TEXT NOT NULL DEFAULT '',
        transcript TEXT NOT NULL DEFAULT '',
        started TEXT NOT NULL DEFAULT '',
        updated TEXT NOT NULL DEFAULT '',
        ended TEXT NOT NULL DEFAULT '',
        pinned INTEGER NOT NULL DEFAULT 0,
        UNIQUE (id, project)
    )""",
    """CREATE TABLE states (
        session INTEGER PRIMARY KEY,
        generation INTEGER NOT NULL,
        "offset" INTEGER NOT NULL,
        position TEXT NOT NULL,
        state BLOB NOT NULL
    )""",
    # AUTOINCREMENT: an id that a person noted down never names another checkpoint.
    """CREATE TABLE checkpoints (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        cause TEXT NOT NULL,
        time TEXT NOT NULL,
        generation INTEGER NOT NULL,
        "offset" INTEGER NOT NULL,
        header TEXT NOT NULL,
        position TEXT NOT NULL,
        state BLOB NOT NULL
    )""",
    'CREATE INDEX checkpoints_by_session ON checkpoints (session, time, generation, "offset")',
    # `parts` holds the words inside identifiers (`search_query.split_identifiers`). It is kept
    # because taking a row out of the index needs the very text that went in. `made` and `changed`
    # are the numbers of the writes that made the row and last changed it (table `changes`).
    """CREATE TABLE facts (
        key INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        standing TEXT NOT NULL,
        row TEXT NOT NULL,
        start INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        time TEXT NOT NULL,
        agent TEXT NOT NULL,
        made INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        text TEXT NOT NULL,
        detail TEXT NOT NULL,
        parts TEXT NOT NULL,
        UNIQUE (session, id)
    )""",
    "CREATE INDEX facts_by_change ON facts (session, changed, made)",
    # One row of a transcript can hold several things said, so the text's checksum is part of
    # what makes a message the same one.
    """CREATE TABLE messages (
        key INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        row TEXT NOT NULL,
        who TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        time TEXT NOT NULL,
        start INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        made INTEGER NOT NULL,
        text TEXT NOT NULL,
        parts TEXT NOT NULL,
        UNIQUE (session, row, who, checksum)
    )""",
    "CREATE INDEX messages_by_making ON messages (session, made)",
    """CREATE TABLE compactions (
        session INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        time TEXT NOT NULL,
        "trigger" TEXT NOT NULL,
        row TEXT NOT NULL,
        tokens_before INTEGER,
        tokens_after INTEGER,
        kept TEXT NOT NULL,
        lost TEXT NOT NULL,
        summary TEXT NOT NULL,
        PRIMARY KEY (session, epoch)
    )""",
    """CREATE TABLE deliveries (
        session INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        what TEXT NOT NULL,
        road TEXT NOT NULL,
        time TEXT NOT NULL,
        made INTEGER NOT NULL,
        facts TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (session, epoch, what)
    )""",
    """CREATE TABLE archives (
        key INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        start INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        time TEXT NOT NULL,
        rows BLOB NOT NULL
    )""",
    'CREATE INDEX archives_by_range ON archives (session, generation, start, "end")',
    # One row per session, with a new number at every write to it: whoever syncs changes elsewhere
    # asks for what came after the last number it saw. AUTOINCREMENT: a number that went with a
    # deleted session never comes again.
    """CREATE TABLE changes (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL UNIQUE
    )""",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "INSERT INTO settings VALUES ('index', 'stale')",
    # Which store this is, however often the file is moved.
    "INSERT INTO settings VALUES ('id', lower(hex(randomblob(16))))",
)

MIGRATIONS: list[tuple[str, tuple[str, ...]]] = [("first schema", _SCHEMA)]


def get_version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def list_applied(connection: sqlite3.Connection) -> list[str]:
    """The names of the steps this database has been through, in order."""
    return [name for (name,) in connection.execute("SELECT name FROM migrations ORDER BY position")]


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring the database up to this version's schema, or refuse to touch it.

    All missing steps run in one transaction: an upgrade that fails or is killed half way
    leaves the database as it was, still fit for the version that wrote it.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = _load_applied(connection, path)
        for position, (name, statements) in enumerate(MIGRATIONS):
            if name in done:
                continue
            for statement in statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (position, name))
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def check_not_newer(count: int, path: str) -> None:
    if count > len(MIGRATIONS):
        raise StoreTooNew(
            f"{path} has schema {count}, this Holdfast supports {len(MIGRATIONS)}: it was written"
            " by a newer Holdfast. Upgrade, or use another database."
        )


def _load_applied(connection: sqlite3.Connection, path: str) -> set[str]:
    """What ran already; asked again under the lock, because another process may have won."""
    tables = {
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    if not tables:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(
            "CREATE TABLE migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
        )
        return set()
    if "migrations" not in tables:
        raise StoreDamaged(f"{path} is not a Holdfast database")
    check_not_newer(get_version(connection), path)
    done = set(list_applied(connection))
    unknown = done.difference(name for name, _ in MIGRATIONS)
    if unknown:
        raise StoreTooNew(f"{path} has unknown migrations: {', '.join(sorted(unknown))}")
    return done
