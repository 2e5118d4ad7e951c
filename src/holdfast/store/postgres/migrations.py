"""The schema, as named steps; each is recorded in the transaction that ran it.

A step that has been released never changes: a new one follows it. Tables are partitioned by
project, and every key begins with the project, so that partitions can be moved to other
servers (postgres_fdw) or the tables be distributed (Citus) without another schema.

Row-level security: a transaction sees the projects that `holdfast.projects` names, everything
for "*", and nothing when it is not set. Forced, so that the owner of the tables is bound too.
But an owner may switch it off: one role migrates and owns the tables, and another serves, which
owns nothing and has what `grant_access` grants it. Partitions have no policy, and nothing is
granted on them: reading them past their table shows nothing.
"""

from __future__ import annotations

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
# Any number, as long as it stays: two machines that migrate at once take turns.
_MIGRATION_LOCK_KEY = 0x486F6C64

# Bytes decide the order, as in SQLite, whatever the database's language.
_TEXT = 'TEXT COLLATE "C" NOT NULL'
_TYPES = {
    schema.TEXT: _TEXT,
    schema.INT: "BIGINT NOT NULL",
    schema.OPTIONAL_INT: "BIGINT",
    schema.BOOL: "BOOLEAN NOT NULL DEFAULT false",
    schema.JSON: "JSONB NOT NULL",
    schema.BLOB: "BYTEA NOT NULL",
}
# Not partitioned: `sessions` and `folders` are directories that are asked before the project is
# known, and the others are small.
_UNPARTITIONED = ("projects", "folders", "tokens", "audit_log")
# For the service itself, never for a transaction that is bound to projects.
_OF_THE_SERVICE = ("tokens", "audit_log")


def _columns(name: str, table: schema.Table, owner: tuple[str, ...] = ()) -> str:
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
        f"CREATE TABLE sessions ({_columns('sessions', schema.SESSIONS)})",
        *_row_security("sessions"),
        *(
            statement
            for name, table in schema.SESSION_TABLES.items()
            for statement in _partitioned(name, _columns(name, table, ("project", "session")))
        ),
    )


def _record_tables() -> tuple[str, ...]:
    statements: list[str] = []
    for name, table in schema.RECORD_TABLES.items():
        if name not in _UNPARTITIONED:
            statements += _partitioned(name, _columns(name, table))
            continue
        statements.append(f"CREATE TABLE {name} ({_columns(name, table)})")
        statements += _service_only(name) if name in _OF_THE_SERVICE else _row_security(name)
    return (*statements, *schema.RECORD_INDEXES)


def _partitioned(name: str, columns: str) -> tuple[str, ...]:
    parts = [f"{name}_{number}" for number in range(PARTITIONS)]
    return (
        *_create_partitions(name, columns),
        *(f"ALTER TABLE {part} ENABLE ROW LEVEL SECURITY" for part in parts),
        *(f"ALTER TABLE {part} FORCE ROW LEVEL SECURITY" for part in parts),
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


def _row_security(name: str) -> tuple[str, ...]:
    return (
        f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY",
        # As sub-selects, which are asked once per query and not once per row.
        f"""CREATE POLICY of_projects ON {name} USING (
            (SELECT current_setting('holdfast.projects', true)) = '{ALL_PROJECTS}'
            OR project = ANY (ARRAY(SELECT visible_projects())))""",
    )


def _service_only(name: str) -> tuple[str, ...]:
    return (
        f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY of_the_service ON {name} USING"
        f" ((SELECT current_setting('holdfast.projects', true)) = '{ALL_PROJECTS}')",
    )


def _word_tables(texts: str, column: str) -> tuple[str, ...]:
    """The words of a table of texts, which go where it goes."""
    found = f"search_{texts}"
    return (
        f"CREATE UNIQUE INDEX {texts}_by_seq ON {texts} (project, seq)",
        f"CREATE INDEX {texts}_latest ON {texts} (seq)",
        *_create_partitions(
            found,
            # No primary key, which would have the project in it: the planner would read all words
            # of a project by that, and not those that are wanted by the index on them.
            f"""project {_TEXT}, seq BIGINT NOT NULL, session {_TEXT}, {column}
            words TSVECTOR NOT NULL,
            FOREIGN KEY (project, seq) REFERENCES {texts} (project, seq)
                ON DELETE CASCADE ON UPDATE CASCADE""",
        ),
        f"CREATE INDEX {found}_by_seq ON {found} (seq)",
        f"CREATE INDEX {found}_by_words ON {found} USING gin (words)",
    )


# Of a function that works on the words with its owner's rights, and only for visible projects.
_DEFINER = f"SECURITY DEFINER SET search_path = {SCHEMA}, pg_temp"
# Plans are made once per connection, not for every search: to plan over all partitions took eight
# times as long as to search. A plan that is made before there is much to search must suit what
# comes later: by the index on words, and then by seq.
_PLANNED = """SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_indexscan = off SET enable_hashjoin = off SET enable_mergejoin = off"""


def _word_writers(texts: str, columns: str, values: str) -> tuple[str, ...]:
    """Words come with a placeholder for the prefix of their project
    (`full_text_search.PROJECT_PLACEHOLDER`). Whoever writes holds the session's lock."""
    return (
        f"""CREATE FUNCTION index_{texts}(of_project text, at_seq bigint,
        of_session text, of_kind text, said text, is_new boolean) RETURNS void LANGUAGE plpgsql
        {_DEFINER} SET plan_cache_mode = force_generic_plan AS $$ BEGIN
            IF NOT is_visible(of_project) THEN
                RETURN;
            END IF;
            IF NOT is_new THEN
                DELETE FROM search_{texts} w WHERE w.project = of_project AND w.seq = at_seq;
            END IF;
            INSERT INTO search_{texts} (project, seq, session, {columns} words)
            VALUES (of_project, at_seq, of_session, {values}
                replace(said, '''_', '''' || project_prefix(of_project))::tsvector);
        END $$""",
        f"""CREATE TRIGGER search_in_another_project BEFORE UPDATE OF project ON search_{texts}
            FOR EACH ROW WHEN (OLD.project <> NEW.project) EXECUTE FUNCTION rewrite_prefixes()""",
    )


def _word_search(texts: str, condition: str) -> str:
    """The latest texts with these words, ranked: in each project by itself, so that
    neither what is in others nor how much of it is there makes a difference."""
    return f"""CREATE FUNCTION find_{texts}(words_wanted text, in_project text, in_session text,
        of_kind text, weights real[], by_length int, most int)
        RETURNS TABLE (project text, seq bigint, score real) LANGUAGE plpgsql STABLE
        {_DEFINER} {_PLANNED} AS $$ BEGIN RETURN QUERY
            SELECT w.project, w.seq,
                ts_rank(weights, w.words, scoped_query(w.project, words_wanted), by_length)
            FROM (
                SELECT h.project, h.seq FROM searched_projects(in_project, in_session) AS p(name)
                CROSS JOIN LATERAL (
                    SELECT f.project, f.seq FROM search_{texts} f
                    WHERE f.project = p.name AND f.words @@ scoped_query(p.name, words_wanted)
                        AND (in_session = '' OR f.session = in_session) AND {condition}
                    ORDER BY f.seq DESC LIMIT most
                ) AS h ORDER BY h.seq DESC LIMIT most
            ) AS l JOIN search_{texts} w ON w.project = l.project AND w.seq = l.seq;
        END $$"""


_SCHEMA = (
    # With no COLLATE of its own the comparison takes the column's.
    """CREATE FUNCTION visible_projects() RETURNS SETOF text LANGUAGE sql STABLE AS $$
        SELECT jsonb_array_elements_text(CASE
            WHEN current_setting('holdfast.projects', true) LIKE '[%'
            THEN current_setting('holdfast.projects', true)::jsonb
            ELSE '[]'::jsonb END)
    $$""",
    f"""CREATE FUNCTION is_visible(project text) RETURNS boolean LANGUAGE sql STABLE AS $$
        SELECT current_setting('holdfast.projects', true) = '{ALL_PROJECTS}'
            OR project IN (SELECT {SCHEMA}.visible_projects())
    $$""",
    "CREATE SEQUENCE row_seq",
    "CREATE SEQUENCE checkpoints_ids",
    "CREATE SEQUENCE audit_log_ids",
    *_session_tables(),
    "CREATE INDEX sessions_by_project ON sessions (project)",
    "CREATE INDEX sessions_by_time ON sessions ((greatest(updated, started)), seq)",
    "CREATE INDEX checkpoints_by_session ON checkpoints (project, session, time)",
    "CREATE INDEX checkpoints_by_id ON checkpoints (id)",
    *_record_tables(),
    "CREATE INDEX agent_messages_by_seq ON agent_messages (project, seq)",
    # A transaction that is bound to projects may add to the audit log, and never read it.
    "CREATE POLICY of_writers ON audit_log FOR INSERT WITH CHECK (true)",
    # PostgreSQL asks a table's row security before anything that might tell of a row,
    # and a match of words might: with both on one table its index is never used, and
    # every search reads everything. So the words are in tables of their own, on which
    # nobody but their owner has any right. Who serves reaches them by these functions,
    # which keep to the visible projects.
    *_word_tables("facts", f"kind {_TEXT},"),
    *_word_tables("messages", ""),
    # Every word begins with a mark of its project: the index then has each project's
    # words by themselves, and a search takes no longer for what is in others.
    """CREATE FUNCTION project_prefix(project text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
        SELECT left(md5(project), 8) || '_'
    $$""",
    """CREATE FUNCTION scoped_query(project text, words_wanted text) RETURNS tsquery
        LANGUAGE sql IMMUTABLE AS $$
        SELECT replace(words_wanted, '''_', '''' || left(md5(project), 8) || '_')::tsquery
    $$""",
    # Those visible: the one that is named, the session's, or all. From one to the next
    # by the index: DISTINCT would read every session.
    f"""CREATE FUNCTION searched_projects(in_project text, in_session text)
        RETURNS SETOF text LANGUAGE sql STABLE SET search_path = {SCHEMA}, pg_temp AS $$
        SELECT in_project WHERE in_project <> '' AND is_visible(in_project)
        UNION ALL
        SELECT s.project FROM sessions s WHERE in_project = '' AND in_session <> ''
            AND s.id = in_session AND is_visible(s.project)
        UNION ALL
        SELECT v FROM visible_projects() v WHERE in_project = '' AND in_session = ''
        UNION ALL
        (WITH RECURSIVE each_one AS (
            (SELECT s.project FROM sessions s WHERE in_project = '' AND in_session = ''
                AND current_setting('holdfast.projects', true) = '{ALL_PROJECTS}'
                ORDER BY s.project LIMIT 1)
            UNION ALL
            SELECT (SELECT s.project FROM sessions s WHERE s.project > each_one.project
                ORDER BY s.project LIMIT 1) FROM each_one WHERE each_one.project IS NOT NULL
        ) SELECT project FROM each_one WHERE project IS NOT NULL)
    $$""",
    # A session that finds its project takes its words along.
    f"""CREATE FUNCTION rewrite_prefixes() RETURNS trigger LANGUAGE plpgsql
        SET search_path = {SCHEMA}, pg_temp AS $$ BEGIN
        NEW.words := replace(NEW.words::text, '''' || project_prefix(OLD.project),
            '''' || project_prefix(NEW.project))::tsvector;
        RETURN NEW;
    END $$""",
    *_word_writers("facts", "kind,", "of_kind,"),
    *_word_writers("messages", "", ""),
    _word_search("facts", "(of_kind = '' OR f.kind = of_kind)"),
    _word_search("messages", "of_kind IN ('', 'message')"),
    *(
        f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC"
        for texts in ("facts", "messages")
        for name in (f"index_{texts}", f"find_{texts}")
    ),
)

MIGRATIONS: list[tuple[str, tuple[str, ...]]] = [("first schema", _SCHEMA)]


def migrate(url: str, serve_as: str = "") -> list[str]:
    """Run the steps that are missing, each in its own transaction; answers their names.

    The role `serve_as`, and those that were named before, may then serve what is there.
    """
    where = format_database(url)
    ran: list[str] = []
    with store_errors(where), psycopg.connect(url, autocommit=True) as connection:
        while True:
            with connection.transaction():
                run(connection, "SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK_KEY,))
                run(connection, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                bind_scope(connection, ALL_PROJECTS)
                run(
                    connection,
                    "CREATE TABLE IF NOT EXISTS migrations (position BIGINT PRIMARY KEY,"
                    " name TEXT NOT NULL UNIQUE, at TIMESTAMPTZ NOT NULL DEFAULT now())",
                )
                missing = _list_missing(list_applied(connection), where)
                if not missing:
                    grant_access(connection, serve_as)
                    return ran
                position, name, statements = missing[0]
                for statement in statements:
                    run(connection, statement)
                run(
                    connection,
                    "INSERT INTO migrations (position, name) VALUES (%s, %s)",
                    (position, name),
                )
            ran.append(name)


def check_version(connection: Connection, where: str) -> None:
    """Raise unless the schema is exactly this version's. Inside a transaction."""
    found = run(connection, "SELECT to_regclass('migrations')").fetchone()
    if found is None or found[0] is None:
        raise StoreDamaged(f"{where} has no Holdfast tables yet: run `holdfast team db migrate`")
    missing = _list_missing(list_applied(connection), where)
    if missing:
        names = ", ".join(name for _, name, _ in missing)
        raise StoreDamaged(f"{where} lacks {names}: run `holdfast team db migrate`")


def list_applied(connection: Connection) -> list[str]:
    return [row[0] for row in run(connection, "SELECT name FROM migrations ORDER BY position")]


def _list_missing(done: list[str], where: str) -> list[tuple[int, str, tuple[str, ...]]]:
    unknown = set(done).difference(name for name, _ in MIGRATIONS)
    if unknown:
        raise StoreTooNew(
            f"{where} has unknown migrations: {', '.join(sorted(unknown))}; it was written by a "
            "newer Holdfast"
        )
    return [
        (position, name, statements)
        for position, (name, statements) in enumerate(MIGRATIONS)
        if name not in done
    ]


# Two roles: one owns the tables and migrates, the other serves and owns nothing.
#
# Whoever owns a table may switch its row-level security off, and a superuser is not bound by it. So
# the role that serves is given what it needs here, and no more: nothing on the tables of words,
# nothing on partitions, and of the schema itself only its use.

# Which roles were let in before: they have the use of the schema.
_SERVING_ROLES = """
    SELECT DISTINCT r.rolname FROM pg_namespace n, aclexplode(n.nspacl) a
    JOIN pg_roles r ON r.oid = a.grantee
    WHERE n.nspname = %s AND a.privilege_type = 'USAGE' AND a.grantee <> n.nspowner
    ORDER BY r.rolname
"""
_TABLES = """
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> 'migrations' AND c.relname NOT LIKE 'search\\_%%'
"""
_RLS_BYPASS = """
    SELECT current_user,
        (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
        EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND pg_has_role(c.relowner, 'MEMBER'))
"""


def grant_access(connection: Connection, serve_as: str = "") -> None:
    """To `serve_as` and to roles that had access before. Inside a transaction of the owner's."""
    if serve_as:
        found = run(
            connection,
            "SELECT rolname = current_user FROM pg_roles WHERE rolname = %s",
            (serve_as,),
        ).fetchone()
        if found is None:
            raise StoreError(f"no role {serve_as}: create it with `createuser {serve_as}`")
        if found[0]:
            raise StoreError(
                f"the role {serve_as} runs the migration and owns the tables. Serve with another "
                "one"
            )
    before = [row[0] for row in run(connection, _SERVING_ROLES, (SCHEMA,))]
    tables = [row[0] for row in run(connection, _TABLES, (SCHEMA,))]
    for role in dict.fromkeys([*before, *filter(None, [serve_as])]):
        _grant_to(connection, role, tables)


def _grant_to(connection: Connection, role: str, tables: list[str]) -> None:
    schema, name = sql.Identifier(SCHEMA), sql.Identifier(role)
    listed = sql.SQL(", ").join(sql.Identifier(SCHEMA, table) for table in tables)
    for statement in (
        sql.SQL("GRANT USAGE ON SCHEMA {schema} TO {role}"),
        sql.SQL("GRANT SELECT ON {schema}.migrations TO {role}"),
        sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role}"),
        sql.SQL("GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}"),
        sql.SQL("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}"),
    ):
        connection.execute(statement.format(schema=schema, role=name, tables=listed))


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
