"""Every table once: its name, its columns and its key, the same in both engines.

Owns names, so that a statement can be written for both. How a column of a kind is written, what
is partitioned and who may read it is the engines' own (`sqlite.migrations`, `postgres.migrations`).
Imported by hooks: declarations and nothing else.
"""

from typing import NamedTuple

from holdfast.store.protocol import Session

TEXT = "text"
INT = "int"
OPTIONAL_INT = "optional int"
BOOL = "bool"
JSON = "json"
BLOB = "blob"
ID = "id"  # given by the database and never again


class Table(NamedTuple):
    columns: dict[str, str]
    key: tuple[str, ...] = ()
    numbered: bool = False  # has `seq`: the order in which its rows were first written


# Big values sit last in each table: SQLite reads a row from its front, so a query for the small
# columns never walks the overflow pages of a state.

# An id belongs to its project: two projects may have a session of the same id.
SESSIONS = Table({**dict.fromkeys(Session._fields, TEXT), "pinned": BOOL}, ("id", "project"), True)

# What belongs to one session. SQLite names it by its `seq` (column `session`); PostgreSQL by its
# project and id (`project`, `session`), because tables are partitioned by project. That comes
# before these columns, and begins every key. Lists and positions are JSON in columns of text, which
# comes back as it went in, whichever the engine.
SESSION_TABLES = {
    # The state as it was packed, because PostgreSQL's JSON loses the order of keys, and the order
    # of a table in a state is the order of its events.
    "states": Table({"generation": INT, "byte_offset": INT, "position": TEXT, "state": BLOB}),
    "checkpoints": Table(
        {
            "id": ID,
            "epoch": INT,
            "cause": TEXT,
            "time": TEXT,
            "generation": INT,
            "byte_offset": INT,
            "header": TEXT,
            "position": TEXT,
            "state": BLOB,
        },
        ("id",),
    ),
    "facts": Table(
        {
            "id": TEXT,
            "kind": TEXT,
            "status": TEXT,
            "row_id": TEXT,
            "row_start": INT,
            "row_end": INT,
            "time": TEXT,
            "agent": TEXT,
            "text": TEXT,
            "detail": TEXT,
        },
        ("id",),
        True,
    ),
    # One row of a transcript can hold several things said, so the text's checksum is part of what
    # makes a message the same one.
    "messages": Table(
        {
            "row_id": TEXT,
            "speaker": TEXT,
            "checksum": INT,
            "time": TEXT,
            "row_start": INT,
            "row_end": INT,
            "text": TEXT,
        },
        ("row_id", "speaker", "checksum"),
        True,
    ),
    "compactions": Table(
        {
            "epoch": INT,
            "time": TEXT,
            "trigger_kind": TEXT,
            "row_id": TEXT,
            "tokens_before": OPTIONAL_INT,
            "tokens_after": OPTIONAL_INT,
            "kept": TEXT,
            "lost": TEXT,
            "summary": TEXT,
        },
        ("epoch",),
    ),
    "deliveries": Table(
        {
            "epoch": INT,
            "kind": TEXT,
            "channel": TEXT,
            "time": TEXT,
            "facts": TEXT,
            "text": TEXT,
        },
        ("epoch", "kind"),
        True,
    ),
    "archives": Table(
        {
            "generation": INT,
            "start_byte": INT,
            "end_byte": INT,
            "time": TEXT,
            "rows": BLOB,
        },
        ("generation", "start_byte", "end_byte", "seq"),
        True,
    ),
}

# What the service keeps beside the sessions (`server.records`).
RECORD_TABLES = {
    "projects": Table(dict.fromkeys(("project", "id", "name", "created"), TEXT), ("project",)),
    "folders": Table(
        dict.fromkeys(("project", "path", "machine", "created", "scope"), TEXT),
        ("project", "path", "machine"),
    ),
    "contexts": Table(
        {
            **dict.fromkeys(("project", "id", "session", "agent", "kind"), TEXT),
            "richness": INT,
            "created": TEXT,
            **dict.fromkeys(("body", "skills", "tools"), JSON),
        },
        ("project", "id"),
        True,
    ),
    "agent_messages": Table(
        {
            **dict.fromkeys(("project", "id", "sender", "to_agent", "to_role", "topic"), TEXT),
            "priority": INT,
            "created": TEXT,
            "expires": TEXT,
            "payload": JSON,
        },
        ("project", "id"),
        True,
    ),
    "message_receipts": Table(
        dict.fromkeys(("project", "message", "reader", "delivered", "acknowledged"), TEXT),
        ("project", "message", "reader"),
    ),
    "actions": Table(
        {
            **dict.fromkeys(("project", "id", "session", "agent", "tool", "tool_type"), TEXT),
            "exit_code": OPTIONAL_INT,
            "duration_ms": OPTIONAL_INT,
            "note": TEXT,
            "created": TEXT,
            "files": JSON,
        },
        ("project", "id"),
        True,
    ),
    "idempotency_keys": Table(
        {
            **dict.fromkeys(("project", "caller", "key", "digest", "created"), TEXT),
            "body": JSON,
        },
        ("project", "caller", "key"),
    ),
    "session_owners": Table(
        dict.fromkeys(("project", "session", "caller", "created"), TEXT), ("project", "session")
    ),
    "tokens": Table(
        {
            **dict.fromkeys(("id", "name", "digest", "scopes"), TEXT),
            "projects": JSON,
            **dict.fromkeys(("created", "expires", "revoked"), TEXT),
        },
        ("id",),
    ),
    "audit_log": Table(
        {
            "seq": ID,
            **dict.fromkeys(("at", "caller", "request", "project", "session"), TEXT),
            "status": INT,
        },
        ("seq",),
    ),
}
RECORD_INDEXES = (
    "CREATE UNIQUE INDEX projects_by_id ON projects (id)",
    "CREATE INDEX folders_by_path ON folders (path)",
    "CREATE INDEX contexts_by_session ON contexts (project, session, kind, seq)",
    "CREATE INDEX actions_by_session ON actions (project, session, seq)",
)
