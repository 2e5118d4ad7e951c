"""What a hook may import that answers while the user waits: small files instead of a database.

Nothing here imports `re`, `json` or `typing`; tests/hooks/test_imports.py holds the list.
"""

# What other packages may import.
__all__ = [
    "delivery",
    "handoff_offers",
    "hook_json",
    "inbox",
    "installed_hooks",
    "project",
    "session_dir",
    "spool",
]
