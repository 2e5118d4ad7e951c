"""What happens at each hook event around a compaction, and what it kept, lost and restored."""

# What no other package imports.
INSIDE = ("own_sections",)
