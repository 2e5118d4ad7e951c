"""The sections that state what is known, by name.

Each takes the state and the sizes and gives lines, the weightiest first; headings are the
role's. Those of the default role are at hand, the others are imported when a role asks for them.
"""

from __future__ import annotations

from holdfast.brief.lines import Section
from holdfast.brief.sections import asked, git, stood, trouble, verified, work, written

_OF_MAIN: dict[str, Section] = {
    "request": stood.request,
    "last_words": stood.last_words,
    "last_done": stood.last_done,
    "rules": asked.rules,
    "notes": written.notes,
    "git": git.git,
    "verified": verified.verified,
    "tasks": work.tasks,
    "finished": work.finished,
    "summaries": written.summaries,
    "plan": work.plan,
    "running": work.running,
    "tests": trouble.tests,
    "errors": trouble.errors,
    "dead_ends": trouble.dead_ends,
}


def section(name: str) -> Section:
    found = _OF_MAIN.get(name)
    return _others()[name] if found is None else found


def names() -> list[str]:
    """Every section that can be stated."""
    return [*_OF_MAIN, *_others()]


def _others() -> dict[str, Section]:
    from holdfast.brief.sections import checking, coding, leading, near

    return {
        "progress": leading.progress,
        "waves": leading.waves,
        "subagents": leading.subagents,
        "blockers": leading.blockers,
        "decided": leading.decided,
        "next_steps": leading.next_steps,
        "current_task": coding.current_task,
        "changes": coding.changes,
        "code": coding.code,
        "next_action": coding.next_action,
        "near_errors": near.near_errors,
        "near_changes": near.near_changes,
        "near_notes": near.near_notes,
        "claims": checking.claims,
        "checks": checking.checks,
        "unchecked": checking.unchecked,
    }
