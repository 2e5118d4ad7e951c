"""The face of the package; what it does as the other engine does is in `store.sql_store`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy

from holdfast.records import Any
from holdfast.state.facts import Fact
from holdfast.store import queries
from holdfast.store.postgres import full_text_search, tables
from holdfast.store.postgres.connection import (
    Connection,
    PostgresDatabase,
    PostgresStatements,
    StoreForbidden,
    lock_name,
    run,
    run_many,
)
from holdfast.store.protocol import Hit, Message, Session
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.search_query import SearchFilter, SearchQuery
from holdfast.store.sql_store import SessionWriter, Store

# The words go into a table of their own (`tables` says why), and only where they changed. A
# row that was there keeps its seq, and one that is new has the last that was given.
_CHANGING = tuple(name for name in queries.FACT_FIELDS if name != "id")
_UPSERT_FACT = f"""
    WITH kept AS (
        INSERT INTO facts AS f (project, session, {", ".join(queries.FACT_FIELDS)})
        VALUES (%s, %s, {", ".join(["%s"] * len(queries.FACT_FIELDS))})
        ON CONFLICT (project, session, id) DO UPDATE
            SET {", ".join(f"{name} = excluded.{name}" for name in _CHANGING)}
        WHERE ({", ".join(f"f.{name}" for name in _CHANGING)})
            IS DISTINCT FROM ({", ".join(f"excluded.{name}" for name in _CHANGING)})
        RETURNING f.project, f.seq, f.session, f.kind, f.seq = currval('row_seq') AS is_new
    )
    SELECT index_facts(project, seq, session, kind, %s, is_new) FROM kept
"""
_INSERT_MESSAGE = f"""
    WITH kept AS (
        INSERT INTO messages (project, session, {", ".join(queries.MESSAGE_FIELDS)})
        VALUES (%s, %s, {", ".join(["%s"] * len(queries.MESSAGE_FIELDS))})
        ON CONFLICT DO NOTHING
        RETURNING project, seq, session
    )
    SELECT index_messages(project, seq, session, '', %s, true) FROM kept
"""


class PostgresWriter(SessionWriter):
    def __init__(self, connection: Connection) -> None:
        self.run, self._connection = PostgresStatements(connection), connection

    def insert_session(self, session: Session) -> queries.Owner:
        # Its lock is ours, so no other process can be making it now.
        if not queries.insert(self.run, "sessions", session._asdict(), "ON CONFLICT DO NOTHING"):
            raise StoreForbidden(f"session {session.id} belongs to another project")
        return {"project": session.project, "session": session.id}

    def write_texts(
        self, owner: queries.Owner, facts: list[Any], messages: list[Any], whole: bool
    ) -> None:
        key = (owner["project"], owner["session"])
        run_many(self._connection, _UPSERT_FACT, [(*key, *row) for row in facts])
        if whole:
            run(
                self._connection,
                "DELETE FROM facts WHERE project = %s AND session = %s"
                " AND NOT (id = ANY (%s::text[]))",
                (*key, [row[0] for row in facts]),
            )
        run_many(self._connection, _INSERT_MESSAGE, [(*key, *row) for row in messages])

    def reserve_checkpoint(self, number: int) -> None:
        self.run.query(
            "SELECT setval('checkpoints_ids',"
            " greatest(:id, (SELECT last_value FROM checkpoints_ids)))",
            id=number,
        )


class PostgresStore(Store):
    """One instance serves many threads.

    `projects` are those whose rows it can see and write; None stands for all.
    """

    def __init__(self, url: str, projects: Sequence[str] | None = None, **pool: Any) -> None:
        self._database = PostgresDatabase(url, projects, **pool)
        try:
            with self._database.transaction() as connection:
                tables.check_version(connection, self._database.display_name)
        except BaseException:
            self._database.close()
            raise

    def scoped_to(
        self, projects: Sequence[str] | None, inside: Connection | None = None, locked: str = ""
    ) -> PostgresStore:
        """The same store for other eyes, on the same connections; or `inside` a transaction that
        its caller has begun and will end, and in which the session `locked` is its own already."""
        other = copy(self)
        other._database = self._database.scoped_to(projects, inside, locked)
        return other

    @property
    def database(self) -> PostgresDatabase:
        return self._database

    @property
    def _name(self) -> str:
        return self._database.display_name

    @contextmanager
    def reading(self) -> Iterator[queries.Statements]:
        with self._database.transaction() as connection:
            yield PostgresStatements(connection)

    @contextmanager
    def reading_at_once(self, project: str, session_id: str) -> Iterator[queries.Statements]:
        # Under the session's lock: no writer changes it while its parts are read.
        with self._database.transaction(lock=lock_name(project, session_id)) as connection:
            yield PostgresStatements(connection)

    @contextmanager
    def writing(
        self, session_id: str = "", project: str = "", *, only: Sequence[str] | None = None
    ) -> Iterator[SessionWriter]:
        """A session's id belongs to its project."""
        database = self._database if only is None else self._database.scoped_to(only)
        if self._database.only_project is not None:
            project = self._database.only_project
        elif session_id and not project:
            project = next(iter(self.session_projects(session_id)), "")
        lock = lock_name(project, session_id)
        with database.transaction(lock=lock) as connection:
            yield PostgresWriter(connection)

    def close(self) -> None:
        self._database.close()

    def prepare_texts(
        self, facts: Iterable[Fact], messages: Iterable[Message]
    ) -> tuple[list[Any], list[Any]]:
        """Cutting words takes longer than writing them."""
        rows = [queries.fact_to_row(fact) for fact in facts]
        said = [queries.message_to_row(message) for message in messages]
        return (
            [(*row, full_text_search.build_tsvector(*row[-2:])) for row in rows],
            [(*row, full_text_search.build_tsvector(row[-1])) for row in said],
        )

    def find_hits(self, query: SearchQuery, wanted: SearchFilter) -> Sequence[Hit]:
        with self._database.transaction() as connection:
            return full_text_search.find_hits(connection, query, wanted)

    def health(self) -> dict[str, Any]:
        counts = self._count_rows()
        with self._database.transaction() as connection:
            row = run(
                connection,
                "SELECT current_setting('server_version'),"
                " coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint"
                " FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
                " AND c.relkind = 'r'",
            ).fetchone()
            version, size = row if row is not None else ("", 0)
            above = tables.find_rls_bypass(connection)
            strays = sum(
                run(
                    connection,
                    f"SELECT count(*) FROM {table} x WHERE NOT EXISTS (SELECT 1 FROM sessions s"
                    " WHERE s.id = x.session AND s.project = x.project)",
                ).fetchall()[0][0]
                for table in SESSION_TABLES
            )
            return {
                "path": self._database.display_name,
                "engine": f"PostgreSQL {version}",
                "schema": tables.get_version(connection),
                "integrity": f"{strays} rows without a session" if strays else "ok",
                "search": "full text",
                "bytes": size,
                "row_security": f"not in force: {above}" if above else "in force",
                "counts": counts,
            }
