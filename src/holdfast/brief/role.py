"""A role: which sections a reader sees, in which order, under which words, with which shares.

Values only. The default role stands here as a value, because the brief of every compaction is
made with it and must not wait for a file; the others are files under `roles/`, which
`lifecycle.roles` finds and `role_file` understands.
"""

from __future__ import annotations

from typing import NamedTuple

# Sections made of chosen statements: they share what the stated ones leave.
SELECTED_SECTIONS = ("conversation", "plans", "results", "instead", "files", "commands", "values")

# (in a small brief, in a larger one); what a role file may say in other words.
SECTION_HEADINGS = {
    "rules": ("Rules the user gave:", "Rules the user gave, still in force (verbatim):"),
    "notes": (
        "Notes taken (they win over the summary):",
        "Notes taken during the session (where the summary says otherwise, the notes are right):",
    ),
    "tasks": ("Open tasks:", "Open tasks:"),
    "summaries": ("Finished, in short:", "Finished tasks, summarised when they were done:"),
    "verified": ("Checks:", "Checks, latest first:"),
    "errors": ("Open errors:", "Open errors (quoted output):"),
    "running": ("Running in the background:", "Running in the background:"),
    "dead_ends": ("Failed or refused:", "Failed or refused, and not done since:"),
    "decided": ("The user decided:", "The user decided, or noted as decided:"),
    "conversation": ("Said before, in order:", "Said before, oldest first (… marks cuts):"),
    "plans": ("From the approved plan:", "From the approved plan (quoted):"),
    "results": ("Subagents reported:", "Subagents reported (quoted):"),
    "instead": ("What works here:", "What works here, and what does not:"),
    "files": ("Files:", "Files worked on, latest first:"),
    "commands": ("Commands run:", "Commands that were run and worked:"),
    "values": ("Exact values:", "Exact values:"),
}


class RolePart(NamedTuple):
    """A section's place in a role."""

    section: str
    short_heading: str = ""  # its heading in a small brief, "" for none
    long_heading: str = ""  # and in a larger one
    share: float = 1.0  # of the whole budget, at most; chosen sections have none of their own

    def heading(self, tight: bool) -> str:
        return self.short_heading if tight else self.long_heading


class Role(NamedTuple):
    name: str
    parts: tuple[RolePart, ...]
    stated_share: float = 0.5  # of the budget, for all stated sections together
    focus: float = 1.0  # how much more what lies around the current task is worth
    about: str = ""


def default_part(section: str, share: float = 1.0) -> RolePart:
    """A section under its usual heading."""
    return RolePart(section, *SECTION_HEADINGS.get(section, ("", "")), share)


# What somebody may write without end takes no more than this before the others had their turn.
DEFAULT_SHARES = {
    "request": 0.25,
    "last_words": 0.12,
    "rules": 0.15,
    "notes": 0.2,
    "git": 0.25,
    "verified": 0.15,
    "tasks": 0.2,
    "finished": 0.1,
    "summaries": 0.1,
    "errors": 0.12,
    "dead_ends": 0.08,
}

MAIN_ROLE = Role(
    "main",
    tuple(
        default_part(section, DEFAULT_SHARES.get(section, 1.0))
        for section in (
            "request",
            "last_words",
            "last_done",
            "rules",
            "notes",
            "git",
            "verified",
            "tasks",
            "finished",
            "summaries",
            "running",
            "plan",
            *SELECTED_SECTIONS,
        )
    ),
    # Where it stood and the state of the work come first and are short; the rest of the room
    # belongs to what was said and done.
    stated_share=0.6,
    about="The main thread: where it stood, the state of the work, then what was said and done.",
)
