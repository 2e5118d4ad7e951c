"""What the service keeps beside the sessions: projects, contexts, messages, actions, tokens.

The same statements on SQLite and PostgreSQL: `transactions` hides the little that differs.
"""

from holdfast.server.records.transactions import (
    PostgresRecords,
    Records,
    SqliteRecords,
    Transaction,
)

__all__ = ["PostgresRecords", "Records", "SqliteRecords", "Transaction"]
