"""The sections that state what is known, by name.

Each takes the state and the sizes and gives lines, the weightiest first; headings are the
role's. Those of the default role are at hand, the others are imported when a role asks for them.
"""

from __future__ import annotations

from holdfast.brief.section_lines import Section
from holdfast.brief.sections import (
    check_results,
    failures,
    git_status,
    user_intent,
    user_rules,
    work_items,
    written_notes,
)

_MAIN_SECTIONS: dict[str, Section] = {
    "request": user_intent.request,
    "last_words": user_intent.last_words,
    "last_done": user_intent.last_done,
    "rules": user_rules.rules,
    "notes": written_notes.notes,
    "git": git_status.git,
    "verified": check_results.verified,
    "tasks": work_items.tasks,
    "finished": work_items.finished,
    "summaries": written_notes.summaries,
    "plan": work_items.plan,
    "running": work_items.running,
    "tests": failures.tests,
    "errors": failures.errors,
    "dead_ends": failures.dead_ends,
}


def find_section(name: str) -> Section:
    found = _MAIN_SECTIONS.get(name)
    return _load_role_sections()[name] if found is None else found


def list_section_names() -> list[str]:
    """Every section that can be stated."""
    return [*_MAIN_SECTIONS, *_load_role_sections()]


def _load_role_sections() -> dict[str, Section]:
    from holdfast.brief.sections import code_changes, coordination, near_task, verification

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
        "near_errors": near_task.near_errors,
        "near_changes": near_task.near_changes,
        "near_notes": near_task.near_notes,
        "claims": verification.claims,
        "checks": verification.checks,
        "unchecked": verification.unchecked,
    }
