"""A session on this machine: its context, following its transcript, loading and saving it, its
documents.
"""

# What other packages may import.
__all__ = [
    "context",
    "context_usage",
    "digest",
    "documents",
    "follow",
    "ingest",
    "notes_file",
    "replay",
    "role_lookup",
    "transcript_scan",
    "update",
    "view",
]
