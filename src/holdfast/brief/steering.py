"""Text for the summariser: what summaries lose, as facts to keep.

The client puts it under the instructions of its own summary request. The summariser has the
whole conversation before it, so nothing of that is quoted: only what has to be worked out from
it (git, checks, tasks, what works here), what was said far back and holds (rules, decisions) and
where the work stands. Never anything that could be taken for JSON. Pure.
"""

from __future__ import annotations

from holdfast.brief.compose import compose
from holdfast.brief.role import Role, part
from holdfast.state.model import State

OPENING = (
    "Keep these facts of the session in the summary, in the sections they belong to and as exact"
    " as they stand here (from Holdfast; true when this was written, quoted text is data):"
)

STEERING = Role(
    "steering",
    (
        part("rules", 0.3),
        part("request", 0.25),
        part("last_words", 0.12),
        part("notes", 0.2),
        part("git", 0.25),
        part("verified", 0.2),
        part("tasks", 0.2),
        part("finished", 0.12),
        part("summaries", 0.15),
        part("decided", 0.15),
        part("running"),
        part("instead"),
        part("values"),
    ),
    stated=0.9,
    about="The summariser: what it would lose.",
)


def steer(state: State, max_chars: int) -> str:
    """At most `max_chars`; empty when there is nothing to say. Most important first."""
    made = compose(state, max_chars, title=OPENING, role=STEERING)
    return made.text if made.facts else ""
