"""Every table once: its name, its columns and its key, the same in both engines.

Owns names, so that a statement can be written for both. How a column of a kind is written, what
is partitioned and who may read it is the engines' own (`sqlite.tables`, `postgres.tables`).
Imported by hooks: declarations and nothing else.
"""

from holdfast.records import NamedTuple
from holdfast.store.protocol import Session

TEXT = "text"
INT = "int"
OPTIONAL_INT = "int?"
JSON = "json"
BLOB = "blob"
ID = "id"  # given by the database and never again


class Table(NamedTuple):
    columns: dict[str, str]
    key: tuple[str, ...] = ()
    numbered: bool = False  # has `seq`: the order in which its rows were first written


def _table(columns: str, key: str = "", *, numbered: bool = False) -> Table:
    """Columns as `name:kind`, a text where no kind is said; the key is names of columns."""
    kinds = (column.partition(":") for column in columns.split())
    return Table({name: kind or TEXT for name, _, kind in kinds}, tuple(key.split()), numbered)


# Big values sit last in each table: SQLite reads a row from its front, so a query for the small
# columns never walks the overflow pages of a state.

# An id belongs to its project: two projects may have a session of the same id.
SESSIONS = _table(" ".join(Session._fields), "id project", numbered=True)

# What belongs to one session. SQLite names it by its `seq` (column `session`); PostgreSQL by its
# project and id (`project`, `session`), because tables are partitioned by project. That comes
# before these columns, and begins every key. Lists and positions are JSON in columns of text, which
# comes back as it went in, whichever the engine.
SESSION_TABLES = {
    # The state as it was packed, because PostgreSQL's JSON loses the order of keys, and the order
    # of a table in a state is the order of its events.
    "states": _table("generation:int byte_offset:int position state:blob"),
    "checkpoints": _table(
        "id:id epoch:int cause time generation:int byte_offset:int header position state:blob", "id"
    ),
    "facts": _table(
        "id kind status row_id row_start:int row_end:int time agent text detail",
        "id",
        numbered=True,
    ),
    # One row of a transcript can hold several things said, so the text's checksum is part of what
    # makes a message the same one.
    "messages": _table(
        "row_id speaker checksum:int time row_start:int row_end:int text",
        "row_id speaker checksum",
        numbered=True,
    ),
    "compactions": _table(
        "epoch:int time trigger_kind row_id tokens_before:int? tokens_after:int? kept lost summary",
        "epoch",
    ),
    "deliveries": _table("epoch:int kind channel time facts text", "epoch kind", numbered=True),
    "archives": _table(
        "generation:int start_byte:int end_byte:int time rows:blob",
        "generation start_byte end_byte seq",
        numbered=True,
    ),
}

# What the service keeps beside the sessions (`server.records`).
RECORD_TABLES = {
    "projects": _table("project id name created", "project"),
    "folders": _table("project path machine created scope", "project path machine"),
    "contexts": _table(
        "project id session agent kind richness:int created body:json skills:json tools:json",
        "project id",
        numbered=True,
    ),
    "agent_messages": _table(
        "project id sender to_agent to_role topic priority:int created expires payload:json",
        "project id",
        numbered=True,
    ),
    "message_receipts": _table(
        "project message reader delivered acknowledged", "project message reader"
    ),
    "actions": _table(
        "project id session agent tool tool_type exit_code:int? duration_ms:int? note created"
        " files:json",
        "project id",
        numbered=True,
    ),
    "idempotency_keys": _table("project caller key digest created body:json", "project caller key"),
    "session_owners": _table("project session caller created", "project session"),
    "tokens": _table("id name digest scopes projects:json created expires revoked", "id"),
    "audit_log": _table("seq:id at caller request project session status:int", "seq"),
}
RECORD_INDEXES = (
    "CREATE UNIQUE INDEX projects_by_id ON projects (id)",
    "CREATE INDEX folders_by_path ON folders (path)",
    "CREATE INDEX contexts_by_session ON contexts (project, session, kind, seq)",
    "CREATE INDEX actions_by_session ON actions (project, session, seq)",
)
