"""The store of a team: `store.protocol.Store` on PostgreSQL.

Needs the extra `server` (psycopg 3 with its pool); no hook imports it. The modules:
`text_encoding`: what a column can hold; `connection`: pool, transactions and errors; `migrations`
and `roles`: the schema and its roles; `writes`: writing;
`search_vectors` and `full_text_search`: search; `retention`: clean-up; `store`: the face.
"""

from holdfast.store.postgres.connection import StoreForbidden
from holdfast.store.postgres.store import PostgresStore

__all__ = ["PostgresStore", "StoreForbidden"]
