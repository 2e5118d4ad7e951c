"""The schema, as named steps; each is recorded in the transaction that ran it.

A step that has been released never changes: a new one follows it. Tables are partitioned by
project, and every key begins with the project, so that partitions can be moved to other
servers (postgres_fdw) or the tables be distributed (Citus) without another schema.

Row-level security: a transaction sees the projects that `holdfast.projects` names, everything
for "*", and nothing when it is not set. Forced, so that the owner of the tables is bound too.
But an owner may switch it off: one role migrates and owns the tables, and another serves, which
owns nothing and has what `roles` grants it. Partitions have no policy, and nothing is granted on
them: reading them past their table shows nothing.
"""

from __future__ import annotations

import psycopg

from holdfast.store.postgres import roles
from holdfast.store.postgres.connection import (
    ALL_PROJECTS,
    SCHEMA,
    Connection,
    bind_scope,
    format_database,
    run,
    store_errors,
)
from holdfast.store.protocol import StoreDamaged, StoreTooNew

PARTITIONS = 8
# Any number, as long as it stays: two machines that migrate at once take turns.
_MIGRATION_LOCK_KEY = 0x486F6C64

# Bytes decide the order, as in SQLite, whatever the database's language.
_TEXT = 'TEXT COLLATE "C" NOT NULL'


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


def _word_tables(texts: str, column: str) -> tuple[str, ...]:
    """The words of a table of texts, which go where it goes."""
    found = f"found_{texts}"
    return (
        f"CREATE UNIQUE INDEX {texts}_by_place ON {texts} (project, place)",
        f"CREATE INDEX {texts}_latest ON {texts} (place)",
        *_create_partitions(
            found,
            # No primary key, which would have the project in it: the planner would read all words
            # of a project by that, and not those that are wanted by the index on them.
            f"""project {_TEXT}, place BIGINT NOT NULL, session {_TEXT}, {column}
            words TSVECTOR NOT NULL,
            FOREIGN KEY (project, place) REFERENCES {texts} (project, place)
                ON DELETE CASCADE ON UPDATE CASCADE""",
        ),
        f"CREATE INDEX {found}_by_place ON {found} (place)",
        f"CREATE INDEX {found}_by_words ON {found} USING gin (words)",
    )


# Of a function that works on the words with its owner's rights, and only for visible projects.
_DEFINER = f"SECURITY DEFINER SET search_path = {SCHEMA}, pg_temp"
# Plans are made once per connection, not for every search: to plan over all partitions took eight
# times as long as to search. A plan that is made before there is much to search must suit what
# comes later: by the index on words, and then by place.
_PLANNED = """SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_indexscan = off SET enable_hashjoin = off SET enable_mergejoin = off"""


def _word_writers(texts: str, columns: str, values: str) -> tuple[str, ...]:
    """Words are written with a mark in place of their project's (`words.MARK`). Whoever writes
    holds the session's lock."""
    return (
        f"""CREATE FUNCTION keep_words_of_{texts}(of_project text, at_place bigint,
        of_session text, of_kind text, said text, is_new boolean) RETURNS void LANGUAGE plpgsql
        {_DEFINER} SET plan_cache_mode = force_generic_plan AS $$ BEGIN
            IF NOT in_sight(of_project) THEN
                RETURN;
            END IF;
            IF NOT is_new THEN
                DELETE FROM found_{texts} w WHERE w.project = of_project AND w.place = at_place;
            END IF;
            INSERT INTO found_{texts} (project, place, session, {columns} words)
            VALUES (of_project, at_place, of_session, {values}
                replace(said, '''_', '''' || word_mark(of_project))::tsvector);
        END $$""",
        f"""CREATE TRIGGER found_in_another_project BEFORE UPDATE OF project ON found_{texts}
            FOR EACH ROW WHEN (OLD.project <> NEW.project) EXECUTE FUNCTION mark_words_anew()""",
    )


def _word_search(texts: str, condition: str) -> str:
    """Places of the latest texts with these words, ranked: in each project by itself, so that
    neither what is in others nor how much of it is there makes a difference."""
    return f"""CREATE FUNCTION find_in_{texts}(words_wanted text, in_project text, in_session text,
        of_kind text, weights real[], by_length int, most int)
        RETURNS TABLE (project text, place bigint, score real) LANGUAGE plpgsql STABLE
        {_DEFINER} {_PLANNED} AS $$ BEGIN RETURN QUERY
            SELECT w.project, w.place,
                ts_rank(weights, w.words, asked_in(w.project, words_wanted), by_length)
            FROM (
                SELECT h.project, h.place FROM searched_projects(in_project, in_session) AS p(name)
                CROSS JOIN LATERAL (
                    SELECT f.project, f.place FROM found_{texts} f
                    WHERE f.project = p.name AND f.words @@ asked_in(p.name, words_wanted)
                        AND (in_session = '' OR f.session = in_session) AND {condition}
                    ORDER BY f.place DESC LIMIT most
                ) AS h ORDER BY h.place DESC LIMIT most
            ) AS l JOIN found_{texts} w ON w.project = l.project AND w.place = l.place;
        END $$"""


_SCHEMA = (
    # With no COLLATE of its own the comparison takes the column's.
    """CREATE FUNCTION visible_projects() RETURNS SETOF text LANGUAGE sql STABLE AS $$
        SELECT jsonb_array_elements_text(CASE
            WHEN current_setting('holdfast.projects', true) LIKE '[%'
            THEN current_setting('holdfast.projects', true)::jsonb
            ELSE '[]'::jsonb END)
    $$""",
    f"""CREATE FUNCTION in_sight(project text) RETURNS boolean LANGUAGE sql STABLE AS $$
        SELECT current_setting('holdfast.projects', true) = '{ALL_PROJECTS}'
            OR project IN (SELECT {SCHEMA}.visible_projects())
    $$""",
    # Not partitioned: it is the directory that says in which projects a session of some
    # id is. An id belongs to its project: what others call theirs is nobody's business.
    f"""CREATE TABLE sessions (
        id {_TEXT},
        client {_TEXT}, project {_TEXT}, worktree {_TEXT}, cwd {_TEXT}, branch {_TEXT},
        title {_TEXT}, transcript {_TEXT}, started {_TEXT}, updated {_TEXT},
        ended {_TEXT},
        pinned BOOLEAN NOT NULL DEFAULT false,
        place BIGINT GENERATED BY DEFAULT AS IDENTITY,
        PRIMARY KEY (id, project)
    )""",
    "CREATE INDEX sessions_by_project ON sessions (project)",
    "CREATE INDEX sessions_by_time ON sessions ((greatest(updated, started)), place)",
    *_row_security("sessions"),
    # The state as it was packed, because JSONB loses the order of keys, and the order
    # of a table in a state is the order of its events.
    *_partitioned(
        "states",
        f"""project {_TEXT}, session {_TEXT},
            generation BIGINT NOT NULL, reached BIGINT NOT NULL,
            position BYTEA NOT NULL, state BYTEA NOT NULL,
            PRIMARY KEY (project, session)""",
    ),
    "CREATE SEQUENCE checkpoint_ids",
    *_partitioned(
        "checkpoints",
        f"""project {_TEXT}, session {_TEXT},
            id BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.checkpoint_ids'),
            epoch BIGINT NOT NULL, cause {_TEXT}, time {_TEXT},
            generation BIGINT NOT NULL, reached BIGINT NOT NULL,
            header JSONB NOT NULL, position BYTEA NOT NULL, state BYTEA NOT NULL,
            PRIMARY KEY (project, id)""",
    ),
    "CREATE INDEX checkpoints_by_session ON checkpoints (project, session, time)",
    "CREATE INDEX checkpoints_by_id ON checkpoints (id)",
    "CREATE SEQUENCE places",
    *_partitioned(
        "facts",
        f"""project {_TEXT}, session {_TEXT}, id {_TEXT}, kind {_TEXT},
            standing {_TEXT}, row_id {_TEXT}, row_start BIGINT NOT NULL,
            row_end BIGINT NOT NULL, time {_TEXT}, agent {_TEXT}, text {_TEXT},
            detail {_TEXT},
            place BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.places'),
            PRIMARY KEY (project, session, id)""",
    ),
    # One row of a transcript can hold several things said, so the text's checksum is
    # part of what makes a message the same one.
    *_partitioned(
        "messages",
        f"""project {_TEXT}, session {_TEXT}, row_id {_TEXT}, who {_TEXT},
            checksum BIGINT NOT NULL, time {_TEXT}, row_start BIGINT NOT NULL,
            row_end BIGINT NOT NULL, text {_TEXT},
            place BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.places'),
            PRIMARY KEY (project, session, row_id, who, checksum)""",
    ),
    *_partitioned(
        "compactions",
        f"""project {_TEXT}, session {_TEXT}, epoch BIGINT NOT NULL, time {_TEXT},
            cause {_TEXT}, row_id {_TEXT}, tokens_before BIGINT, tokens_after BIGINT,
            kept JSONB NOT NULL, lost JSONB NOT NULL, summary {_TEXT},
            PRIMARY KEY (project, session, epoch)""",
    ),
    *_partitioned(
        "deliveries",
        f"""project {_TEXT}, session {_TEXT}, epoch BIGINT NOT NULL, what {_TEXT},
            road {_TEXT}, time {_TEXT}, facts JSONB NOT NULL, text {_TEXT},
            place BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.places'),
            PRIMARY KEY (project, session, epoch, what)""",
    ),
    *_partitioned(
        "archives",
        f"""project {_TEXT}, session {_TEXT}, generation BIGINT NOT NULL,
            start_byte BIGINT NOT NULL, end_byte BIGINT NOT NULL, time {_TEXT},
            rows BYTEA NOT NULL,
            place BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.places'),
            PRIMARY KEY (project, session, generation, start_byte, end_byte, place)""",
    ),
    # What the service keeps beside the sessions; `server.records` is written for it.
    f"CREATE TABLE projects (project {_TEXT} PRIMARY KEY, id {_TEXT} UNIQUE, name {_TEXT},"
    f" created {_TEXT})",
    *_row_security("projects"),
    *_partitioned(
        "contexts",
        f"""project {_TEXT}, id {_TEXT}, session {_TEXT}, agent {_TEXT}, kind {_TEXT},
            body JSONB NOT NULL, skills JSONB NOT NULL, tools JSONB NOT NULL,
            richness BIGINT NOT NULL, created {_TEXT},
            place BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.places'),
            PRIMARY KEY (project, id)""",
    ),
    "CREATE INDEX contexts_by_session ON contexts (project, session, kind, place)",
    *_partitioned(
        "letters",
        f"""project {_TEXT}, id {_TEXT}, sender {_TEXT}, to_agent {_TEXT},
            to_role {_TEXT}, topic {_TEXT}, payload JSONB NOT NULL,
            priority BIGINT NOT NULL, created {_TEXT}, expires {_TEXT},
            place BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.places'),
            PRIMARY KEY (project, id)""",
    ),
    "CREATE INDEX letters_by_place ON letters (project, place)",
    *_partitioned(
        "readings",
        f"""project {_TEXT}, letter {_TEXT}, reader {_TEXT}, delivered {_TEXT},
            acknowledged {_TEXT}, PRIMARY KEY (project, letter, reader)""",
    ),
    *_partitioned(
        "deeds",
        f"""project {_TEXT}, id {_TEXT}, session {_TEXT}, agent {_TEXT}, tool {_TEXT},
            tool_type {_TEXT}, files JSONB NOT NULL, exit_code BIGINT, duration_ms BIGINT,
            note {_TEXT}, created {_TEXT},
            place BIGINT NOT NULL DEFAULT nextval('{SCHEMA}.places'),
            PRIMARY KEY (project, id)""",
    ),
    "CREATE INDEX deeds_by_session ON deeds (project, session, place)",
    *_partitioned(
        "answers",
        f"""project {_TEXT}, caller {_TEXT}, key {_TEXT}, digest {_TEXT},
            body JSONB NOT NULL, created {_TEXT}, PRIMARY KEY (project, caller, key)""",
    ),
    f"CREATE TABLE tokens (id {_TEXT} PRIMARY KEY, name {_TEXT}, digest {_TEXT},"
    f" scopes {_TEXT}, projects JSONB NOT NULL, created {_TEXT}, expires {_TEXT},"
    f" revoked {_TEXT})",
    f"CREATE TABLE trail (place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    f" at {_TEXT}, caller {_TEXT}, what {_TEXT}, project {_TEXT}, session {_TEXT},"
    " status BIGINT NOT NULL)",
    # For the service itself, never for a transaction that is bound to projects.
    *(
        statement
        for table in ("tokens", "trail")
        for statement in (
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY of_the_service ON {table} USING"
            f" ((SELECT current_setting('holdfast.projects', true)) = '{ALL_PROJECTS}')",
        )
    ),
    # A transaction that is bound to projects may add to the audit log, and never read it.
    "CREATE POLICY of_writers ON trail FOR INSERT WITH CHECK (true)",
    # Not partitioned: it is asked by path, before the project is known.
    f"CREATE TABLE folders (project {_TEXT}, path {_TEXT}, machine {_TEXT},"
    f" created {_TEXT}, sayer {_TEXT}, PRIMARY KEY (project, path, machine))",
    "CREATE INDEX folders_by_path ON folders (path)",
    *_row_security("folders"),
    # PostgreSQL asks a table's row security before anything that might tell of a row,
    # and a match of words might: with both on one table its index is never used, and
    # every search reads everything. So the words are in tables of their own, on which
    # nobody but their owner has any right. Who serves reaches them by these functions,
    # which keep to the visible projects.
    *_word_tables("facts", f"kind {_TEXT},"),
    *_word_tables("messages", ""),
    # Every word begins with a mark of its project: the index then has each project's
    # words by themselves, and a search takes no longer for what is in others.
    """CREATE FUNCTION word_mark(project text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
        SELECT left(md5(project), 8) || '_'
    $$""",
    """CREATE FUNCTION asked_in(project text, words_wanted text) RETURNS tsquery
        LANGUAGE sql IMMUTABLE AS $$
        SELECT replace(words_wanted, '''_', '''' || left(md5(project), 8) || '_')::tsquery
    $$""",
    # Those visible: the one that is named, the session's, or all. From one to the next
    # by the index: DISTINCT would read every session.
    f"""CREATE FUNCTION searched_projects(in_project text, in_session text)
        RETURNS SETOF text LANGUAGE sql STABLE SET search_path = {SCHEMA}, pg_temp AS $$
        SELECT in_project WHERE in_project <> '' AND in_sight(in_project)
        UNION ALL
        SELECT s.project FROM sessions s WHERE in_project = '' AND in_session <> ''
            AND s.id = in_session AND in_sight(s.project)
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
    f"""CREATE FUNCTION mark_words_anew() RETURNS trigger LANGUAGE plpgsql
        SET search_path = {SCHEMA}, pg_temp AS $$ BEGIN
        NEW.words := replace(NEW.words::text, '''' || word_mark(OLD.project),
            '''' || word_mark(NEW.project))::tsvector;
        RETURN NEW;
    END $$""",
    *_word_writers("facts", "kind,", "of_kind,"),
    *_word_writers("messages", "", ""),
    _word_search("facts", "(of_kind = '' OR f.kind = of_kind)"),
    _word_search("messages", "of_kind IN ('', 'message')"),
    *(
        f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC"
        for texts in ("facts", "messages")
        for name in (f"keep_words_of_{texts}", f"find_in_{texts}")
    ),
    *_partitioned(
        "writers",
        f"project {_TEXT}, session {_TEXT}, caller {_TEXT}, created {_TEXT},"
        " PRIMARY KEY (project, session)",
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
                    roles.grant_access(connection, serve_as)
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
        raise StoreDamaged(f"{where} has no Holdfast tables yet: run `holdfast db migrate`")
    missing = _list_missing(list_applied(connection), where)
    if missing:
        names = ", ".join(name for _, name, _ in missing)
        raise StoreDamaged(f"{where} lacks {names}: run `holdfast db migrate`")


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
