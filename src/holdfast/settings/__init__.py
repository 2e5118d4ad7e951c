"""What the user can choose: one table of names and defaults, and how a choice is found."""

# What other packages may import.
__all__ = ["atomic_file", "json_edit", "loader", "table", "user_patterns"]
