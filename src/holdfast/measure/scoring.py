"""Scores of one brief at one boundary: what it grounds, what state it tells, what is stale.

Owns the outcome of a brief before weights. Weights need every session, so they come later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from holdfast.measure import brief_lines as L
from holdfast.measure.brief_lines import plain_words
from holdfast.measure.entities import PATH, TASK, Entity
from holdfast.measure.ground_truth import Failure
from holdfast.measure.grounding import LineMentions, parse_mentions, select_grounded
from holdfast.measure.knowledge import contains_phrase
from holdfast.measure.prepared_boundary import PreparedBoundary

CHARS_PER_TOKEN = 4
MIN_WORD_OVERLAP = 0.6

_PASSED = re.compile(r"(?i)\b(?:pass(?:ed|es|ing)?|ok|green|succe\w+)\b|✓|✅")
_FAILED = re.compile(r"(?i)\b(?:fail\w*|error\w*|red|broken)\b|✗|❌")
_NOT_FAILED = re.compile(r"(?i)\b(?:0|no) (?:fail\w*|error\w*)")


@dataclass(slots=True)
class BriefScore:
    """What one brief achieved at one boundary."""

    chars: int
    violation: bool = False
    grounded: frozenset[Entity] = frozenset()
    mentioned: frozenset[Entity] = frozenset()
    entities: int = 0
    state: float | None = None
    state_parts: dict[str, float] = field(default_factory=dict)
    stale: int = 0
    stale_items: list[str] = field(default_factory=list)


def score_brief(
    brief: str, prepared: PreparedBoundary, max_chars: int | None, *, strict: bool = False
) -> BriefScore:
    """Score one brief. Longer than its bound, it counts as no brief at all, and is reported."""
    if max_chars is not None and len(brief) > max_chars:
        return BriefScore(chars=len(brief), violation=True, state=0.0)
    found = parse_mentions(brief, prepared)
    needed = set(prepared.need.entities)
    everything: set[Entity] = set()
    for mention in found:
        everything |= mention.entities
    parts = score_state(found, prepared)
    stale = find_stale(found, prepared)
    return BriefScore(
        chars=len(brief),
        grounded=frozenset(select_grounded(found, prepared, strict=strict)),
        mentioned=frozenset(everything & needed),
        entities=len(everything),
        state=sum(parts.values()) / len(parts) if parts else None,
        state_parts=parts,
        stale=len(stale),
        stale_items=stale,
    )


def score_state(found: list[LineMentions], prepared: PreparedBoundary) -> dict[str, float]:
    """Share of the true state that a brief tells, for each part that had something to tell."""
    truth = prepared.truth
    parts: dict[str, float] = {}
    if truth.open_tasks:
        shown = _tasks_shown_open(found)
        parts["tasks"] = _share([t in shown for t in truth.open_tasks])
    if truth.edited:
        paths = {p for m in found for p in m.paths}
        parts["edited"] = _share([p in paths for p in truth.edited])
    if truth.test:
        parts["test"] = _test_told(found, truth.test, truth.test_passed)
    if truth.open_errors:
        parts["errors"] = _share([_error_told(found, f) for f in truth.open_errors])
    if truth.branch:
        parts["branch"] = float(any(contains_phrase(m.line.text, truth.branch) for m in found))
    if truth.rules:
        lines = [plain_words(m.line.text) for m in found]
        parts["rules"] = _share([_told(rule, lines) for rule in truth.rules])
    return parts


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)


def _told(words: frozenset[str], lines: list[frozenset[str]]) -> bool:
    return any(len(words & line) >= MIN_WORD_OVERLAP * len(words) for line in lines)


def _tasks_shown_open(found: list[LineMentions]) -> set[str]:
    return {
        e.value
        for m in found
        if not m.line.labels & {L.DONE, L.CANCELLED, L.RESOLVED}
        for e in m.entities
        if e.kind == TASK
    }


def _test_told(found: list[LineMentions], command: str, passed: bool | None) -> float:
    """Half for the command, half for its verdict beside it."""
    score = 0.0
    for mention in found:
        text = mention.line.text
        if not contains_phrase(text, command):
            continue
        rest = _NOT_FAILED.sub(" ", text.replace(command, " "))
        right, wrong = (_PASSED, _FAILED) if passed else (_FAILED, _PASSED)
        verdict = bool(right.search(rest)) and not wrong.search(rest)
        score = max(score, 1.0 if verdict else 0.5)
    return score


def _error_told(found: list[LineMentions], failure: Failure) -> bool:
    """By the words of its message, or by the command that a line says has failed."""
    for mention in found:
        if len(failure.words) >= 2 and _told(failure.words, [plain_words(mention.line.text)]):
            return True
        if contains_phrase(mention.line.text, failure.command) and (
            L.ERROR in mention.line.labels
            or _FAILED.search(mention.line.text.replace(failure.command, " "))
        ):
            return True
    return False


def find_stale(found: list[LineMentions], prepared: PreparedBoundary) -> list[str]:
    """Things a brief shows as they no longer are."""
    truth = prepared.truth
    stale: list[str] = []
    for mention in found:
        labels = mention.line.labels
        over = labels & {L.DONE, L.CANCELLED, L.RESOLVED}
        shown_open = bool(labels & {L.TASK, L.OPEN}) and not over and L.COMMAND not in labels
        shown_present = bool(labels & {L.EDITED, L.READ, L.TOUCHED}) and L.DELETED not in labels
        for entity in sorted(mention.entities):
            if shown_open and entity.kind == TASK and entity.value in truth.closed_tasks:
                stale.append(f"task: {entity.value}")
            if shown_present and entity.kind == PATH and entity.value in truth.deleted:
                stale.append(f"file: {entity.value}")
        if L.ERROR in labels and not over:
            stale.extend(_fixed_shown(mention, prepared))
    return list(dict.fromkeys(stale))


def _fixed_shown(mention: LineMentions, prepared: PreparedBoundary) -> list[str]:
    """A fixed error under an error label, unless the line tells an open one."""
    words = plain_words(mention.line.text)
    truth = prepared.truth
    if any(_error_told([mention], failure) for failure in truth.open_errors):
        return []
    return [
        f"error: {f.line[:80]}"
        for f in truth.fixed_errors
        if len(f.words) >= 3 and len(f.words & words) >= MIN_WORD_OVERLAP * len(f.words)
    ]
