"""The examples a report quotes: the worst of what was lost, each told once.

Owns the choice. What harmed comes before what could have; of each kind only a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.audit.consequences import format_quote
from holdfast.audit.results import Compaction, Lost, Session
from holdfast.measure.entities import Entity

MAX_EXAMPLES = 9
MAX_PER_KIND = {"rule": 3, "decision": 2, "error": 1, "test": 1, "dead_end": 1, "refused": 2}
MAX_OF_OTHER_KINDS = 3
MAX_WORST = 5
MAX_ENTITIES_NAMED = 4

# What happened before what was only lost; the user's own words before the agent's.
HARMFUL_KINDS = ("said_again", "retried", "redone", "reminded")
KIND_ORDER = (*HARMFUL_KINDS, "rule", "refused", "decision", "error", "dead_end", "test", "request")
MIN_TEXT_CHARS = 16
TURNED_DOWN = "rejected by the user"

# Of what one compaction lost, the most telling kinds first.
NAMED_KINDS = ("command", "path", "task", "identifier", "url", "port", "ticket", "hash", "number")

SessionCompactions = list[tuple[Session, Compaction]]
# What the summary alone told of the need, and with the brief; None where it was not measured.
Shares = Callable[[Compaction], tuple[float, float] | None]


@dataclass(frozen=True, slots=True)
class WorstCompaction:
    """A compaction whose summary told little of what was needed next."""

    time: str
    session_id: str
    project: str
    summary: float
    with_holdfast: float
    lost: tuple[str, ...]  # some of what the brief tells and the summary does not
    needed: int


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
            told = _quoted(lost)
            if told is not None:
                kind, text, then = told
                found.setdefault(kind, []).append(
                    Example(kind, text, then, compaction.time, project, session.session_id, True)
                )
    chosen: list[Example] = []
    for kind in KIND_ORDER:
        ranked = sorted(found.get(kind, []), key=_is_informative)
        chosen += _once(ranked)[: MAX_PER_KIND.get(kind, MAX_OF_OTHER_KINDS)]
    return chosen[:MAX_EXAMPLES]


def _quoted(lost: Lost) -> tuple[str, str, str] | None:
    """(kind, text, what is known of it) as a reader wants it; None for what says nothing."""
    if lost.kind == "dead_end" and lost.detail.startswith(TURNED_DOWN):
        tool, _, asked = lost.text.partition(": ")
        return ("refused", asked, "") if tool == "Bash" else None
    if lost.kind == "test" and not lost.detail:
        return None  # which command was red, but not what failed
    if lost.kind not in KIND_ORDER:
        return None
    return lost.kind, lost.text, lost.detail if lost.kind in ("dead_end", "test") else ""


def _is_informative(example: Example) -> tuple[bool, int, str, str]:
    """A reason beside it, and words of a length that a reader takes in at a glance."""
    unexplained = example.kind == "dead_end" and not example.then
    return (unexplained, abs(len(example.text) - 90), example.text, example.time)


def _once(ranked: list[Example]) -> list[Example]:
    kept: dict[str, Example] = {}
    for one in ranked:
        kept.setdefault(one.text, one)
    return list(kept.values())


def select_worst(
    every: SessionCompactions,
    label: dict[str, str],
    shares: Shares,
    weight: Callable[[Entity], float],
) -> list[WorstCompaction]:
    """The compactions whose summaries told least; one of each session."""
    found = []
    for session, compaction in every:
        told = shares(compaction)
        need = compaction.need
        if told is None or need is None:
            continue
        brought = [e for e in need.entities if e in need.grounded and e not in need.in_summary]
        brought.sort(key=lambda e: (NAMED_KINDS.index(e.kind), -weight(e)))
        found.append(
            WorstCompaction(
                compaction.time,
                session.session_id,
                label[session.project],
                told[0],
                told[1],
                tuple(format_quote(e.value) for e in _mix_kinds(brought)),
                len(need.entities),
            )
        )
    found.sort(key=lambda w: (w.summary, w.time, w.session_id))
    first: dict[str, WorstCompaction] = {}
    for one in found:
        first.setdefault(one.session_id, one)
    return list(first.values())[:MAX_WORST]


def _mix_kinds(brought: list[Entity]) -> list[Entity]:
    """A few, of as many kinds as there are."""
    turns: dict[str, int] = {}
    ranked = []
    for entity in brought:
        turn = turns[entity.kind] = turns.get(entity.kind, 0) + 1
        ranked.append((turn, entity))
    return [entity for _, entity in sorted(ranked, key=lambda pair: pair[0])[:MAX_ENTITIES_NAMED]]
