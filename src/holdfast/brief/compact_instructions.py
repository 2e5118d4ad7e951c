"""What a summary of a session should hold: the compact instructions, fitted to a project. Pure."""

from __future__ import annotations

from collections.abc import Sequence

HEADING = "Compact Instructions"
MAX_CHECKS, MAX_PATHS = 4, 5


def format_compact_instructions(checks: Sequence[str] = (), on_disk: Sequence[str] = ()) -> str:
    """`checks`: the commands that tell good from bad; `on_disk`: what can be read again."""
    commands = ", ".join(f"`{command}`" for command in checks[:MAX_CHECKS])
    verdicts = f" ({commands} and the like)" if commands else ""
    readable = ", ".join(on_disk[:MAX_PATHS])
    files = f" ({readable} are on disk)" if readable else ""
    return (
        "When this conversation is summarised for compaction, the summary holds, in this order:\n"
        "1. the user's standing rules and corrections, and the last request, word for word;\n"
        "2. what was being done when the compaction came, the next step, and questions that wait"
        " for the user;\n"
        "3. tasks by their standing: in progress, open, finished, cancelled;\n"
        "4. files changed, by path, with the functions and types worked on, and what is not"
        " committed;\n"
        f"5. checks and their verdicts{verdicts}: what passes, what fails now and how;\n"
        "6. decisions with their reasons, and attempts that failed, so that nobody repeats them;\n"
        "7. exact values: ports, URLs, ids, branches, versions, and subagents or jobs that run.\n"
        f"It leaves out what can be read again{files}, long tool output, and finished detours."
    )
