"""A role: which sections a reader sees, in which order, under which words, with which shares.

Values only. The default role stands here as a value, because the brief of every compaction is
made with it and must not wait for a file; the others are files under `roles/`, which
`lifecycle.roles` finds and `role_file` understands.
"""

from __future__ import annotations

from typing import NamedTuple

# Sections of what earns most per character: they share what the stated ones leave.
RANKED = ("changed", "read", "named", "commands", "identifiers", "decisions", "results")

# (in a small brief, in a larger one); what a role file may say in other words.
HEADINGS = {
    "rules": ("Rules the user gave:", "Rules the user gave (verbatim):"),
    "notes": (
        "Notes taken (they win over the summary):",
        "Notes taken during the session (where the summary says otherwise, the notes are right):",
    ),
    "tasks": ("Open tasks:", "Open tasks:"),
    "summaries": ("Finished, in short:", "Finished tasks, summarised when they were done:"),
    "errors": ("Open errors:", "Open errors (quoted output):"),
    "running": ("Running in the background:", "Running in the background:"),
    "dead_ends": ("Failed attempts:", "Failed attempts (dead ends):"),
    "said": ("The user also said:", "The user also said:"),
    "changed": ("Edited files:", "Edited files:"),
    "read": ("Read files:", "Read files:"),
    "named": ("Files seen in output:", "Files seen in output:"),
    "commands": ("Commands run:", "Commands run:"),
    "identifiers": ("Exact values:", "Exact values:"),
    "decisions": ("Decisions:", "Decisions:"),
    "results": ("Finished subagents:", "Finished subagents:"),
}


class Part(NamedTuple):
    """A section's place in a role."""

    section: str
    short: str = ""  # its heading in a small brief, "" for none
    wide: str = ""  # and in a larger one
    share: float = 1.0  # of the whole budget, at most; ranked sections have none of their own

    def heading(self, tight: bool) -> str:
        return self.short if tight else self.wide


class Role(NamedTuple):
    name: str
    parts: tuple[Part, ...]
    stated: float = 0.5  # of the budget, for all stated sections together
    focus: float = 1.0  # how much more what lies around the current task is worth
    about: str = ""


def part(section: str, share: float = 1.0) -> Part:
    """A section under its usual heading."""
    return Part(section, *HEADINGS.get(section, ("", "")), share)


# What somebody may write without end takes no more than this before the others had their turn.
SHARES = {"notes": 0.2, "summaries": 0.12}

MAIN = Role(
    "main",
    tuple(
        part(section, SHARES.get(section, 1.0))
        for section in (
            "request",
            "rules",
            "notes",
            "tasks",
            "finished",
            "summaries",
            "tests",
            "errors",
            "place",
            "plan",
            "running",
            "dead_ends",
            "said",
            *RANKED,
        )
    ),
    # The header is worth most per character, but not all of a small brief.
    stated=0.5,
    about="The main thread: what was asked, the rules, the tasks, what is red, then a map.",
)
