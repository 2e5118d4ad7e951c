"""Figures of an audit: sums, shares, rows by kind, project, session and time, and their words.

Owns the arithmetic between records and a report, which losses are quoted, and how numbers are
written in the terminal and on the page alike. Pure; it renders nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import fsum
from statistics import median

from holdfast.audit.session_audit import NOTHING, Compaction, Count, Session
from holdfast.compaction.prices import DEFAULT_PRICES, estimate_dollars
from holdfast.state.model import KINDS
from holdfast.text import estimate_tokens

MAX_REPEATED = 8
MAX_EXAMPLES = 9
MAX_EXAMPLES_PER_KIND = 3
MIN_EXAMPLE_CHARS = 16
MAX_WORST = 5
MAX_WORST_QUOTES = 2
# Of what the user said, what limits or demands something is most useful to a reader.
DEMAND_PATTERN = re.compile(
    r"\b(?:always|never|do not|don't|dont|only|must|should|shouldn't|instead|without|make sure)\b",
    re.I,
)
MEASURE = "What mattered, kept through the compaction"
FACT_LABELS = {name: kind.many for name, kind in KINDS.items()} | {
    "rule": "Standing rules",
    "hold": "Holds",
    "error": "Open errors",
    "test": "Tests not passing",
    "request": "The last request",
}
EXAMPLE_LABELS = {
    "hold": "A hold you gave",
    "rule": "A rule you gave",
    "said": "You had said",
    "note": "A note",
    "error": "An open error",
    "test": "A test that had not passed",
    "task": "An open task",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One compaction on the time line."""

    time: str
    session_id: str
    project: str
    trigger: str
    tokens_before: int | None
    counted: Count
    also_known: int


@dataclass(frozen=True, slots=True)
class Group:
    """A project or a session."""

    name: str
    title: str
    sessions: int
    compactions: int
    first: str
    last: str
    counted: Count
    repeats: int


@dataclass(frozen=True, slots=True)
class Example:
    """Something that a summary lost, quoted."""

    kind: str
    text: str
    detail: str
    time: str
    project: str
    session_id: str


@dataclass(frozen=True, slots=True)
class WorstCompaction:
    """A compaction whose summary told little of what mattered."""

    time: str
    session_id: str
    project: str
    counted: Count
    lost: tuple[str, ...]  # some that are in the brief and not in the summary


@dataclass(slots=True)
class AuditStatistics:
    folder: str = ""
    sessions_read: int = 0
    sessions_compacted: int = 0
    size: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    compactions: int = 0
    automatic: int = 0
    manual: int = 0
    first: str = ""
    last: str = ""
    tokens_before: int = 0
    tokens_before_known: int = 0
    tokens_after_median: int = 0
    dollars_estimated: float | None = None
    seconds: float = 0.0
    seconds_known: int = 0
    seconds_estimated: int = 0
    compared: int = 0  # compactions with a summary
    counted: Count = NOTHING  # what mattered, as `status --compactions` counts it
    also_known: int = 0
    facts: dict[str, Count] = field(default_factory=dict)  # the same by kind
    said: Count = NOTHING
    brief_tokens: int = 0
    summary_tokens: int = 0
    repeats: int = 0
    most_repeated: list[tuple[str, int]] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    worst: list[WorstCompaction] = field(default_factory=list)
    projects: list[Group] = field(default_factory=list)
    sessions: list[Group] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)


SessionCompactions = list[tuple[Session, Compaction]]


def compute_statistics(
    sessions: list[Session], prices: Mapping[str, tuple[float, float]] = DEFAULT_PRICES
) -> AuditStatistics:
    """Everything in a report."""
    every = [(s, c) for s in sessions for c in s.compactions]
    compactions = [c for _, c in every]
    made = AuditStatistics(
        sessions_read=len(sessions),
        sessions_compacted=sum(bool(s.compactions) for s in sessions),
        size=sum(s.size for s in sessions),
        unreadable=[(s.path, s.error) for s in sessions if s.error],
        compactions=len(every),
        automatic=sum(c.trigger == "auto" for c in compactions),
        manual=sum(c.trigger == "manual" for c in compactions),
    )
    made.first, made.last = _find_span(compactions)
    _add_costs(made, compactions, prices)
    _add_losses(made, compactions)
    times = Counter(what for one in compactions for what in one.repeats)
    made.repeats = times.total()
    made.most_repeated = sorted(times.items(), key=lambda item: (-item[1], item[0]))[:MAX_REPEATED]
    label = shorten_projects({s.project for s in sessions})
    _add_groups(made, sessions, label)
    made.points = [
        Point(
            one.time,
            session.session_id,
            label[session.project],
            one.trigger,
            one.tokens_before,
            one.counted,
            one.also_known,
        )
        for session, one in sorted(every, key=lambda pair: (pair[1].time, pair[0].session_id))
    ]
    made.examples = _select_examples(every, label)
    made.worst = _select_worst(every, label)
    return made


def remove_quotes(made: AuditStatistics) -> AuditStatistics:
    """The same figures and nothing that anybody said, ran or named in a session."""
    return replace(
        made,
        examples=[],
        most_repeated=[],
        worst=[replace(one, lost=()) for one in made.worst],
        sessions=[replace(one, title="") for one in made.sessions],
    )


def _add_costs(
    made: AuditStatistics,
    every: list[Compaction],
    prices: Mapping[str, tuple[float, float]],
) -> None:
    amounts = [estimate_dollars(c.model, c.tokens_before, c.summary_chars, prices) for c in every]
    priced = [amount for amount in amounts if amount is not None]
    made.dollars_estimated = fsum(priced) if priced else None
    before = [c.tokens_before for c in every if c.tokens_before]
    after = [c.tokens_after for c in every if c.tokens_after]
    made.tokens_before, made.tokens_before_known = sum(before), len(before)
    made.tokens_after_median = int(median(after)) if after else 0
    timed = [c for c in every if c.seconds is not None]
    made.seconds = fsum(c.seconds or 0.0 for c in timed)
    made.seconds_known = len(timed)
    made.seconds_estimated = sum(c.seconds_estimated for c in timed)


def _add_losses(made: AuditStatistics, every: list[Compaction]) -> None:
    compared = [c for c in every if c.brief_chars]
    made.compared = len(compared)
    made.counted = sum((c.counted for c in compared), NOTHING)
    made.also_known = sum(c.also_known for c in compared)
    made.said = sum((c.said for c in compared), NOTHING)
    for kind in KINDS:
        total = sum((c.facts.get(kind, NOTHING) for c in compared), NOTHING)
        if total.known:
            made.facts[kind] = total
    many = len(compared) or 1
    made.brief_tokens = estimate_tokens(sum(c.brief_chars for c in compared) // many)
    made.summary_tokens = estimate_tokens(sum(c.summary_chars for c in compared) // many)


def _add_groups(made: AuditStatistics, sessions: list[Session], label: dict[str, str]) -> None:
    by_project: dict[str, list[Session]] = {}
    for session in sessions:
        if session.compactions:
            by_project.setdefault(session.project, []).append(session)
            title = session.title or label[session.project]
            made.sessions.append(_make_group(session.session_id, title, [session]))
    made.projects = [_make_group(label[p], "", held) for p, held in by_project.items()]
    made.projects.sort(key=lambda g: (-g.compactions, g.name))


def _make_group(name: str, title: str, sessions: list[Session]) -> Group:
    every = [c for s in sessions for c in s.compactions]
    counted = sum((c.counted for c in every), NOTHING)
    repeats = sum(len(c.repeats) for c in every)
    return Group(name, title, len(sessions), len(every), *_find_span(every), counted, repeats)


def _find_span(every: Iterable[Compaction]) -> tuple[str, str]:
    """When the first and the last of them were."""
    times = [c.time for c in every if c.time]
    return min(times, default=""), max(times, default="")


def _select_examples(every: SessionCompactions, label: dict[str, str]) -> list[Example]:
    """What the brief would have brought back, each once; of each kind only a few."""
    found: dict[str, dict[str, Example]] = {}
    for session, compaction in every:
        for lost in compaction.lost:
            if lost.kept and len(lost.text) >= MIN_EXAMPLE_CHARS:
                made = Example(
                    lost.kind,
                    lost.text,
                    lost.detail if lost.kind == "test" else "",
                    compaction.time,
                    label[session.project],
                    session.session_id,
                )
                found.setdefault(lost.kind, {}).setdefault(lost.text, made)
    chosen: dict[str, Example] = {}
    for kind in EXAMPLE_LABELS:
        ranked = sorted(found.get(kind, {}).values(), key=_rank_example)
        # A rule is also something the user said: it is quoted once.
        new = [one for one in ranked if one.text not in chosen]
        chosen |= {one.text: one for one in new[:MAX_EXAMPLES_PER_KIND]}
    return list(chosen.values())[:MAX_EXAMPLES]


def _rank_example(example: Example) -> tuple[bool, int, str]:
    """Words of a length that a reader takes in at a glance, and demands before musings."""
    vague = example.kind == "said" and not _is_demand(example.text)
    return (vague, abs(len(example.text) - 90), example.text)


def _is_demand(text: str) -> bool:
    musing = text.endswith("?") or text.startswith(("I ", '"', "“", ">"))
    return not musing and DEMAND_PATTERN.search(text) is not None


def _select_worst(every: SessionCompactions, label: dict[str, str]) -> list[WorstCompaction]:
    """The compactions whose summaries lost most of what mattered; one of each session."""
    lossy = [(s, c) for s, c in every if c.counted.in_summary < c.counted.known]
    lossy.sort(key=lambda sc: (*_rank_loss(sc[1].counted), sc[1].time, sc[0].session_id))
    first: dict[str, WorstCompaction] = {}
    for session, one in lossy:
        brought = [lost.text for lost in one.lost if lost.kept]
        brought.sort(key=lambda text: not _is_demand(text))
        quotes = tuple(brought[:MAX_WORST_QUOTES])
        project = label[session.project]
        first.setdefault(
            session.session_id,
            WorstCompaction(one.time, session.session_id, project, one.counted, quotes),
        )
    return list(first.values())[:MAX_WORST]


def _rank_loss(counted: Count) -> tuple[int, int]:
    """Of two that lost as many facts, first the one that kept fewer: as the dashboard does."""
    return counted.in_summary - counted.known, counted.in_summary


def shorten_projects(projects: Iterable[str]) -> dict[str, str]:
    """A short name for each project folder: as many of its last parts as tell it apart."""
    named: dict[str, str] = {}
    folders = set(projects)
    for folder in folders:
        parts = [p for p in folder.replace("\\", "/").split("/") if p]
        for count in range(1, len(parts) + 1):
            end = "/".join(parts[-count:])
            if sum(("/" + one.strip("/")).endswith("/" + end) for one in folders) == 1:
                break
        named[folder] = "/".join(parts[-count:]) if parts else "unknown project"
    return named


def format_percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}".replace("%", " %")


def format_amount(count: int) -> str:
    """A number at a glance: 7.6 M, 406 k, 950."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} M"
    if count >= 10_000:
        return f"{count / 1000:.0f} k"
    return f"{count:,}"


def format_dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.01 else "under $0.01"


def format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def format_date_range(first: str, last: str) -> str:
    if not first:
        return "at unknown times"
    days = (first[:10], last[:10])
    return f"on {days[0]}" if days[0] == days[1] else f"{days[0]} to {days[1]}"
