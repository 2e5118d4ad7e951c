"""The tables of `store.schema` as SQLite has them, made when a file is first opened.

The search index beside them is `store.sqlite.full_text_index`'s. `user_version` says which schema
a file has, so that a hook knows with one cheap question that there is nothing to do.
"""

from __future__ import annotations

from holdfast.records import TYPE_CHECKING
from holdfast.store import schema
from holdfast.store.protocol import StoreDamaged, StoreTooNew
from holdfast.store.sqlite.full_text_index import INDEX_SCHEMA

if TYPE_CHECKING:
    import sqlite3

# Counts up with every change of a schema: of the store, of the service's records, of the outbox.
SCHEMA_VERSION = 1
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

# Statements that make the tables of a file.
Schema = tuple[str, ...]
SCHEMA: Schema = (
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


def get_version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def create_schema(connection: sqlite3.Connection, path: str, schema: Schema) -> None:
    """All of it in one transaction, or nothing; or refuse to touch the file."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again under the lock, because another process may have won.
        if not has_schema(connection, path):
            if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                raise StoreDamaged(f"{path} is not a Holdfast database")
            for statement in schema:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def has_schema(connection: sqlite3.Connection, path: str) -> bool:
    """False for a file without tables; raises StoreTooNew for another version's."""
    found = get_version(connection)
    if found in (0, SCHEMA_VERSION):
        return found > 0
    raise StoreTooNew.of_schema(path, found, SCHEMA_VERSION)
