"""The examples a report quotes: the worst of what was lost, each told once.

Owns the choice. What harmed comes before what could have; of each kind only a few.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.audit.results import Compaction, Lost, Session

MAX_EXAMPLES = 9
MAX_PER_KIND = {"said": 4, "decision": 2, "error": 1, "test": 1, "dead_end": 1}
MAX_OF_OTHER_KINDS = 3
MAX_WORST = 5
MAX_WORST_QUOTES = 2
MIN_SENTENCES = 5  # of fewer, a share says nothing about a summary

# What happened before what was only lost; the user's own words before the agent's.
HARMFUL_KINDS = ("said_again", "retried", "redone", "reminded")
KIND_ORDER = (*HARMFUL_KINDS, "rule", "said", "decision", "error", "test", "dead_end")
MIN_TEXT_CHARS = 16
# Of what the user said, that which limits or demands something tells a reader most.
DEMAND_PATTERN = re.compile(
    r"\b(?:always|never|do not|don't|dont|only|must|should|shouldn't|instead|without|make sure)\b",
    re.I,
)

SessionCompactions = list[tuple[Session, Compaction]]


@dataclass(frozen=True, slots=True)
class WorstCompaction:
    """A compaction whose summary told little of what the user had said."""

    time: str
    session_id: str
    project: str
    summary: float
    with_holdfast: float
    lost: tuple[str, ...]  # some sentences that the brief tells and the summary does not
    sentences: int


@dataclass(frozen=True, slots=True)
class Example:
    """Something quoted: what was known, what became of it."""

    kind: str
    text: str
    then: str
    time: str
    project: str
    session_id: str
    kept: bool


def select_examples(every: SessionCompactions, label: dict[str, str]) -> list[Example]:
    found: dict[str, list[Example]] = {}
    for session, compaction in every:
        project = label[session.project]
        for one in compaction.consequences:
            if not one.in_summary:
                text, then = one.known or one.then, one.then if one.known else ""
                found.setdefault(one.kind, []).append(
                    Example(one.kind, text, then, one.time, project, session.session_id, one.kept)
                )
        for lost in compaction.lost:
            if not lost.kept or len(lost.text) < MIN_TEXT_CHARS:
                continue
            quoted = _quoted(lost)
            if quoted is not None:
                kind, text, then = quoted
                found.setdefault(kind, []).append(
                    Example(kind, text, then, compaction.time, project, session.session_id, True)
                )
    chosen: dict[str, Example] = {}
    for kind in KIND_ORDER:
        ranked = sorted(found.get(kind, []), key=_is_informative)
        # A rule stands among what was said as well: it is quoted once.
        new = [one for one in _once(ranked) if one.text not in chosen]
        chosen |= {one.text: one for one in new[: MAX_PER_KIND.get(kind, MAX_OF_OTHER_KINDS)]}
    return list(chosen.values())[:MAX_EXAMPLES]


def _quoted(lost: Lost) -> tuple[str, str, str] | None:
    """(kind, text, what is known of it) as a reader wants it; None for what says nothing."""
    if lost.kind == "test" and not lost.detail:
        return None  # which command was red, but not what failed
    if lost.kind not in KIND_ORDER:
        return None
    return lost.kind, lost.text, lost.detail if lost.kind in ("dead_end", "test") else ""


def _is_informative(example: Example) -> tuple[bool, int, str, str]:
    """A reason beside it, and words of a length that a reader takes in at a glance."""
    vague = example.kind == "dead_end" and not example.then
    if example.kind == "said":
        vague = _is_musing(example.text) or not DEMAND_PATTERN.search(example.text)
    return (vague, abs(len(example.text) - 90), example.text, example.time)


def _once(ranked: list[Example]) -> list[Example]:
    kept: dict[str, Example] = {}
    for one in ranked:
        kept.setdefault(one.text, one)
    return list(kept.values())


def select_worst(every: SessionCompactions, label: dict[str, str]) -> list[WorstCompaction]:
    """The compactions whose summaries told least of what had been said; one of each session."""
    found = []
    for session, compaction in every:
        shares = compaction.said_shares
        if shares is None or compaction.facts["said"].known < MIN_SENTENCES:
            continue
        brought = [one.text for one in compaction.lost if one.kind == "said" and one.kept]
        brought.sort(key=lambda text: _is_musing(text) or not DEMAND_PATTERN.search(text))
        found.append(
            WorstCompaction(
                compaction.time,
                session.session_id,
                label[session.project],
                *shares,
                tuple(brought[:MAX_WORST_QUOTES]),
                compaction.facts["said"].known,
            )
        )
    found.sort(key=lambda w: (w.summary, w.time, w.session_id))
    first: dict[str, WorstCompaction] = {}
    for one in found:
        first.setdefault(one.session_id, one)
    return list(first.values())[:MAX_WORST]


def _is_musing(text: str) -> bool:
    """A question, a thought or a quotation: it asks for nothing that has to stand."""
    return text.endswith("?") or text.startswith(("I ", '"', "“", ">"))
