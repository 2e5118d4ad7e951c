"""State to text: the brief, the steering text, the gap to a summary, and pages made of a state.

Pure: must not read the clock, the environment or the disk.
"""

# What no other package imports.
INSIDE = ("sections", "selection", "task_focus")
