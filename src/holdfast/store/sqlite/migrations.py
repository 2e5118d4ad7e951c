"""The schema, as named steps; each is recorded in the transaction that ran it.

Owns the tables of `store.schema` as SQLite has them; the search index beside them is
`store.sqlite.full_text_index`'s. A step that has been released never changes: a new one follows
it. `user_version` counts the steps, so that a hook knows with one cheap question that there is
nothing to do.
"""

from __future__ import annotations

from holdfast.records import TYPE_CHECKING
from holdfast.store import schema
from holdfast.store.protocol import StoreDamaged, StoreTooNew
from holdfast.store.sqlite.full_text_index import INDEX_SCHEMA

if TYPE_CHECKING:
    import sqlite3

# "Hold", so that `file` and we can tell our databases from others.
APPLICATION_ID = 0x486F6C64

_TYPES = {
    schema.TEXT: "TEXT NOT NULL",
    schema.INT: "INTEGER NOT NULL",
    schema.OPTIONAL_INT: "INTEGER",
    schema.JSON: "TEXT NOT NULL",
    schema.BLOB: "BLOB NOT NULL",
    # AUTOINCREMENT: an id that a person noted down never names another row.
    schema.ID: "INTEGER PRIMARY KEY AUTOINCREMENT",
}


def create_table(name: str, table: schema.Table, owner: str = "", more: str = "") -> str:
    """`owner` is a column of integers that begins the key, `more` columns of this engine alone."""
    columns = [f"{column} {_TYPES[kind]}" for column, kind in table.columns.items()]
    if more:
        columns.insert(0, more)
    if owner:
        columns.insert(0, f"{owner} INTEGER NOT NULL")
    if table.numbered:
        columns.insert(0, "seq INTEGER PRIMARY KEY")
    key = [owner, *table.key] if owner else list(table.key)
    if schema.ID not in table.columns.values():
        columns.append(f"{'UNIQUE' if table.numbered else 'PRIMARY KEY'} ({', '.join(key)})")
    return f"CREATE TABLE {name} ({', '.join(columns)})"


# The numbers of the writes that made a row and that last changed it (table `change_feed`).
_CREATED, _UPDATED = "created_change INTEGER NOT NULL", "updated_change INTEGER NOT NULL"
# The words inside identifiers (`search_query.split_identifiers`), for the index.
_PARTS = "parts TEXT NOT NULL"
_MORE_COLUMNS = {
    "facts": f"{_CREATED}, {_UPDATED}, {_PARTS}",
    "messages": f"{_CREATED}, {_PARTS}",
    "deliveries": _CREATED,
}

_SCHEMA = (
    create_table("sessions", schema.SESSIONS),
    *(
        create_table(name, table, "session", _MORE_COLUMNS.get(name, ""))
        for name, table in schema.SESSION_TABLES.items()
    ),
    "CREATE INDEX checkpoints_by_session ON checkpoints (session, time, generation, byte_offset)",
    "CREATE INDEX facts_by_change ON facts (session, updated_change, created_change)",
    "CREATE INDEX messages_by_change ON messages (session, created_change)",
    # One row per session, with a new number at every write to it: code that syncs changes elsewhere
    # asks for what came after the last number it saw. AUTOINCREMENT: a number that went with a
    # deleted session never comes again.
    """CREATE TABLE change_feed (
        change_number INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL UNIQUE
    )""",
    "CREATE TABLE store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    *INDEX_SCHEMA,
    # Which store this is, however often the file is moved.
    "INSERT INTO store_meta VALUES ('id', lower(hex(randomblob(16))))",
)

# Names with their statements, in order.
Steps = list[tuple[str, tuple[str, ...]]]
MIGRATIONS: Steps = [("first schema", _SCHEMA)]


def get_version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def list_applied(connection: sqlite3.Connection) -> list[str]:
    """The names of the steps this database has been through, in order."""
    return [name for (name,) in connection.execute("SELECT name FROM migrations ORDER BY position")]


def migrate(connection: sqlite3.Connection, path: str, steps: Steps) -> None:
    """Bring the database up to this version's schema, or refuse to touch it.

    All missing steps run in one transaction: an upgrade that fails or is killed half way
    leaves the database as it was, still fit for the version that wrote it.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = _load_applied(connection, path, steps)
        for position, (name, statements) in enumerate(steps):
            if name in done:
                continue
            for statement in statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (position, name))
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def check_not_newer(count: int, path: str, steps: Steps) -> None:
    if count > len(steps):
        raise StoreTooNew(
            f"{path} has schema {count}, this Holdfast supports {len(steps)}: it was written"
            " by a newer Holdfast. Upgrade, or use another database."
        )


def _load_applied(connection: sqlite3.Connection, path: str, steps: Steps) -> set[str]:
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
    check_not_newer(get_version(connection), path, steps)
    done = set(list_applied(connection))
    unknown = done.difference(name for name, _ in steps)
    if unknown:
        raise StoreTooNew(f"{path} has unknown migrations: {', '.join(sorted(unknown))}")
    return done
