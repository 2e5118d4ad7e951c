"""Sessions, checkpoints, facts, compactions, deliveries and archives, on SQLite or PostgreSQL.

`protocol` is what both promise; everything else is behind it.
"""

# What no other package imports.
INSIDE = ("archives",)
