"""How a moment is written, and that nothing else writes one."""

import re
from pathlib import Path

import holdfast
from holdfast.clock import (
    DAY_SECONDS,
    format_age,
    format_days_ago,
    format_minute,
    format_minute_utc,
    format_timestamp,
    read_clock,
)

SOURCE = Path(holdfast.__file__).parent


def test_a_moment_is_written_in_utc_to_the_second() -> None:
    assert format_timestamp(0) == "1970-01-01T00:00:00Z"
    assert format_timestamp(1_800_000_000.9) == "2027-01-15T08:00:00Z"


def test_the_clock_is_read_once() -> None:
    now = read_clock()
    assert now.text == format_timestamp(now.seconds)


def test_days_ago_sort_before_now() -> None:
    now = read_clock()
    assert format_days_ago(2) <= format_timestamp(now.seconds - DAY_SECONDS) < now.text


def test_an_age_is_said_in_its_largest_unit() -> None:
    assert [format_age(seconds) for seconds in (-5, 1, 59.9, 60, 7_300, 86_400 * 2_000)] == [
        "0 seconds",
        "1 second",
        "59 seconds",
        "1 minute",
        "2 hours",
        "2,000 days",
    ]


def test_a_written_time_is_shown_to_the_minute() -> None:
    assert format_minute("2026-11-15T10:22:33.123Z") == "2026-11-15 10:22"
    assert format_minute_utc("2026-11-15T10:22:33Z") == "2026-11-15 10:22 UTC"
    assert format_minute_utc("") == "an unknown time"
    assert format_minute_utc("", "before it") == "before it"


def test_nobody_else_writes_that_form() -> None:
    others = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"%Y-%m-%dT", path.read_text("utf-8"))
    ]
    # The launcher's log line is written by a shell, which has its own clock.
    assert sorted(others) == ["clock.py", "install/launcher.py"]
