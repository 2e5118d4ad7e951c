"""How a moment is written, UTC and to the second, and how an age is said. The one owner of both.

A hook's fast path imports it, so it may import `time` and records alone. The service writes its
own times, to the millisecond: `server.server_settings`.
"""

from __future__ import annotations

import time

from holdfast.records import NamedTuple

DAY_SECONDS = 86_400


class Timestamp(NamedTuple):
    """The clock, read once per event by the surface: as written, and in seconds."""

    text: str
    seconds: float


def read_clock() -> Timestamp:
    seconds = time.time()
    return Timestamp(format_timestamp(seconds), seconds)


def format_timestamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def parse_timestamp(text: str) -> int:
    """The seconds of a written moment."""
    import calendar

    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def format_now() -> str:
    return format_timestamp(time.time())


def format_days_ago(days: int) -> str:
    return format_timestamp(time.time() - days * DAY_SECONDS)


def split_age(seconds: float) -> tuple[int, str]:
    """In the largest unit that it fills: (2, "hour"). A future time has age 0."""
    for size, unit in ((DAY_SECONDS, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return int(seconds // size), unit
    return max(0, int(seconds)), "second"


def format_age(seconds: float) -> str:
    """`1 day`, `2 hours`: `ago` or `old` is the caller's."""
    count, unit = split_age(seconds)
    return f"{count:,} {unit}" + ("" if count == 1 else "s")


def format_minute(time: str) -> str:
    """A written time for people, to the minute: 2026-11-15 10:22."""
    return time[:16].replace("T", " ")


def format_minute_utc(time: str, unknown: str = "an unknown time") -> str:
    """Within a sentence: 2026-11-15 10:22 UTC."""
    return f"{format_minute(time)} UTC" if len(time) >= 16 else unknown
