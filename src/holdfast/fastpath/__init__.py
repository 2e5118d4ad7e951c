"""What a hook may import that answers while the user waits: small files instead of a database.

Nothing here imports `re`, `json` or `typing`; tests/hooks/test_imports.py holds the list.
"""
