"""The schema with its roles. The comment on it says which version it is.

Tables are partitioned by project, and every key begins with the project, so that partitions can be
moved to other servers (postgres_fdw) or the tables be distributed (Citus) without another schema.

Row-level security: a transaction sees the projects that `holdfast.projects` names, everything
for "*", and nothing when it is not set. Forced, so that the owner of the tables is bound too.
But an owner may switch it off: one role migrates and owns the tables, and another serves, which
owns nothing and has what `migrate` grants it. Partitions have no policy, and nothing is
granted on them: reading them past their table shows nothing.
"""

from importlib.resources import files

import psycopg
from psycopg import sql

from holdfast.store import schema
from holdfast.store.postgres.connection import (
    ALL_PROJECTS,
    SCHEMA,
    Connection,
    bind_scope,
    format_database,
    run,
    store_errors,
)
from holdfast.store.protocol import StoreDamaged, StoreError, StoreTooNew

PARTITIONS = 8
# Counts up with every change of the schema.
SCHEMA_VERSION = 1
# Any number, as long as it stays: two machines that migrate at once take turns.
_MIGRATION_LOCK_KEY = 0x486F6C64

# Bytes decide the order, as in SQLite, whatever the database's language.
_TEXT = 'TEXT COLLATE "C" NOT NULL'
_TYPES = {
    schema.TEXT: _TEXT,
    schema.INT: "BIGINT NOT NULL",
    schema.OPTIONAL_INT: "BIGINT",
    schema.JSON: "JSON NOT NULL",
    schema.BLOB: "BYTEA NOT NULL",
}
# Not partitioned: `sessions` and `folders` are directories that are asked before the project is
# known, and the others are small.
_UNPARTITIONED = ("projects", "folders", "tokens", "audit_log")
# For the service itself, never for a transaction that is bound to projects.
_OF_THE_SERVICE = ("tokens", "audit_log")


def _format_columns(name: str, table: schema.Table, owner: tuple[str, ...] = ()) -> str:
    """With `owner`, columns of text that begin the key."""
    columns = [f"{column} {_TEXT}" for column in owner]
    for column, kind in table.columns.items():
        if kind == schema.ID:
            columns.append(f"{column} BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.{name}_ids')")
        else:
            columns.append(f"{column} {_TYPES[kind]}")
    if table.numbered:
        columns.append(f"seq BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.row_seq')")
    # An id is given once, whatever its session.
    key = (*(owner[:1] if schema.ID in table.columns.values() else owner), *table.key)
    return f"{', '.join(columns)}, PRIMARY KEY ({', '.join(key)})"


def _session_tables() -> tuple[str, ...]:
    return (
        f"CREATE TABLE sessions ({_format_columns('sessions', schema.SESSIONS)})",
        *_row_security("sessions"),
        *(
            statement
            for name, table in schema.SESSION_TABLES.items()
            for statement in _create_partitioned(
                name, _format_columns(name, table, ("project", "session"))
            )
        ),
    )


def _record_tables() -> tuple[str, ...]:
    statements: list[str] = []
    for name, table in schema.RECORD_TABLES.items():
        if name not in _UNPARTITIONED:
            statements += _create_partitioned(name, _format_columns(name, table))
            continue
        statements.append(f"CREATE TABLE {name} ({_format_columns(name, table)})")
        scope = _SEES_ALL if name in _OF_THE_SERVICE else _SEES_PROJECT
        statements += _row_security(name, scope)
    return (*statements, *schema.RECORD_INDEXES)


def _create_partitioned(name: str, columns: str) -> tuple[str, ...]:
    parts = [f"{name}_{number}" for number in range(PARTITIONS)]
    return (
        *_create_partitions(name, columns),
        *(statement for part in parts for statement in _force_row_security(part)),
        *_row_security(name),
    )


def _create_partitions(name: str, columns: str) -> tuple[str, ...]:
    return (
        f"CREATE TABLE {name} ({columns}) PARTITION BY HASH (project)",
        *(
            f"CREATE TABLE {name}_{number} PARTITION OF {name}"
            f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
            for number in range(PARTITIONS)
        ),
    )


# As sub-selects, which are asked once per query and not once per row.
_SEES_ALL = f"(SELECT current_setting('holdfast.projects', true)) = '{ALL_PROJECTS}'"
_SEES_PROJECT = f"{_SEES_ALL} OR project = ANY (ARRAY(SELECT visible_projects()))"


def _force_row_security(name: str) -> tuple[str, ...]:
    security = ("ENABLE ROW LEVEL SECURITY", "FORCE ROW LEVEL SECURITY")
    return tuple(f"ALTER TABLE {name} {switch}" for switch in security)


def _row_security(name: str, condition: str = _SEES_PROJECT) -> tuple[str, ...]:
    policy = f"CREATE POLICY of_projects ON {name} USING ({condition})"
    return (*_force_row_security(name), policy)


def _word_tables(texts: str, column: str, value: str, condition: str) -> tuple[str, ...]:
    """PostgreSQL asks a table's row security before anything that might reveal a row, and a match
    of words might: with both on one table its index is never used, and every search reads
    everything. So the words are in tables of their own, on which only their owner has any
    right. Who serves reaches them by functions, which keep to the visible projects."""
    return (
        f"CREATE UNIQUE INDEX {texts}_by_seq ON {texts} (project, seq)",
        f"CREATE INDEX {texts}_latest ON {texts} (seq)",
        *_create_partitions(
            f"search_{texts}",
            # No primary key, which would have the project in it: the planner would read all words
            # of a project by that, and not those that are wanted by the index on them.
            f"""project {_TEXT}, seq BIGINT NOT NULL, session {_TEXT},
            {f"{column} {_TEXT}," if column else ""} words TSVECTOR NOT NULL,
            FOREIGN KEY (project, seq) REFERENCES {texts} (project, seq)
                ON DELETE CASCADE ON UPDATE CASCADE""",
        ),
        _read_sql(
            "words",
            texts=texts,
            column=f"{column}," * bool(column),
            value=value,
            condition=condition,
        ),
    )


def _read_sql(name: str, **values: str) -> str:
    """Statements of a file beside this one, with our names in place of `{...}`."""
    statements = (files(__package__) / "sql" / f"{name}.sql").read_text("utf-8")
    for field, value in {"schema": SCHEMA, "all_projects": ALL_PROJECTS, **values}.items():
        statements = statements.replace(f"{{{field}}}", value)
    return statements


def _list_statements() -> tuple[str, ...]:
    return (
        _read_sql("scope"),
        *_session_tables(),
        "CREATE INDEX sessions_by_project ON sessions (project)",
        "CREATE INDEX sessions_by_time ON sessions ((greatest(updated, started)), seq)",
        "CREATE INDEX checkpoints_by_session ON checkpoints (project, session, time)",
        "CREATE INDEX checkpoints_by_id ON checkpoints (id)",
        *_record_tables(),
        "CREATE INDEX agent_messages_by_seq ON agent_messages (project, seq)",
        # A transaction that is bound to projects may add to the audit log, and never read it.
        "CREATE POLICY of_writers ON audit_log FOR INSERT WITH CHECK (true)",
        _read_sql("search"),
        *_word_tables("facts", "kind", "of_kind,", "(of_kind = '' OR f.kind = of_kind)"),
        *_word_tables("messages", "", "", "of_kind IN ('', 'message')"),
    )


def migrate(url: str, serve_as: str = "") -> bool:
    """Make the tables where there are none; whether it did. The role `serve_as` may serve them."""
    where = format_database(url)
    with store_errors(where), psycopg.connect(url) as connection:
        run(connection, "SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK_KEY,))
        run(connection, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        bind_scope(connection, ALL_PROJECTS)
        is_new = not _has_schema(connection, where)
        if is_new:
            for statement in _list_statements():
                run(connection, statement)
            run(connection, f"COMMENT ON SCHEMA {SCHEMA} IS '{SCHEMA_VERSION}'")
        if serve_as:
            _grant_access(connection, serve_as)
    return is_new


def check_version(connection: Connection, where: str) -> None:
    """Raise unless the schema is exactly this version's."""
    if not _has_schema(connection, where):
        raise StoreDamaged(f"{where} has no Holdfast tables yet: run `holdfast team db migrate`")


def _has_schema(connection: Connection, where: str) -> bool:
    found = get_version(connection)
    if found is None:
        raise StoreDamaged(
            f"{where} has tables in the schema {SCHEMA} that do not say their version: "
            "copy what you need, drop the schema and run `holdfast team db migrate`"
        )
    if found in (0, SCHEMA_VERSION):
        return found > 0
    raise StoreTooNew.of_schema(where, found, SCHEMA_VERSION)


def get_version(connection: Connection) -> int | None:
    """0 where there are no tables, None where they have no version of ours."""
    row = run(
        connection,
        "SELECT to_regclass(%s), obj_description(to_regnamespace(%s), 'pg_namespace')",
        (f"{SCHEMA}.sessions", SCHEMA),
    ).fetchone()
    table, comment = row or (None, None)
    if table is None:
        return 0
    return int(comment) if comment and comment.isdecimal() else None


_RLS_BYPASS = """
    SELECT current_user,
        (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
        EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND pg_has_role(c.relowner, 'MEMBER'))
"""


def _grant_access(connection: Connection, role: str) -> None:
    """Inside a transaction of the owner's."""
    statement = "SELECT rolname = current_user FROM pg_roles WHERE rolname = %s"
    found = run(connection, statement, (role,)).fetchone()
    if found is None:
        raise StoreError(f"no role {role}: create it with `createuser {role}`")
    if found[0]:
        raise StoreError(
            f"the role {role} runs the migration and owns the tables. Serve with another one"
        )
    # Not on the tables of words.
    tables = ("sessions", *schema.SESSION_TABLES, *schema.RECORD_TABLES)
    listed = sql.SQL(", ").join(sql.Identifier(SCHEMA, table) for table in tables)
    for statement in (
        "GRANT USAGE ON SCHEMA {schema} TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role}",
        "GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}",
    ):
        values = {"schema": sql.Identifier(SCHEMA), "role": sql.Identifier(role)}
        connection.execute(sql.SQL(statement).format(**values, tables=listed))


def find_rls_bypass(connection: Connection) -> str:
    """Why row-level security does not bind the role of this connection; "" where it does."""
    row = run(connection, _RLS_BYPASS, (SCHEMA,)).fetchone()
    name, free, owns = row if row is not None else ("", False, False)
    if free:
        return f"the role {name} bypasses it"
    return f"the role {name} owns the tables and can disable it" if owns else ""


def find_rls_bypass_at(url: str) -> str:
    with store_errors(format_database(url)), psycopg.connect(url, connect_timeout=10) as connection:
        return find_rls_bypass(connection)
