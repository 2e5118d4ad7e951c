"""The store of a team: `store.sql_store.Store` on PostgreSQL.

Needs psycopg 3 with its pool; no hook imports it. The modules:
`connection`: pool, transactions, errors, and what a column can hold; `tables`: the schema and
its roles; `full_text_search`: search; `store`: the face, and writing.
"""

from holdfast.store.postgres.connection import StoreForbidden
from holdfast.store.postgres.store import PostgresStore

__all__ = ["PostgresStore", "StoreForbidden"]
