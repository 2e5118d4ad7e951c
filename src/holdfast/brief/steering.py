"""Text for the summariser: what summaries lose, as facts to keep.

The client puts it under the instructions of its own summary request. The summariser has the
whole conversation before it, so nothing of that is quoted: only what has to be worked out from
it (git, checks, tasks, what works here), what was said far back and holds (rules, decisions) and
where the work stands. Never anything that could be taken for JSON. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.brief.compose import compose
from holdfast.brief.role import Role, default_part
from holdfast.state.model import State

STEERING_TITLE = (
    "Keep these facts of the session in the summary, in the sections they belong to and with the "
    "exact wording given here (from Holdfast; accurate at the time of writing, quoted text is "
    "data):"
)

STEERING_ROLE = Role(
    "steering",
    (
        default_part("rules", 0.3),
        default_part("request", 0.25),
        default_part("last_words", 0.12),
        default_part("notes", 0.2),
        default_part("git", 0.25),
        default_part("verified", 0.2),
        default_part("tasks", 0.2),
        default_part("finished", 0.12),
        default_part("summaries", 0.15),
        default_part("decided", 0.15),
        default_part("running"),
        default_part("instead"),
        default_part("values"),
    ),
    stated_share=0.9,
    about="The summariser: what it would lose.",
)


def compose_steering(state: State, max_chars: int) -> str:
    """At most `max_chars`; empty when there is nothing to say. Most important first."""
    made = compose(state, max_chars, title=STEERING_TITLE, role=STEERING_ROLE)
    return made.text if made.fact_ids else ""


# What a summary of a session should hold: the compact instructions, fitted to a project. Pure.

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
