"""The figures of a run as one table, as Markdown and as JSON. It measures nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.table import Table

from benchmarks.quality.must_know import MustKnowScore
from benchmarks.quality.session_measures import ALL_DONE, ALL_SAID, OWN, Measured
from benchmarks.quality.shares import Share, Unit, compute_difference, compute_share, leave_one_out
from benchmarks.quality.survival_control import FORESIGHT, SurvivalWeights
from benchmarks.quality.truth_rules import RULES


@dataclass(slots=True)
class Line:
    """One measure at one size: a share for each brief that has one."""

    measure: str
    size: int
    units: dict[str, list[Unit]]
    aim: float | None = None
    as_count: bool = False
    shares: dict[str, Share] = field(default_factory=dict)


# (measure, size) -> what is aimed at on the development set.
AIMS = {
    ("must-know, brief alone", 2000): 0.40,
    ("must-know, brief alone", 4000): 0.58,
    ("must-know, brief alone", 6000): 0.70,
    ("of what the summary lost", 6000): 0.65,
    ("summary and brief together", 6000): 0.91,
    ("traps told as true", 6000): 0.015,
    ("Said: kept", 2000): 0.70,
    ("Said: kept", 4000): 0.92,
    ("Said: kept", 6000): 0.97,
    ("Said: corrections known", 2000): 0.95,
    ("Said: corrections known", 4000): 0.95,
    ("Said: corrections known", 6000): 0.95,
    ("Said: withdrawn words standing", 2000): 0.0,
    ("Said: withdrawn words standing", 4000): 0.0,
    ("Said: withdrawn words standing", 6000): 0.0,
    ("Truth: stated lines that fail", 6000): 0.0,
}


def build_lines(
    done: list[Measured], survived: list[SurvivalWeights], sizes: tuple[int, ...]
) -> list[Line]:
    made: list[Line] = []

    def add(measure: str, size: int, units: dict[str, list[Unit]], as_count: bool = False) -> None:
        if any(units.values()):
            line = Line(measure, size, units, AIMS.get((measure, size)), as_count)
            line.shares = {n: s for n, u in units.items() if (s := compute_share(u)) is not None}
            made.append(line)

    told_as: tuple[tuple[str, Callable[[MustKnowScore], tuple[float, float]], bool], ...] = (
        ("must-know, brief alone", lambda t: (t.weight, t.told), False),
        ("of what the summary lost", lambda t: (t.lost, t.lost_told), False),
        ("summary and brief together", lambda t: (t.weight, t.together), False),
        ("traps told as true", lambda t: (t.traps, t.traps_told), True),
    )
    ours = [t for one in done for t in one.told.get(f"{OWN}@{sizes[-1]}", [])]
    for measure, get, as_count in told_as:
        for size in sizes:
            units = _told_units(done, size, get)
            if size == sizes[-1]:  # ceilings have no size
                units |= _told_units(done, 0, get)
            if measure == "summary and brief together" and ours:
                units[SUMMARY] = [
                    Unit(t.boundary, t.session, t.repo, t.weight, t.in_summary) for t in ours
                ]
            add(measure, size, units, as_count)
    for size in sizes:
        add("Said: kept", size, _kept_units(done, size, "kept"))
    for size in sizes:
        add("Said: corrections known", size, _kept_units(done, size, "corrected"))
    for size in sizes:
        add("Said: withdrawn words standing", size, _kept_units(done, size, "withdrawn"), True)
    for size in sizes:
        add(f"Survival@{size // 4}", size, _survived_units(survived, size))
    for size in sizes:
        add("stale lines (control)", size, _stale_units(survived, size), True)
    add("Truth: stated lines that fail", sizes[-1], _truth_units(done), True)
    for rule in RULES:
        units = _truth_units(done, rule)
        if any(u.got for every in units.values() for u in every):
            add(f"  {rule}", sizes[-1], units, True)
    return made


def _truth_units(done: list[Measured], rule: str = "") -> dict[str, list[Unit]]:
    units: dict[str, list[Unit]] = {}
    for one in done:
        for name, every in one.truths.items():
            for truth in every:
                got = truth.rules.get(rule, 0) if rule else truth.failed
                unit = Unit(f"{truth.boundary}", one.session, one.repo, truth.lines, got)
                units.setdefault(name, []).append(unit)
    return units


def _told_units(
    done: list[Measured], size: int, get: Callable[[MustKnowScore], tuple[float, float]]
) -> dict[str, list[Unit]]:
    units: dict[str, list[Unit]] = {}
    for one in done:
        for name, told in one.told.items():
            brief, _, at = name.rpartition("@")
            if int(at) == size:
                units.setdefault(brief, []).extend(
                    Unit(t.boundary, t.session, t.repo, *get(t)) for t in told
                )
    return units


def _kept_units(done: list[Measured], size: int, what: str) -> dict[str, list[Unit]]:
    units: dict[str, list[Unit]] = {}
    for one in done:
        for name, every in one.kept.items():
            brief, _, at = name.rpartition("@")
            if int(at) != size:
                continue
            for number, kept in enumerate(every):
                if what == "kept":
                    of = float(sum(said for said, _ in kept.kinds.values()))
                    got = float(sum(held for _, held in kept.kinds.values()))
                else:
                    of, got = 1.0, float(kept.corrected if what == "corrected" else kept.withdrawn)
                units.setdefault(brief, []).append(
                    Unit(f"{one.session}#{number}", one.session, one.repo, of, got)
                )
    return units


def _survived_units(survived: list[SurvivalWeights], size: int) -> dict[str, list[Unit]]:
    units: dict[str, list[Unit]] = {}
    for one in survived:
        for name, value in one.by_name.items():
            brief, _, at = name.rpartition("@")
            if int(at) == size:
                unit = Unit(one.boundary, one.session, one.repo, 1.0, value)
                units.setdefault(brief, []).append(unit)
        alone = Unit(one.boundary, one.session, one.repo, 1.0, one.summary)
        units.setdefault(SUMMARY, []).append(alone)
    return units


def _stale_units(survived: list[SurvivalWeights], size: int) -> dict[str, list[Unit]]:
    units: dict[str, list[Unit]] = {}
    for one in survived:
        for name, items in one.stale.items():
            brief, _, at = name.rpartition("@")
            if int(at) == size:
                unit = Unit(one.boundary, one.session, one.repo, 1.0, float(len(items)))
                units.setdefault(brief, []).append(unit)
    return units


SUMMARY = "summary"
CEILINGS = (SUMMARY, ALL_SAID, ALL_DONE, FORESIGHT)


def list_columns(made: list[Line]) -> list[str]:
    found = dict.fromkeys(name for line in made for name in line.shares)
    first = [name for name in (OWN,) if name in found]
    last = [name for name in CEILINGS if name in found]
    return [*first, *(name for name in found if name not in (*first, *last)), *last]


def format_number(line: Line, got: Share | None) -> str:
    if got is None:
        return ""
    if line.as_count:
        return f"{got.got:g}/{got.of:g}"
    return format_share(got.value)


def format_share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if 0 <= value < 1 else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table before it is drawn; a row without cells parts groups."""

    title: str
    head: list[str]
    rows: list[list[str]]

    def drawn(self) -> Table:
        out = Table(title=self.title, title_justify="left")
        for number, name in enumerate(self.head):
            out.add_column(name, justify="right" if number else "left", no_wrap=number == 0)
        for row in self.rows:
            if row:
                out.add_row(*row)
            else:
                out.add_section()
        return out

    def markdown(self) -> str:
        lines = [f"**{self.title}**", "", "| " + " | ".join(self.head) + " |"]
        lines.append("|---" + "|--:" * (len(self.head) - 1) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows if row]
        return "\n".join(lines) + "\n"


def build_table(made: list[Line], rivals: tuple[str, ...]) -> Grid:
    """Every measure at every size, the briefs beside each other."""
    shown = list_columns(made)
    head = ["measure", "at", "n", *shown, "aim", *(f"ours - {rival}" for rival in rivals)]
    rows: list[list[str]] = []
    last = ""
    for line in made:
        group = last if line.measure.startswith(" ") else line.measure.split("@")[0]
        if last and group != last:
            rows.append([])
        last = group
        rows.append(
            [
                line.measure,
                f"{line.size:,}",
                str(max((s.n for s in line.shares.values()), default=0)),
                *(format_number(line, line.shares.get(name)) for name in shown),
                "" if line.aim is None else format_share(line.aim),
                *(_ahead(line, rival) if OWN in line.shares else "" for rival in rivals),
            ]
        )
    return Grid("Quality", head, rows)


def _ahead(line: Line, rival: str) -> str:
    if rival not in line.units or OWN not in line.units or line.as_count:
        return ""
    ahead = compute_difference(line.units[OWN], line.units[rival])
    return f"{ahead.value:+.2f} ({ahead.low:+.2f} to {ahead.high:+.2f})" if ahead else ""


def build_repository_table(made: list[Line]) -> Grid:
    """Our figures by repository, and over all others with one left out."""
    last = max((line.size for line in made), default=0)
    chosen = [x for x in made if OWN in x.units and not x.as_count and x.size == last]
    left = [{one.repo: one for one in leave_one_out(line.units[OWN])} for line in chosen]
    head = ["repository"]
    for line in chosen:
        head += [f"{line.measure} (n)", "without it"]
    rows = []
    for repo in sorted({repo for found in left for repo in found}):
        row = [repo]
        for found in left:
            one = found.get(repo)
            row += (
                [f"{format_share(one.alone)} ({one.n})", format_share(one.others)]
                if one
                else ["", ""]
            )
        rows.append(row)
    spread = ["spread"]
    for found in left:
        both = [x.alone for x in found.values()], [x.others for x in found.values()]
        spread += [f"{format_share(min(values))} to {format_share(max(values))}" for values in both]
    return Grid(f"By repository, at {last:,}", head, [*rows, [], spread])


def build_kind_table(done: list[Measured], size: int) -> Grid:
    """Must-know by kind of fact, at one size and for the ceilings."""
    weight: dict[str, int] = {}
    told: dict[str, dict[str, int]] = {}
    for one in done:
        for name, every in one.told.items():
            brief, _, at = name.rpartition("@")
            if int(at) not in (size, 0):
                continue
            for told_of in every:
                for kind, (of, got) in told_of.kinds.items():
                    by_kind = told.setdefault(brief, {})
                    by_kind[kind] = by_kind.get(kind, 0) + got
                    if brief == OWN:
                        weight[kind] = weight.get(kind, 0) + of
    rows = [
        [kind, str(of), *(format_share(by_kind.get(kind, 0) / of) for by_kind in told.values())]
        for kind, of in sorted(weight.items(), key=lambda item: -item[1])
    ]
    return Grid(f"Must-know by kind, at {size:,}", ["kind", "weight", *told], rows)


def to_json(made: list[Line], done: list[Measured]) -> dict[str, Any]:
    return {
        "sessions": len(done),
        "repositories": sorted({one.repo for one in done}),
        "failures": [text for one in done for text in one.failures],
        "lines": [
            {
                "measure": line.measure,
                "max_chars": line.size,
                "aim": line.aim,
                "briefs": {name: asdict(got) for name, got in line.shares.items()},
                "by_repository": {
                    name: [asdict(x) for x in leave_one_out(units)]
                    for name, units in line.units.items()
                },
            }
            for line in made
        ],
    }
