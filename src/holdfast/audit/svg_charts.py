"""The drawings of the page: bars and a time line, as inline SVG without a viewer's help.

Owns shapes only. Whatever a drawing shows stands in words or a table beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from holdfast.audit.formatting import format_percent
from holdfast.audit.session_audit import parse_time
from holdfast.audit.statistics import Point
from holdfast.measure.scoring import Estimate

WIDTH, HEIGHT = 940, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 14, 34
MAX_DOTS = 80
MAX_LABELS = 8


def draw_bar(share: float, kind: str, spread: Estimate | None = None) -> str:
    """A bar over its track, as wide as its cell; the number stands beside it as text."""
    whisker = ""
    if spread is not None and spread.n > 1:
        low, high = _width(spread.low), _width(spread.high)
        whisker = f'<line class="whisker" x1="{low}" x2="{high}" y1="50%" y2="50%"></line>'
    return (
        '<svg class="bar" aria-hidden="true" focusable="false">'
        '<rect class="track" width="100%" height="100%" rx="4"></rect>'
        f'<rect class="{kind}" width="{_width(share)}" height="100%" rx="4"></rect>{whisker}</svg>'
    )


def _width(share: float) -> str:
    return f"{min(max(share, 0.0), 1.0) * 100:.1f}%"


@dataclass(frozen=True, slots=True)
class Dot:
    """One compaction, or the mean of those in one stretch of time."""

    label: str
    count: int
    summary: float
    with_holdfast: float


def group_points(points: list[Point]) -> tuple[list[Dot], str]:
    """What the time line draws, and the stretch one dot stands for."""
    measured = [
        (p.time, p.summary, p.with_holdfast)
        for p in points
        if p.summary is not None and p.with_holdfast is not None
    ]
    if len(measured) <= MAX_DOTS:
        return [Dot(time[:10], 1, a, b) for time, a, b in measured], "compaction"
    for cut, stretch in ((_day, "day"), (_week, "week"), (_month, "month"), (_year, "year")):
        held: dict[str, list[tuple[float, float]]] = {}
        for time, a, b in measured:
            held.setdefault(cut(time), []).append((a, b))
        if len(held) <= MAX_DOTS or cut is _year:
            return [
                Dot(label, len(pairs), _mean([a for a, _ in pairs]), _mean([b for _, b in pairs]))
                for label, pairs in held.items()
            ], stretch
    return [], ""


def _day(time: str) -> str:
    return time[:10]


def _month(time: str) -> str:
    return time[:7]


def _year(time: str) -> str:
    return time[:4]


def _week(time: str) -> str:
    found = parse_time(time)
    return "" if found is None else "{}-W{:02d}".format(*found.isocalendar()[:2])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def draw_timeline(points: list[Point]) -> str:
    """Pairs of dots in order of time: what the summary told, and with Holdfast."""
    drawn, stretch = group_points(points)
    if len(drawn) < 2:
        return ""
    mean_alone = _mean([d.summary for d in drawn])
    mean_with = _mean([d.with_holdfast for d in drawn])
    words = (
        f"One pair of dots per {stretch}, {len(drawn)} in all, from {drawn[0].label} to "
        f"{drawn[-1].label}. Lower dots: kept by the summary,"
        f" on average {format_percent(mean_alone)}. "
        f"Upper dots: with Holdfast's brief, on average {format_percent(mean_with)}."
    )
    out = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="time-title time-words">',
        '<title id="time-title">What you had said, kept through each compaction</title>',
        f'<desc id="time-words">{escape(words)}</desc>',
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(share)
        out.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"></line>')
        out.append(
            f'<text class="tick" x="{LEFT - 8}" y="{y + 4}" text-anchor="end">'
            f"{format_percent(share)}</text>"
        )
    step = (WIDTH - LEFT - RIGHT) / len(drawn)
    every = max(1, -(-len(drawn) // MAX_LABELS))
    for number, dot in enumerate(drawn):
        x = round(LEFT + step * (number + 0.5), 1)
        low, high = _y(dot.summary), _y(dot.with_holdfast)
        title = (
            f"{dot.label}: {format_percent(dot.summary)} kept,"
            f" {format_percent(dot.with_holdfast)} with Holdfast"
        )
        out.append(
            f"<g><title>{escape(title)}</title>"
            f'<line class="link" x1="{x}" x2="{x}" y1="{low}" y2="{high}"></line>'
            f'<circle class="f-summary" cx="{x}" cy="{low}" r="5"></circle>'
            f'<circle class="f-kept" cx="{x}" cy="{high}" r="5"></circle></g>'
        )
        if number % every == 0:
            out.append(
                f'<text class="tick" x="{x}" y="{HEIGHT - 10}" text-anchor="middle">'
                f"{escape(dot.label)}</text>"
            )
    out.append("</svg>")
    return "".join(out)


def _y(share: float) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(max(share, 0.0), 1.0)), 1)
