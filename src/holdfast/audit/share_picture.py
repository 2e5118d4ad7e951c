"""One picture of an audit to show around: figures only, nothing that anybody said or named.

An SVG of 1200 by 630, which is what pages and chats preview, drawn without a browser. It carries
its own background and no font of its own, so that it looks the same in the light and in the dark.
"""

from __future__ import annotations

from html import escape

from holdfast.audit.formatting import (
    format_amount,
    format_date_range,
    format_duration,
    format_percent,
    pluralize,
)
from holdfast.audit.statistics import AuditStatistics, said

WIDTH, HEIGHT = 1200, 630
MARGIN = 72
MAX_TILES = 4
BAR_LEFT, BAR_WIDTH, BAR_HEIGHT = MARGIN, 860, 54

PAPER, CARD, INK, SOFT = "#11151c", "#1a202a", "#e8ebf1", "#a0a9b8"
TRACK, SUMMARY, KEPT = "#2a313d", "#eb9560", "#41c79a"
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def draw_picture(made: AuditStatistics) -> str:
    """The picture; it says in words for a screen reader what it shows."""
    measure, alone, with_brief = _headline(made)
    words = (
        f"{measure}: {format_percent(alone)} by the summaries alone, {format_percent(with_brief)}"
        " with Holdfast's brief."
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img" aria-labelledby="title words">',
        '<title id="title">What compaction cost</title>',
        f'<desc id="words">{escape(words)}</desc>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        _text(MARGIN, 96, "What context compaction cost", 46, weight=700),
        _text(MARGIN, 146, measure, 27, fill=SOFT),
        *_bar(182, "the summaries alone", alone, SUMMARY),
        *_bar(300, "with Holdfast’s brief, simulated", with_brief, KEPT),
        *_tiles(made),
        _text(MARGIN, 596, _basis(made), 20, fill=SOFT),
        _text(WIDTH - MARGIN, 596, "holdfast audit", 24, fill=KEPT, font=MONO, anchor="end"),
        "</svg>\n",
    ]
    return "".join(parts)


def _headline(made: AuditStatistics) -> tuple[str, float | None, float | None]:
    row = said(made)
    if row is not None:
        return (
            "Of what the user had said, kept through compactions",
            row.in_summary / row.known,
            row.with_holdfast / row.known,
        )
    if made.measured:
        return (
            "Of the names the agent used next, kept",
            made.summary.mean,
            made.with_holdfast.mean,
        )
    return "There was too little to measure", None, None


def _bar(top: int, label: str, share: float | None, colour: str) -> list[str]:
    width = round(BAR_WIDTH * min(max(share or 0.0, 0.0), 1.0), 1)
    box = f'x="{BAR_LEFT}" y="{top + 38}" height="{BAR_HEIGHT}" rx="9"'
    return [
        _text(BAR_LEFT, top + 24, label, 23),
        f'<rect {box} width="{BAR_WIDTH}" fill="{TRACK}"/>',
        f'<rect {box} width="{width}" fill="{colour}"/>',
        _text(WIDTH - MARGIN, top + 83, format_percent(share), 60, colour, 700, anchor="end"),
    ]


def _tiles(made: AuditStatistics) -> list[str]:
    figures = [(f"{made.compactions:,}", "compaction" if made.compactions == 1 else "compactions")]
    if made.tokens_before_known:
        figures.append((format_amount(made.tokens_before), "tokens summarised"))
    if made.calls:
        figures.append((f"{made.repeats:,}", "look-ups repeated"))
    if made.seconds_known:
        waiting = "waiting, estimated" if made.seconds_estimated else "waiting"
        figures.append((format_duration(made.seconds), waiting))
    step = (WIDTH - 2 * MARGIN + 20) // MAX_TILES
    parts = []
    for number, (value, label) in enumerate(figures):
        left = MARGIN + number * step
        parts += [
            f'<rect x="{left}" y="432" width="{step - 20}" height="112" rx="14" fill="{CARD}"/>',
            _text(left + 22, 484, value, 38, weight=700),
            _text(left + 22, 522, label, 20, fill=SOFT),
        ]
    return parts


def _basis(made: AuditStatistics) -> str:
    between = format_date_range(made.first, made.last)
    return f"{pluralize(made.sessions_read, 'session')}, {between}. Counted without a model."


def _text(
    x: float,
    y: float,
    words: str,
    size: int,
    fill: str = INK,
    weight: int = 400,
    *,
    font: str = SANS,
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x}" y="{y}" font-family="{font}" font-size="{size}" font-weight="{weight}"'
        f' fill="{fill}" text-anchor="{anchor}">{escape(words)}</text>'
    )
