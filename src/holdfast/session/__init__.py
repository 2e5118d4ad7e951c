"""A session on this machine: its context, following its transcript, loading and saving it, its
documents.
"""

# What other packages may import.
__all__ = [
    "context",
    "context_usage",
    "current_session",
    "digest",
    "documents",
    "follow",
    "ingest",
    "notes_file",
    "pending_input",
    "replay",
    "role_lookup",
    "task_summaries",
    "transcript_scan",
    "update",
    "view",
]
