"""State to text: the brief, the steering text, the gap to a summary, and pages made of a state.

Pure: must not read the clock, the environment or the disk.
"""

# What other packages may import.
__all__ = [
    "compose",
    "coverage",
    "gap",
    "hook_texts",
    "lines",
    "pages",
    "role",
    "statements",
]
