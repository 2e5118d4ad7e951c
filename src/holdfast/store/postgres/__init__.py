"""The store of a team: `store.protocol.Store` on PostgreSQL.

Needs the extra `server` (psycopg 3 with its pool); no hook imports it. The modules:
`connection`: pool, transactions, errors, and what a column can hold; `migrations`: the schema and
its roles; `writes`: writing and clean-up; `full_text_search`: search; `transfer`: whole sessions
out and in; `store`: the face.
"""

from holdfast.store.postgres.connection import StoreForbidden
from holdfast.store.postgres.store import PostgresStore

__all__ = ["PostgresStore", "StoreForbidden"]
