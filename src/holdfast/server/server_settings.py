"""What the service is told when it starts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.server.peer_credentials import uid_of_peer

Address = tuple[str, int]


def format_utc_now() -> str:
    return _format_time(datetime.now(UTC))


def add_seconds(now: str, seconds: int) -> str:
    """So long after a time that `format_utc_now` gave."""
    return _format_time(datetime.fromisoformat(now) + timedelta(seconds=seconds))


def _format_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ServerSettings(NamedTuple):
    database: str = ""  # a PostgreSQL URL, else the path of a SQLite file
    data: str = ""  # Holdfast's data folder: roles, and the service's own SQLite file
    body_bytes: int = 16 * 1024 * 1024
    # From a request's first byte of the body to its last; the sync worker gives up after 30.
    body_timeout_seconds: float = 120.0
    # Connections at once, of all and of one address (on this machine: of one user), and how long
    # one may stay without a whole request.
    connections: int = 1000
    connections_per_client: int = 500
    request_timeout_seconds: float = 15.0
    # Streams of live events at once, of all and of one caller.
    streams: int = 300
    streams_per_caller: int = 50
    # Per caller. An agent asks a few times a minute; a runaway one must not starve the rest.
    rate: float = 100.0
    burst: int = 300
    # Whether this machine's own user needs no token on loopback.
    allow_owner: bool = True
    # For so long a token that was good, or a folder's project, is not looked up again.
    cache_seconds: float = 1.0
    max_stream_seconds: float = 3600.0
    now: Callable[[], str] = format_utc_now
    peer_uid: Callable[[Address, Address], int | None] = uid_of_peer
