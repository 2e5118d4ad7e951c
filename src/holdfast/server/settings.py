"""What the service is told when it starts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.server.neighbour import uid_of_peer

Address = tuple[str, int]


def utc_now() -> str:
    return _written(datetime.now(UTC))


def after(now: str, seconds: int) -> str:
    """So long after a time that `utc_now` gave."""
    return _written(datetime.fromisoformat(now) + timedelta(seconds=seconds))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Settings(NamedTuple):
    database: str = ""  # a PostgreSQL URL, else the path of a SQLite file
    data: str = ""  # Holdfast's data folder: roles, and the service's own SQLite file
    body_bytes: int = 16 * 1024 * 1024
    # From a request's first byte of the body to its last; the carrier gives up after 30.
    body_seconds: float = 120.0
    # Connections at once, of all and of one address (on this machine: of one user), and how long
    # one may stay without a whole request.
    connections: int = 1000
    connections_of_one: int = 500
    header_seconds: float = 15.0
    # Streams of live events at once, of all and of one caller.
    streams: int = 300
    streams_of_one: int = 50
    # Per caller. An agent asks a few times a minute; a runaway one must not starve the rest.
    rate: float = 100.0
    burst: int = 300
    # Whether this machine's own user needs no token on loopback.
    open_to_owner: bool = True
    # For so long a token that was good, or a folder's project, is not looked up again.
    moment_seconds: float = 1.0
    events_seconds: float = 3600.0
    now: Callable[[], str] = utc_now
    peer_uid: Callable[[Address, Address], int | None] = uid_of_peer
