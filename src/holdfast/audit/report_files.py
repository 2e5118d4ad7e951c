"""The audit as files to look at: one page, and one picture to show around.

Owns what the templates beside it are given. Everything in them is escaped.
"""

import os

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from holdfast.audit import statistics
from holdfast.audit.statistics import AuditStatistics
from holdfast.clock import format_minute
from holdfast.text import pluralize

MAX_SESSIONS = 60
CODE_KINDS = frozenset({"error", "test"})


def render_page(made: AuditStatistics, *, folder: str, made_on: str) -> str:
    """The whole report. `folder` is the name to show for where the transcripts are."""
    return _render(
        "report.html.jinja",
        made,
        folder=folder,
        made_on=made_on,
        sessions=sorted(made.sessions, key=lambda g: (-g.compactions, g.first))[:MAX_SESSIONS],
        measure=statistics.MEASURE,
        fact_labels=statistics.FACT_LABELS,
        example_labels=statistics.EXAMPLE_LABELS,
        code_kinds=CODE_KINDS,
    )


def draw_picture(made: AuditStatistics) -> str:
    """The picture, an SVG; it says in words for a screen reader what it shows."""
    headline = "Of what mattered, kept through compactions"
    alone, with_brief = made.counted.shares or (None, None)
    return _render(
        "picture.svg.jinja",
        made,
        headline=headline if made.counted.shares else "There was too little to measure",
        alone=alone,
        with_brief=with_brief,
        tiles=_list_tiles(made),
    )


def _list_tiles(made: AuditStatistics) -> list[tuple[str, str]]:
    tiles = [(f"{made.compactions:,}", "compaction" if made.compactions == 1 else "compactions")]
    if made.tokens_before_known:
        tiles.append((statistics.format_amount(made.tokens_before), "tokens summarised"))
    if made.dollars_estimated is not None:
        tiles.append((statistics.format_dollars(made.dollars_estimated), "estimated"))
    elif made.repeats:
        tiles.append((f"{made.repeats:,}", "look-ups repeated"))
    if made.seconds_known:
        waiting = "waiting, estimated" if made.seconds_estimated else "waiting"
        tiles.append((statistics.format_duration(made.seconds), waiting))
    return tiles


def _render(template: str, made: AuditStatistics, **values: object) -> str:
    environment = Environment(
        loader=FileSystemLoader(os.path.dirname(__file__)),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "amount": statistics.format_amount,
        "dollars": statistics.format_dollars,
        "duration": statistics.format_duration,
        "minute": format_minute,
        "number": "{:,}".format,
        "percent": statistics.format_percent,
        "pluralize": pluralize,
    }
    between = statistics.format_date_range(made.first, made.last)
    return environment.get_template(template).render(made=made, between=between, **values)
