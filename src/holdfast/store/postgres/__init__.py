"""The store of a team: `store.protocol.Store` on PostgreSQL.

Needs the extra `server` (psycopg 3 with its pool); nothing on the hook road imports it. Walk:
`texts` what a column can hold, `connection` pool, transactions and errors, `migrations` the
schema, `keeping`, `history` and `archives` writing, `words` and `search` finding, `retention`
what goes, `store` the face.
"""

from holdfast.store.postgres.connection import StoreForbidden
from holdfast.store.postgres.store import PostgresStore

__all__ = ["PostgresStore", "StoreForbidden"]
