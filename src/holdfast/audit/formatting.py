"""The words and numbers of a report, the same in the terminal and on the page.

Must not know how either of them draws.
"""

from __future__ import annotations

from holdfast.measure.scoring import Estimate
from holdfast.state.facts import LABELS

NEED_LABELS = {
    "path": "Files",
    "identifier": "Names in the code",
    "command": "Commands",
    "task": "Tasks",
    "hash": "Commits",
    "url": "Links",
    "ticket": "Tickets",
    "port": "Ports",
    "number": "Numbers",
}
FACT_LABELS = {kind: LABELS[kind].many for kind in LABELS} | {
    "said": "What you said",
    "rule": "Standing rules",
    "dead_end": "Commands that fail here",
    "refused": "Calls you turned down",
    "error": "Open errors",
    "test": "Failing tests",
    "task": "Tasks",
    "file": "Edited files",
}
CONSEQUENCE_LABELS = {
    "said_again": "You had to say it again",
    "retried": "A failing command was run again",
    "redone": "A finished task was done again",
    "reminded": "You had to remind the agent",
}
EXAMPLE_LABELS = CONSEQUENCE_LABELS | {
    "rule": "A rule you gave",
    "said": "You had said",
    "error": "An open error",
    "test": "A failing test",
    "dead_end": "A command that fails here",
    "decision": "A decision you made",
}


def format_percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}".replace("%", " %")


def format_interval(value: Estimate) -> str:
    return f"{value.low * 100:.0f} to {value.high * 100:.0f} %"


def format_certainty(value: Estimate) -> str:
    """How sure a share is, in words; one compaction has no interval."""
    return f"95 %: {format_interval(value)}, n = {value.n}" if value.n > 1 else f"n = {value.n}"


def format_amount(count: int) -> str:
    """A number at a glance: 7.6 M, 406 k, 950."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} M"
    if count >= 10_000:
        return f"{count / 1000:.0f} k"
    return f"{count:,}"


def format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def safe_ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def pluralize(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def format_date_range(first: str, last: str) -> str:
    if not first:
        return "at unknown times"
    return (
        f"on {format_day(first)}"
        if format_day(first) == format_day(last)
        else f"{format_day(first)} to {format_day(last)}"
    )


def format_day(time: str) -> str:
    return time[:10]
