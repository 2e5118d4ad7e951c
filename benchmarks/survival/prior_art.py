"""Briefs of two published designs, rebuilt from what their documents say they contain.

Owns the shape and the caps of each. Both are given a correct reader of the transcript, which
neither has: this measures what they choose to tell, not their bugs.
"""

from __future__ import annotations

import re

from benchmarks.measure.session_files import ASSISTANT, USER
from benchmarks.measure.shell_commands import is_test
from benchmarks.survival.candidate import Case
from benchmarks.survival.reference_maps import CaseView, build_view

TASK_CAP, FILE_CAP, TEST_CAP, DECISION_CAP, ERROR_CAP = 10, 20, 5, 15, 8
DECISION_LENGTH = 150
ERROR_LENGTH = 150
SHORT = 20

_DECISION = re.compile(
    r"(?i)\b(?:decided|chose|choosing|going with|will use|using|switched|instead of|approach|"
    r"because|the fix|root cause|solution|changed|implemented|refactored)\b"
)
_ERROR = re.compile(r"(?i)\b(?:error|exception|failed|traceback|fatal)\b")


def preservation_block(case: Case, max_chars: int) -> str:
    """Tasks, modified files, test commands, decisions and errors, each under its cap."""
    view = build_view(case)
    files = list(view.knowledge.edited)[-FILE_CAP:]
    tests = [c for c in view.knowledge.commands if is_test(c)][-TEST_CAP:]
    tasks = [view.knowledge.tasks.get(t, t) for t in view.truth.open_tasks[:TASK_CAP]]
    sections = [
        ("ACTIVE / IN-PROGRESS TASKS:", tasks),
        ("FILES MODIFIED THIS SESSION:", files),
        ("TEST COMMANDS:", tests),
        ("KEY DECISIONS MADE:", _decisions(view)[-DECISION_CAP:]),
        ("RECENT ERRORS:", _errors(view)[-ERROR_CAP:]),
    ]
    head = ["COMPACTION PRESERVATION INSTRUCTIONS", "The following context MUST be preserved:"]
    return _render(head, sections, max_chars, "  • ")


def orchestration_brief(case: Case, max_chars: int) -> str:
    """The restored-context template: request, active subtasks, decisions, files, next steps."""
    view = build_view(case)
    pieces = view.text.reading.pieces
    rows = view.text.session.rows
    asked = [
        p.text
        for p in pieces
        if p.source == USER and not rows[p.row].get("isMeta") and not p.text.startswith("<")
    ]
    said = [p.text for p in pieces if p.source == ASSISTANT]
    tasks = [f"{view.knowledge.tasks.get(t, t)} (running)" for t in view.truth.open_tasks]
    sections = [
        ("## Session Summary", [f"Working on: {asked[-1][:300]}"] if asked else []),
        ("## Active Subtasks", tasks),
        ("## Key Decisions", _decisions(view)[-10:]),
        ("## Modified Files (Last 20)", list(view.knowledge.edited)[-FILE_CAP:]),
        ("## Next Steps", [said[-1][:400]] if said else []),
    ]
    return _render(["# Restored Context - Orchestration View"], sections, max_chars, "- ")


def _decisions(view: CaseView) -> list[str]:
    """Short lines of the agent that sound like a decision."""
    found: dict[str, None] = {}
    for piece in view.text.reading.pieces:
        if piece.source != ASSISTANT:
            continue
        for line in piece.text.splitlines():
            text = line.strip().lstrip("-*• ").strip()
            if len(text) >= SHORT and _DECISION.search(text):
                found[text[:DECISION_LENGTH]] = None
    return list(found)


def _errors(view: CaseView) -> list[str]:
    """Failed shell commands with the line that tells of the error."""
    found: list[str] = []
    for call in view.text.reading.calls:
        if call.tool != "Bash" or not call.result:
            continue
        line = next((x.strip() for x in call.result.splitlines() if _ERROR.search(x)), "")
        if line:
            command = str(call.input.get("command", "")).partition("\n")[0][:60]
            found.append(f"`{command}` → {line[:ERROR_LENGTH]}")
    return found


def _render(
    head: list[str], sections: list[tuple[str, list[str]]], max_chars: int, bullet: str
) -> str:
    """Sections in their order, whole lines only, until the bound."""
    out: list[str] = []
    left = max_chars
    for title, items in [("", head), *sections]:
        if not items:
            continue
        rows = items if not title else [title, *(bullet + " ".join(i.split()) for i in items)]
        for row in rows:
            if len(row) + 1 > left:
                return "\n".join(out)
            out.append(row)
            left -= len(row) + 1
    return "\n".join(out)
