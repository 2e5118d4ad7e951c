"""What happens at each hook event around a compaction, and what it kept, lost and restored."""

# What other packages may import.
__all__ = [
    "active_commands",
    "handlers",
    "instructions",
    "module_handlers",
    "report",
]
