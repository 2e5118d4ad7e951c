"""Between this machine's store and the team's service: what goes up, and messages both ways."""

# What other packages may import.
__all__ = [
    "client",
    "connection",
    "cursor_db",
    "message_outbox",
    "project_id",
    "worker",
]
