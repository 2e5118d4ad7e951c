"""Sessions, checkpoints, facts, compactions, deliveries and archives, on SQLite or PostgreSQL.

`protocol` is what both promise; everything else is behind it.
"""

# What other packages may import.
__all__ = [
    "postgres",
    "protocol",
    "queries",
    "schema",
    "search_query",
    "sqlite",
    "transfer",
]
