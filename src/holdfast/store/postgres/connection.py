"""A pool of connections, transactions bound to projects, and names for what goes wrong.

Every transaction says first whose rows it may see (`holdfast.projects`, for row-level
security) and where our tables are. Both hold for that transaction alone, so that a connection
that goes back to the pool, or through a transaction pooler, carries nothing over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import lru_cache

import psycopg
from psycopg import errors
from psycopg.abc import AdaptContext, Buffer
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Escaping
from psycopg.types.string import StrDumperUnknown, TextLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from holdfast.records import Any
from holdfast.store.protocol import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreUnwritable
from holdfast.store.search_query import replace_surrogates

SCHEMA = "holdfast"
ALL_PROJECTS = "*"
# Longer than any statement of ours, shorter than a person's patience.
STATEMENT_TIMEOUT_SECONDS = 30
# For a lock that another transaction holds. Then the caller is asked to come again.
LOCK_TIMEOUT_SECONDS = 5
# A transaction whose process does nothing for so long (stopped, swapped out, cut off) is ended by
# the server, with its locks. Ours think for milliseconds between two statements.
IDLE_TIMEOUT_SECONDS = 15
POOL_TIMEOUT_SECONDS = 10.0
POOL_SIZE = 10

# Said by a server that will answer in a moment.
_TRANSIENT_ERRORS = (
    "starting up",
    "shutting down",
    "recovery mode",
    "not yet accepting",
    "too many",
)

Connection = psycopg.Connection[tuple[Any, ...]]
Values = Sequence[Any] | Mapping[str, Any]


class StoreForbidden(StoreError):
    """The row belongs to a project that this handle may not touch."""


def run(
    connection: Connection, statement: str, values: Values | None = None
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Statements are put together from our own constants only; values always travel apart."""
    return connection.execute(statement.encode(), values)


def run_many(connection: Connection, statement: str, rows: Sequence[Values]) -> None:
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(statement.encode(), rows)


_NAMED_VALUE = re.compile(r"(?<![:\w]):([a-z_]\w*)")


@lru_cache(maxsize=512)
def to_psycopg(statement: str) -> str:
    """A statement whose values are named `:so`, as psycopg names them."""
    return _NAMED_VALUE.sub(r"%(\1)s", statement.replace("%", "%%"))


class PostgresStatements:
    """`store.queries.Statements` on one connection."""

    __slots__ = ("_connection",)

    owner_columns: tuple[str, ...] = ("project", "session")
    # With the project, which says the partition.
    session_join = "s.id = {0}.session AND s.project = {0}.project"
    owner_values: tuple[str, ...] = ("s.project", "s.id")
    session_by_id = (
        "(s.id, s.project) ="
        " (SELECT id, project FROM sessions WHERE id = :session ORDER BY seq LIMIT 1)"
    )
    greatest = "greatest"
    sessions_table = "sessions"
    where_session = "id = :session AND project = :project"
    sees_all = f"current_setting('holdfast.projects') = '{ALL_PROJECTS}'"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return run(self._connection, to_psycopg(statement), values).fetchall()

    def execute(self, statement: str, **values: Any) -> int:
        return run(self._connection, to_psycopg(statement), values).rowcount


def format_database(url: str) -> str:
    """The database, without its password: for messages and logs."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return "the database"
    return f"{parts.get('host') or 'local'}/{parts.get('dbname') or ''}"


def find_unreachable_reason(url: str) -> str:
    """Why the server does not answer, in its or libpq's own words; "" when it does.

    One that answers and says no (a wrong password, no such database) raises StoreError.
    """
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        said = str(error)
        if "FATAL" in said and not any(word in said for word in _TRANSIENT_ERRORS):
            raise StoreError(
                f"{format_database(url)} rejected the connection: {_first_line(error)}"
            ) from error
        return _first_line(error)
    except psycopg.Error as error:
        raise StoreError(f"{format_database(url)}: {_first_line(error)}") from error
    return ""


@contextmanager
def store_errors(where: str) -> Iterator[None]:
    """Our words for PostgreSQL's errors."""
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise StoreForbidden(f"{where}: {_first_line(error)}") from error
    except (errors.UndefinedTable, errors.InvalidSchemaName, errors.UndefinedColumn) as error:
        raise StoreDamaged(
            f"{where} does not have this version's schema: {_first_line(error)}"
        ) from error
    except errors.DiskFull as error:
        raise StoreFull(f"the disk of {where} is full: {_first_line(error)}") from error
    except errors.ReadOnlySqlTransaction as error:
        raise StoreUnwritable(f"{where} cannot be written: {_first_line(error)}") from error
    except (
        PoolTimeout,
        psycopg.OperationalError,
        errors.IdleInTransactionSessionTimeout,
    ) as error:
        raise StoreBusy(f"{where} did not answer: {_first_line(error)}") from error
    except psycopg.Error as error:
        raise StoreError(f"{where}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


class PostgresDatabase:
    """One pool; `scope` is what its transactions may see: "*", or a JSON list of projects.

    `pooled` says that a transaction pooler (PgBouncer) is in between: the next transaction may run
    on another connection of the server's, which does not have the statements prepared on this one.
    """

    __slots__ = ("_inside", "_locked", "_own", "_pool", "display_name", "only_project", "scope")

    def __init__(
        self,
        url: str,
        projects: Sequence[str] | None = None,
        *,
        most: int = POOL_SIZE,
        wait: float = POOL_TIMEOUT_SECONDS,
        pooled: bool = False,
    ) -> None:
        self.display_name = format_database(url)
        self._bind_scope(projects)
        self._own = True
        self._inside: Connection | None = None
        self._locked = ""
        with store_errors(self.display_name):
            self._pool: ConnectionPool[Connection] = ConnectionPool(
                url,
                min_size=0,
                max_size=most,
                timeout=wait,
                configure=register_adapters,
                # Transactions are started by our own BEGIN: psycopg would send its own
                # first, which is one more journey to the server and back.
                kwargs={
                    "application_name": "holdfast",
                    "connect_timeout": 10,
                    "autocommit": True,
                    "prepare_threshold": None if pooled else 5,
                    # A server whose machine is gone says nothing, for hours by default.
                    "keepalives_idle": 10,
                    "keepalives_interval": 5,
                    "keepalives_count": 3,
                    "tcp_user_timeout": 1000 * STATEMENT_TIMEOUT_SECONDS,
                },
                open=True,
                num_workers=1,
                reconnect_timeout=wait,
            )

    def scoped_to(
        self, projects: Sequence[str] | None, inside: Connection | None = None, locked: str = ""
    ) -> PostgresDatabase:
        """The same pool for other eyes; closing it closes nothing. `inside` a transaction that
        another has begun and will end, what is done here is done with what is done there, or not
        at all; it holds the lock `locked` already."""
        other = copy(self)
        other._own, other._inside, other._locked = False, inside, locked
        other._bind_scope(projects)
        return other

    def _bind_scope(self, projects: Sequence[str] | None) -> None:
        self.scope = ALL_PROJECTS if projects is None else json.dumps([*map(encode_text, projects)])
        # The project that it is bound to, where it is one.
        self.only_project = projects[0] if projects and len(projects) == 1 else None

    @contextmanager
    def transaction(self, *, lock: str = "") -> Iterator[Connection]:
        """All of what runs inside, or nothing of it.

        `lock` names a session (`lock_name`): its writers take turns, also where there is no
        row yet to lock.
        """
        with store_errors(self.display_name):
            if self._inside is not None:
                if lock not in ("", self._locked):
                    run(self._inside, f"SELECT {_LOCK_SQL.format('%s')}", (lock,))
                yield self._inside
                return
            connection = self._begin_transaction(lock)
            try:
                yield connection
                connection.commit()
            except BaseException:
                # The pool would do it, too, and complain.
                with suppress(psycopg.Error):
                    connection.rollback()
                raise
            finally:
                # A broken one is thrown away.
                self._pool.putconn(connection)

    def _begin_transaction(self, lock: str) -> Connection:
        """A connection in a transaction of ours.

        A server that went away and came back leaves dead connections in the pool. They are
        met here, before anything was done, so that trying the next one repeats nothing; to
        ask each before its use would take a third of a short transaction's time.
        """
        for _ in range(self._pool.max_size + 1):
            connection = self._pool.getconn()
            try:
                begin_scoped(connection, self.scope, lock)
                return connection
            except psycopg.Error as error:
                broken = connection.broken
                with suppress(psycopg.Error):
                    connection.rollback()
                self._pool.putconn(connection)
                if not broken or not isinstance(error, psycopg.OperationalError):
                    raise
        raise PoolTimeout("no live connection in the pool")

    def close(self) -> None:
        if self._own:
            self._pool.close()


def lock_name(project: str, session: str) -> str:
    """Of a session, whose id belongs to its project; "" for none."""
    return f"{project}\n{session}" if session else ""


_LOCK_SQL = "pg_advisory_xact_lock(hashtextextended({}, 0))"


def begin_scoped(connection: Connection, scope: str, lock: str = "") -> None:
    """A transaction, bound, in one journey: a statement without values may be several.

    The lock is a statement of its own, behind the one that sets the limits: a timeout holds for
    the statements after it, never for the one it is set in.
    """
    words = f"BEGIN; {_scope_sql(connection, scope)}"
    if lock:
        words += f"; SELECT {_LOCK_SQL.format(_quote_literal(connection, lock))}"
    run(connection, words)


def bind_scope(connection: Connection, scope: str) -> None:
    """Inside a transaction that has begun."""
    run(connection, _scope_sql(connection, scope))


def _scope_sql(connection: Connection, scope: str) -> str:
    """Without compiling of plans: for a search it takes a hundred times as long as the search."""
    return f"""SELECT set_config('search_path', '{SCHEMA}', true),
        set_config('holdfast.projects', {_quote_literal(connection, scope)}, true),
        set_config('jit', 'off', true),
        set_config('statement_timeout', '{STATEMENT_TIMEOUT_SECONDS}s', true),
        set_config('lock_timeout', '{LOCK_TIMEOUT_SECONDS}s', true),
        set_config('idle_in_transaction_session_timeout', '{IDLE_TIMEOUT_SECONDS}s', true)"""


def _quote_literal(connection: Connection, text: str) -> str:
    return Escaping(connection.pgconn).escape_literal(encode_text(text).encode()).decode()


# A private-use character: rare in the wild, and escaped where it occurs.
ESCAPE = "\uf8f0"


def encode_text(text: str) -> str:
    """The text as a column holds it, and comes back exactly as it went in. A column refuses
    U+0000, which transcripts do contain (binary output of a command): it is written as two
    characters, of which the first is itself escaped. Everything passes through the adapters
    registered below, so that no query has to remember it."""
    text = replace_surrogates(text)
    if "\0" in text or ESCAPE in text:
        return text.replace(ESCAPE, ESCAPE + "1").replace("\0", ESCAPE + "0")
    return text


def decode_text(text: str) -> str:
    """The text as it was given."""
    if ESCAPE in text:
        return text.replace(ESCAPE + "0", "\0").replace(ESCAPE + "1", ESCAPE)
    return text


class _Dumper(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        return encode_text(obj).encode("utf-8")


class _Loader(TextLoader):
    def load(self, data: Buffer) -> str:
        return decode_text(bytes(data).decode("utf-8"))


class JsonColumnText(str):
    """JSON in writing, which has been made fit for its column and is sent as it is."""

    __slots__ = ()


def register_adapters(context: AdaptContext) -> None:
    """Teach a connection our texts."""
    context.adapters.register_dumper(str, _Dumper)
    context.adapters.register_dumper(JsonColumnText, StrDumperUnknown)
    context.adapters.register_loader("text", _Loader)


def to_json_column(value: Any) -> JsonColumnText:
    """For a JSON column, which keeps the order of keys, as JSONB does not."""
    # In JSON a NUL is six characters, and a reader of the column refuses those.
    return JsonColumnText(json.dumps(_map_strings(value, encode_text), ensure_ascii=False))


def from_json_column(value: Any) -> Any:
    return _map_strings(value, decode_text)


def _map_strings(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_map_strings(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _map_strings(item, change) for key, item in value.items()}
    return value
