"""State to text: the brief, the steering text, the gap to a summary, and pages made of a state.

Pure: must not read the clock, the environment or the disk.
"""

# What other packages may import.
__all__ = [
    "agent_message_text",
    "compose",
    "gap",
    "handoff_page",
    "low_context_notice",
    "notes_page",
    "path_display",
    "prebuilt",
    "role",
    "statements",
    "steering",
    "verbatim_messages",
]
