"""Figures of an audit: sums, shares with intervals, rows by kind, project, session and time.

Owns the arithmetic between records and a report. Pure; it renders nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import fsum
from statistics import median

from holdfast.audit.examples import Example, WorstCompaction, select_examples, select_worst
from holdfast.audit.results import Compaction, Consequence, Need, Session
from holdfast.audit.session_audit import AuditedSessions
from holdfast.measure.entities import Entity, idf, weight
from holdfast.measure.scoring import Estimate, estimate_mean
from holdfast.text import estimate_tokens

MAX_REPEATED = 8
EMPTY_ESTIMATE = Estimate(0.0, 0.0, 0.0, 0)

NEED_KINDS = ("path", "identifier", "command", "task", "hash", "url", "ticket", "port", "number")
FACT_KINDS = (
    "said",
    "rule",
    "decision",
    "dead_end",
    "refused",
    "error",
    "test",
    "task",
    "subagent",
    "file",
    "identifier",
)


@dataclass(frozen=True, slots=True)
class KindTotals:
    """How many of something there were, and how many were still told afterwards."""

    name: str
    known: int
    in_summary: int
    with_holdfast: int


@dataclass(frozen=True, slots=True)
class Point:
    """One compaction on the time line."""

    time: str
    session_id: str
    project: str
    trigger: str
    tokens_before: int | None
    summary: float | None
    with_holdfast: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """A project or a session."""

    name: str
    title: str
    sessions: int
    compactions: int
    first: str
    last: str
    measured: int
    summary: float | None
    with_holdfast: float | None
    calls: int
    repeats: int
    wasted_tokens: int


@dataclass(slots=True)
class AuditStatistics:
    folder: str
    sessions_read: int = 0
    sessions_compacted: int = 0
    size: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    too_large: int = 0
    compactions: int = 0
    automatic: int = 0
    manual: int = 0
    first: str = ""
    last: str = ""
    tokens_before: int = 0
    tokens_before_known: int = 0
    tokens_after_median: int = 0
    tokens_after_known: int = 0
    seconds: float = 0.0
    seconds_known: int = 0
    seconds_estimated: int = 0
    measured: int = 0
    summary: Estimate = EMPTY_ESTIMATE
    with_holdfast: Estimate = EMPTY_ESTIMATE
    brief_tokens: int = 0
    summary_tokens: int = 0
    need: list[KindTotals] = field(default_factory=list)
    facts: list[KindTotals] = field(default_factory=list)
    facts_compared: int = 0
    calls: int = 0
    repeats: int = 0
    calls_before: int = 0
    repeats_before: int = 0
    wasted_tokens: int = 0
    most_repeated: list[tuple[str, int, int]] = field(default_factory=list)
    consequences: dict[str, int] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)
    worst: list[WorstCompaction] = field(default_factory=list)
    projects: list[Group] = field(default_factory=list)
    sessions: list[Group] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)


def said(made: AuditStatistics) -> KindTotals | None:
    """What the user had said, of which the report speaks first."""
    return next((row for row in made.facts if row.name == "said"), None)


class _EntityWeights:
    """Weights of needed things; what every session holds weighs little."""

    def __init__(self, gathered: AuditedSessions) -> None:
        self._spread, self._count = gathered.document_frequency, gathered.weighed

    def weight(self, entity: Entity) -> float:
        return weight(entity, {entity: idf(self._spread.get(entity, 1), self._count)})

    def share(self, need: Need, held: Iterable[Entity]) -> float:
        total = fsum(map(self.weight, need.entities))
        return fsum(map(self.weight, held)) / total if total else 0.0

    def shares(self, compaction: Compaction) -> tuple[float, float] | None:
        need = compaction.need
        if need is None:
            return None
        alone = self.share(need, need.in_summary)
        return alone, self.share(need, need.in_summary | need.grounded)


def compute_statistics(gathered: AuditedSessions) -> AuditStatistics:
    """Everything a report tells."""
    scale = _EntityWeights(gathered)
    every = [(s, c) for s in gathered.sessions for c in s.compactions]
    made = AuditStatistics(
        gathered.folder,
        sessions_read=len(gathered.sessions),
        sessions_compacted=sum(bool(s.compactions) for s in gathered.sessions),
        size=sum(s.size for s in gathered.sessions),
        unreadable=[(s.path, s.error) for s in gathered.sessions if s.error],
        too_large=sum(s.too_large for s in gathered.sessions),
        compactions=len(every),
        automatic=sum(c.trigger == "auto" for _, c in every),
        manual=sum(c.trigger == "manual" for _, c in every),
    )
    times = sorted(c.time for _, c in every if c.time)
    made.first, made.last = (times[0], times[-1]) if times else ("", "")
    _costs(made, [c for _, c in every])
    _survival(made, every, scale)
    _lookups(made, [c for _, c in every])
    label = shorten_projects({s.project for s in gathered.sessions})
    made.points = [_point(s, c, label) for s, c in every]
    made.points.sort(key=lambda p: (p.time, p.session_id))
    by_project: dict[str, list[Session]] = {}
    for session in gathered.sessions:
        if session.compactions:
            by_project.setdefault(session.project, []).append(session)
    made.projects = [_group(label[p], "", held) for p, held in by_project.items()]
    made.projects.sort(key=lambda g: (-g.compactions, g.name))
    made.sessions = [
        _group(s.session_id, s.title or label[s.project], [s])
        for s in gathered.sessions
        if s.compactions
    ]
    found: Counter[str] = Counter(c.kind for _, one in every for c in _preventable(one))
    made.consequences = dict(sorted(found.items()))
    made.examples = select_examples(every, label)
    made.worst = select_worst(every, label)
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


def _preventable(compaction: Compaction) -> list[Consequence]:
    """Those that the summary could have prevented: what it told is not its fault."""
    return [c for c in compaction.consequences if not c.in_summary]


def _costs(made: AuditStatistics, every: list[Compaction]) -> None:
    before = [c.tokens_before for c in every if c.tokens_before]
    after = [c.tokens_after for c in every if c.tokens_after]
    made.tokens_before, made.tokens_before_known = sum(before), len(before)
    made.tokens_after_median = int(median(after)) if after else 0
    made.tokens_after_known = len(after)
    timed = [c for c in every if c.seconds is not None]
    made.seconds = fsum(c.seconds or 0.0 for c in timed)
    made.seconds_known = len(timed)
    made.seconds_estimated = sum(c.seconds_estimated for c in timed)
    summarised = [c for c in every if c.summary_chars]
    if summarised:
        made.brief_tokens = estimate_tokens(
            sum(c.brief_chars for c in summarised) // len(summarised)
        )
        made.summary_tokens = estimate_tokens(
            sum(c.summary_chars for c in summarised) // len(summarised)
        )


def _survival(
    made: AuditStatistics, every: list[tuple[Session, Compaction]], scale: _EntityWeights
) -> None:
    measured = [(s, c, shares) for s, c in every if (shares := scale.shares(c)) is not None]
    made.measured = len(measured)
    made.summary = estimate_mean([(s.session_id, shares[0]) for s, _, shares in measured])
    made.with_holdfast = estimate_mean([(s.session_id, shares[1]) for s, _, shares in measured])
    needs = [c.need for _, c, _ in measured if c.need is not None]
    made.need = _kept_by(NEED_KINDS, needs)
    compared = [c for _, c in every if c.facts]
    made.facts_compared = len(compared)
    for kind in FACT_KINDS:
        counts = [c.facts[kind] for c in compared if kind in c.facts]
        if counts:
            made.facts.append(
                KindTotals(
                    kind,
                    sum(n.known for n in counts),
                    sum(n.in_summary for n in counts),
                    sum(n.with_brief for n in counts),
                )
            )


def _kept_by(kinds: tuple[str, ...], needs: list[Need]) -> list[KindTotals]:
    rows = []
    for kind in kinds:
        known = in_summary = with_brief = 0
        for need in needs:
            for entity in need.entities:
                if entity.kind == kind:
                    known += 1
                    in_summary += entity in need.in_summary
                    with_brief += entity in need.in_summary or entity in need.grounded
        if known:
            rows.append(KindTotals(kind, known, in_summary, with_brief))
    return rows


def _lookups(made: AuditStatistics, every: list[Compaction]) -> None:
    looked = [c.lookups for c in every]
    made.calls = sum(one.after for one in looked)
    made.repeats = sum(len(one.repeats) for one in looked)
    made.calls_before = sum(one.before for one in looked)
    made.repeats_before = sum(one.repeats_before for one in looked)
    made.wasted_tokens = _wasted(every)
    times: Counter[str] = Counter()
    chars: Counter[str] = Counter()
    for one in looked:
        for repeat in one.repeats:
            times[repeat.what] += 1
            chars[repeat.what] += repeat.chars
    ranked = sorted(times, key=lambda what: (-times[what], -chars[what], what))
    made.most_repeated = [(w, times[w], estimate_tokens(chars[w])) for w in ranked[:MAX_REPEATED]]


def _wasted(every: Iterable[Compaction]) -> int:
    return estimate_tokens(sum(r.chars for c in every for r in c.lookups.repeats))


def _point(session: Session, compaction: Compaction, label: dict[str, str]) -> Point:
    shares = compaction.said_shares
    return Point(
        compaction.time,
        session.session_id,
        label[session.project],
        compaction.trigger,
        compaction.tokens_before,
        shares[0] if shares else None,
        shares[1] if shares else None,
    )


def _group(name: str, title: str, sessions: list[Session]) -> Group:
    every = [c for s in sessions for c in s.compactions]
    counts = [c.facts["said"] for c in every if "said" in c.facts]
    sentences = sum(count.known for count in counts)
    times = sorted(c.time for c in every if c.time)
    return Group(
        name,
        title,
        sessions=len(sessions),
        compactions=len(every),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        measured=len(counts),
        summary=sum(c.in_summary for c in counts) / sentences if sentences else None,
        with_holdfast=sum(c.with_brief for c in counts) / sentences if sentences else None,
        calls=sum(c.lookups.after for c in every),
        repeats=sum(len(c.lookups.repeats) for c in every),
        wasted_tokens=_wasted(every),
    )


def shorten_projects(projects: Iterable[str]) -> dict[str, str]:
    """A short name for each project folder: as many of its last parts as tell it apart."""
    named: dict[str, str] = {}
    folders = set(projects)
    for folder in folders:
        parts = [p for p in folder.replace("\\", "/").split("/") if p]
        for count in range(1, len(parts) + 1):
            end = "/".join(parts[-count:])
            if sum(_ends_with(other, end) for other in folders) == 1:
                break
        named[folder] = "/".join(parts[-count:]) if parts else "unknown project"
    return named


def _ends_with(folder: str, end: str) -> bool:
    return ("/" + folder.strip("/")).endswith("/" + end)
