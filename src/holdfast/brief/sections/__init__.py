"""The sections that state what is known, by name.

Each takes the state and the sizes and gives lines, the weightiest first; headings are the
role's. Those of the default role are at hand, the others are imported when a role asks for them.
"""

from __future__ import annotations

from holdfast.brief.lines import Section
from holdfast.brief.sections import current_work, git_status, verification

_MAIN_SECTIONS: dict[str, Section] = {
    "request": current_work.request,
    "last_words": current_work.last_words,
    "last_done": current_work.last_done,
    "rules": current_work.rules,
    "notes": current_work.notes,
    "git": git_status.git,
    "verified": verification.verified,
    "tasks": current_work.tasks,
    "finished": current_work.finished,
    "summaries": current_work.summaries,
    "plan": current_work.plan,
    "running": current_work.running,
    "tests": verification.tests,
    "errors": verification.errors,
    "dead_ends": verification.dead_ends,
}


def find_section(name: str) -> Section:
    found = _MAIN_SECTIONS.get(name)
    return _load_role_sections()[name] if found is None else found


def list_section_names() -> list[str]:
    """Every section that can be stated."""
    return [*_MAIN_SECTIONS, *_load_role_sections()]


def _load_role_sections() -> dict[str, Section]:
    from holdfast.brief.sections import code_changes, coordination, verification

    return {
        "progress": coordination.progress,
        "waves": coordination.waves,
        "subagents": coordination.subagents,
        "blockers": coordination.blockers,
        "decided": coordination.decided,
        "next_steps": coordination.next_steps,
        "current_task": code_changes.current_task,
        "changes": code_changes.changes,
        "code": code_changes.code,
        "next_action": code_changes.next_action,
        "near_errors": code_changes.near_errors,
        "near_changes": code_changes.near_changes,
        "near_notes": code_changes.near_notes,
        "claims": verification.claims,
        "checks": verification.checks,
        "unchecked": verification.unchecked,
    }
