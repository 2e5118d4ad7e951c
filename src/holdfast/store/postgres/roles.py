"""Two roles: one owns the tables and migrates, the other serves and owns nothing.

Whoever owns a table may switch its row-level security off, and a superuser is not bound by it.
So the role that serves is given what it needs here, and no more: nothing on the tables of words,
nothing on partitions, and of the schema itself only its use.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from holdfast.store.postgres.connection import (
    SCHEMA,
    Connection,
    format_database,
    run,
    store_errors,
)
from holdfast.store.protocol import StoreError

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
    """To `serve_as` and to whoever was let in before. Inside a transaction of the owner's."""
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
