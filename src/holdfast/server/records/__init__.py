"""What the service keeps beside the sessions: projects, contexts, letters, deeds, tokens.

The same statements on SQLite and PostgreSQL: `engine` hides the little that differs.
"""

from holdfast.server.records.engine import (
    PostgresRecords,
    Records,
    SqliteRecords,
    Transaction,
)

__all__ = ["PostgresRecords", "Records", "SqliteRecords", "Transaction"]
