"""The words and numbers of a report, the same in the terminal and on the page.

Must not know how either of them draws.
"""

from __future__ import annotations

from holdfast.survival.bootstrap import Estimate

NEED = {
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
FACTS = {
    "said": "What you said",
    "rule": "Rules you gave",
    "request": "Your last request",
    "decision": "Your decisions",
    "dead_end": "Dead ends",
    "error": "Open errors",
    "test": "Failing tests",
    "task": "Open tasks",
    "subagent": "Running subagents",
    "file": "Edited files",
    "identifier": "Exact values",
}
HAPPENED = {
    "said_again": "You had to say it again",
    "retried": "A dead end was tried again",
    "redone": "A finished task was done again",
    "reminded": "You had to remind the agent",
}
EXAMPLES = HAPPENED | {
    "rule": "A rule you gave",
    "error": "An open error",
    "test": "A failing test",
    "dead_end": "A dead end",
    "refused": "Something you had turned down",
    "decision": "A decision of yours",
    "request": "Your request",
}


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}".replace("%", " %")


def interval(value: Estimate) -> str:
    return f"{value.low * 100:.0f} to {value.high * 100:.0f} %"


def certainty(value: Estimate) -> str:
    """How sure a share is, in words; one compaction has no interval."""
    return f"95 %: {interval(value)}, n = {value.n}" if value.n > 1 else f"n = {value.n}"


def amount(count: int) -> str:
    """A number at a glance: 7.6 M, 406 k, 950."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} M"
    if count >= 10_000:
        return f"{count / 1000:.0f} k"
    return f"{count:,}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def share_of(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def between(first: str, last: str) -> str:
    if not first:
        return "at unknown times"
    return f"on {day(first)}" if day(first) == day(last) else f"{day(first)} to {day(last)}"


def day(time: str) -> str:
    return time[:10]


def minute(time: str) -> str:
    return time[:16].replace("T", " ")
