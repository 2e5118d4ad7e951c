"""The figures of a run as one table, as Markdown and as JSON. It measures nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.table import Table

from benchmarks.quality.control import FORESIGHT, Survived
from benchmarks.quality.figures import Share, Unit, difference, left_out, share
from benchmarks.quality.measure import AGAINST, ALL_DONE, ALL_SAID, OWN, Measured
from benchmarks.quality.must_know import Told
from benchmarks.quality.truth import RULES


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


def lines(done: list[Measured], survived: list[Survived], sizes: tuple[int, ...]) -> list[Line]:
    made: list[Line] = []

    def add(measure: str, size: int, units: dict[str, list[Unit]], as_count: bool = False) -> None:
        if any(units.values()):
            line = Line(measure, size, units, AIMS.get((measure, size)), as_count)
            line.shares = {n: s for n, u in units.items() if (s := share(u)) is not None}
            made.append(line)

    told_as: tuple[tuple[str, Callable[[Told], tuple[float, float]], bool], ...] = (
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
    done: list[Measured], size: int, get: Callable[[Told], tuple[float, float]]
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


def _survived_units(survived: list[Survived], size: int) -> dict[str, list[Unit]]:
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


def _stale_units(survived: list[Survived], size: int) -> dict[str, list[Unit]]:
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


def columns(made: list[Line]) -> list[str]:
    found = dict.fromkeys(name for line in made for name in line.shares)
    first = [name for name in (OWN, AGAINST) if name in found]
    last = [name for name in CEILINGS if name in found]
    return [*first, *(name for name in found if name not in (*first, *last)), *last]


def number(line: Line, got: Share | None) -> str:
    if got is None:
        return ""
    if line.as_count:
        return f"{got.got:g}/{got.of:g}"
    return bare(got.value)


def bare(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if 0 <= value < 1 else f"{value:.2f}"


def table(made: list[Line], rivals: tuple[str, ...]) -> Table:
    shown = columns(made)
    out = Table(title="Quality", title_justify="left")
    out.add_column("measure", no_wrap=True)
    out.add_column("at", justify="right")
    out.add_column("n", justify="right")
    for name in shown:
        out.add_column(name, justify="right")
    out.add_column("aim", justify="right")
    for rival in rivals:
        out.add_column(f"ours - {rival}", justify="right", no_wrap=True)
    last = ""
    for line in made:
        group = last if line.measure.startswith(" ") else line.measure.split("@")[0]
        if last and group != last:
            out.add_section()
        last = group
        own = line.shares.get(OWN)
        out.add_row(
            line.measure,
            str(line.size or "all"),
            str(max((s.n for s in line.shares.values()), default=0)),
            *(number(line, line.shares.get(name)) for name in shown),
            "" if line.aim is None else bare(line.aim),
            *(_ahead(line, rival) if own else "" for rival in rivals),
        )
    return out


def _ahead(line: Line, rival: str) -> str:
    if rival not in line.units or OWN not in line.units or line.as_count:
        return ""
    ahead = difference(line.units[OWN], line.units[rival])
    return f"{ahead.value:+.2f} ({ahead.low:+.2f} to {ahead.high:+.2f})" if ahead else ""


def repositories(made: list[Line]) -> Table:
    """Our figures by repository, and over all others with one left out."""
    chosen = [x for x in made if OWN in x.units and not x.as_count and x.size == max_size(made)]
    out = Table(title="By repository, and leave one out", title_justify="left")
    out.add_column("repository", no_wrap=True)
    for line in chosen:
        out.add_column(f"{line.measure} (n)", justify="right")
        out.add_column("others", justify="right")
    rows: dict[str, list[str]] = {}
    names = sorted({u.repo for line in chosen for u in line.units[OWN]})
    for repo in names:
        rows[repo] = []
    for line in chosen:
        found = {x.repo: x for x in left_out(line.units[OWN])}
        for repo in names:
            one = found.get(repo)
            rows[repo] += [f"{bare(one.alone)} ({one.n})", bare(one.others)] if one else ["", ""]
    for repo, cells in rows.items():
        out.add_row(repo, *cells)
    spread = ["spread"]
    for line in chosen:
        found_all = left_out(line.units[OWN])
        alone, others = [x.alone for x in found_all], [x.others for x in found_all]
        spread += [
            f"{bare(min(alone))} to {bare(max(alone))}",
            f"{bare(min(others))} to {bare(max(others))}",
        ]
    out.add_section()
    out.add_row(*spread)
    return out


def max_size(made: list[Line]) -> int:
    return max((line.size for line in made), default=0)


def as_json(made: list[Line], done: list[Measured]) -> dict[str, Any]:
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
                    name: [asdict(x) for x in left_out(units)] for name, units in line.units.items()
                },
            }
            for line in made
        ],
    }
