"""Times as clients write them: ISO 8601 text, and the seconds between two of them.

Must not read the clock.
"""

from __future__ import annotations

from datetime import UTC, datetime


def parse_time(text: str) -> datetime | None:
    """A time, or None where the text is none; without a zone it is taken for UTC."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def seconds_between(earlier: str, later: str) -> float | None:
    first, last = parse_time(earlier), parse_time(later)
    return (last - first).total_seconds() if first is not None and last is not None else None
