"""The tables of the service in SQLite, as named steps; `store.postgres.migrations` has theirs."""

from __future__ import annotations

import os
import sqlite3

from holdfast.files import make_private_dir, touch
from holdfast.store.protocol import StoreTooNew

_JSON = "TEXT NOT NULL"
_TEXT = "TEXT NOT NULL"

MIGRATIONS: list[tuple[str, tuple[str, ...]]] = [
    (
        "what agents tell each other",
        (
            f"CREATE TABLE projects (project {_TEXT} PRIMARY KEY, id {_TEXT} UNIQUE,"
            f" name {_TEXT}, created {_TEXT})",
            f"""CREATE TABLE contexts (place INTEGER PRIMARY KEY, project {_TEXT},
                id {_TEXT}, session {_TEXT}, agent {_TEXT}, kind {_TEXT}, body {_JSON},
                skills {_JSON}, tools {_JSON}, richness INTEGER NOT NULL,
                created {_TEXT}, UNIQUE (project, id))""",
            "CREATE INDEX contexts_by_session ON contexts (project, session, kind, place)",
            f"""CREATE TABLE letters (place INTEGER PRIMARY KEY, project {_TEXT}, id {_TEXT},
                sender {_TEXT}, to_agent {_TEXT}, to_role {_TEXT}, topic {_TEXT},
                payload {_JSON}, priority INTEGER NOT NULL, created {_TEXT},
                UNIQUE (project, id))""",
            f"""CREATE TABLE readings (project {_TEXT}, letter {_TEXT}, reader {_TEXT},
                delivered {_TEXT}, acknowledged {_TEXT}, PRIMARY KEY (project, letter, reader))
                WITHOUT ROWID""",
            f"""CREATE TABLE deeds (place INTEGER PRIMARY KEY, project {_TEXT}, id {_TEXT},
                session {_TEXT}, agent {_TEXT}, tool {_TEXT}, tool_type {_TEXT},
                files {_JSON}, exit_code INTEGER, duration_ms INTEGER, note {_TEXT},
                created {_TEXT}, UNIQUE (project, id))""",
            "CREATE INDEX deeds_by_session ON deeds (project, session, place)",
            f"""CREATE TABLE answers (project {_TEXT}, caller {_TEXT}, key {_TEXT},
                digest {_TEXT}, body {_JSON}, created {_TEXT},
                PRIMARY KEY (project, caller, key)) WITHOUT ROWID""",
        ),
    ),
    (
        "who may do what",
        (
            f"CREATE TABLE tokens (id {_TEXT} PRIMARY KEY, name {_TEXT}, digest {_TEXT},"
            f" scopes {_TEXT}, projects {_JSON}, created {_TEXT}, expires {_TEXT},"
            f" revoked {_TEXT})",
            f"CREATE TABLE trail (place INTEGER PRIMARY KEY, at {_TEXT}, caller {_TEXT},"
            f" what {_TEXT}, project {_TEXT}, session {_TEXT}, status INTEGER NOT NULL)",
        ),
    ),
    (
        "where projects are",
        (
            f"CREATE TABLE folders (project {_TEXT}, path {_TEXT}, machine {_TEXT},"
            f" created {_TEXT}, PRIMARY KEY (project, path, machine)) WITHOUT ROWID",
            "CREATE INDEX folders_by_path ON folders (path)",
        ),
    ),
    (
        "whose word a folder is",
        (f"ALTER TABLE folders ADD COLUMN sayer {_TEXT} DEFAULT ''",),
    ),
    (
        "when a message expires",
        (f"ALTER TABLE letters ADD COLUMN expires {_TEXT} DEFAULT ''",),
    ),
    (
        "whose a session is",
        (
            f"CREATE TABLE writers (project {_TEXT}, session {_TEXT}, caller {_TEXT},"
            f" created {_TEXT}, PRIMARY KEY (project, session)) WITHOUT ROWID",
        ),
    ),
]


def migrate_records(connection: sqlite3.Connection) -> None:
    """Bring the file up to this version's tables."""
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position INTEGER PRIMARY KEY,"
            " name TEXT NOT NULL UNIQUE)"
        )
        done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        unknown = done.difference(name for name, _ in MIGRATIONS)
        if unknown:
            raise StoreTooNew(
                f"written by a newer Holdfast, unknown migrations: {', '.join(sorted(unknown))}"
            )
        for position, (name, statements) in enumerate(MIGRATIONS):
            if name not in done:
                for statement in statements:
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (position, name))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def create_private_file(path: str) -> None:
    """The file for the user alone, before anything is in it."""
    make_private_dir(os.path.dirname(path))
    touch(path)
