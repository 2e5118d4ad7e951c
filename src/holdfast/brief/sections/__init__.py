"""The sections that state what is known, by name.

Each takes the state and the sizes and gives lines, the weightiest first; headings are the
role's. Those of the default role are at hand, the others are imported when a role asks for them.
"""

from __future__ import annotations

from holdfast.brief.section_lines import Section
from holdfast.brief.sections import check_results, git_status, user_intent, verification, work_items

_MAIN_SECTIONS: dict[str, Section] = {
    "request": user_intent.request,
    "last_words": user_intent.last_words,
    "last_done": user_intent.last_done,
    "rules": user_intent.rules,
    "notes": work_items.notes,
    "git": git_status.git,
    "verified": check_results.verified,
    "tasks": work_items.tasks,
    "finished": work_items.finished,
    "summaries": work_items.summaries,
    "plan": work_items.plan,
    "running": work_items.running,
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
