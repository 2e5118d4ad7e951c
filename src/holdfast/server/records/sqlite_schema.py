"""The tables of the service in SQLite, as named steps; `store.postgres.migrations` has theirs."""

from __future__ import annotations

import os
import sqlite3

from holdfast.files import make_folder, touch
from holdfast.store.protocol import StoreTooNew

_DOCUMENT = "TEXT NOT NULL"
_WORDS = "TEXT NOT NULL"

STEPS: list[tuple[str, tuple[str, ...]]] = [
    (
        "what agents tell each other",
        (
            f"CREATE TABLE projects (project {_WORDS} PRIMARY KEY, id {_WORDS} UNIQUE,"
            f" name {_WORDS}, created {_WORDS})",
            f"""CREATE TABLE contexts (place INTEGER PRIMARY KEY, project {_WORDS},
                id {_WORDS}, session {_WORDS}, agent {_WORDS}, kind {_WORDS}, body {_DOCUMENT},
                skills {_DOCUMENT}, tools {_DOCUMENT}, richness INTEGER NOT NULL,
                created {_WORDS}, UNIQUE (project, id))""",
            "CREATE INDEX contexts_by_session ON contexts (project, session, kind, place)",
            f"""CREATE TABLE letters (place INTEGER PRIMARY KEY, project {_WORDS}, id {_WORDS},
                sender {_WORDS}, to_agent {_WORDS}, to_role {_WORDS}, topic {_WORDS},
                payload {_DOCUMENT}, priority INTEGER NOT NULL, created {_WORDS},
                UNIQUE (project, id))""",
            f"""CREATE TABLE readings (project {_WORDS}, letter {_WORDS}, reader {_WORDS},
                delivered {_WORDS}, acknowledged {_WORDS}, PRIMARY KEY (project, letter, reader))
                WITHOUT ROWID""",
            f"""CREATE TABLE deeds (place INTEGER PRIMARY KEY, project {_WORDS}, id {_WORDS},
                session {_WORDS}, agent {_WORDS}, tool {_WORDS}, tool_type {_WORDS},
                files {_DOCUMENT}, exit_code INTEGER, duration_ms INTEGER, note {_WORDS},
                created {_WORDS}, UNIQUE (project, id))""",
            "CREATE INDEX deeds_by_session ON deeds (project, session, place)",
            f"""CREATE TABLE answers (project {_WORDS}, caller {_WORDS}, key {_WORDS},
                digest {_WORDS}, body {_DOCUMENT}, created {_WORDS},
                PRIMARY KEY (project, caller, key)) WITHOUT ROWID""",
        ),
    ),
    (
        "who may do what",
        (
            f"CREATE TABLE tokens (id {_WORDS} PRIMARY KEY, name {_WORDS}, digest {_WORDS},"
            f" scopes {_WORDS}, projects {_DOCUMENT}, created {_WORDS}, expires {_WORDS},"
            f" revoked {_WORDS})",
            f"CREATE TABLE trail (place INTEGER PRIMARY KEY, at {_WORDS}, caller {_WORDS},"
            f" what {_WORDS}, project {_WORDS}, session {_WORDS}, status INTEGER NOT NULL)",
        ),
    ),
    (
        "where projects are",
        (
            f"CREATE TABLE folders (project {_WORDS}, path {_WORDS}, machine {_WORDS},"
            f" created {_WORDS}, PRIMARY KEY (project, path, machine)) WITHOUT ROWID",
            "CREATE INDEX folders_by_path ON folders (path)",
        ),
    ),
    (
        "whose word a folder is",
        (f"ALTER TABLE folders ADD COLUMN sayer {_WORDS} DEFAULT ''",),
    ),
    (
        "when a message expires",
        (f"ALTER TABLE letters ADD COLUMN expires {_WORDS} DEFAULT ''",),
    ),
    (
        "whose a session is",
        (
            f"CREATE TABLE writers (project {_WORDS}, session {_WORDS}, caller {_WORDS},"
            f" created {_WORDS}, PRIMARY KEY (project, session)) WITHOUT ROWID",
        ),
    ),
]


def prepare(connection: sqlite3.Connection) -> None:
    """Bring the file up to this version's tables."""
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position INTEGER PRIMARY KEY,"
            " name TEXT NOT NULL UNIQUE)"
        )
        done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        unknown = done.difference(name for name, _ in STEPS)
        if unknown:
            raise StoreTooNew(f"a newer Holdfast has written it: {', '.join(sorted(unknown))}")
        for position, (name, statements) in enumerate(STEPS):
            if name not in done:
                for statement in statements:
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (position, name))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def make_private(path: str) -> None:
    """The file for the user alone, before anything is in it."""
    make_folder(os.path.dirname(path))
    touch(path)
