"""What the service is started with."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from holdfast.paths import SYNC_INTERVAL_SECONDS
from holdfast.records import NamedTuple
from holdfast.server.peer_credentials import Address, uid_of_peer


def format_utc_now() -> str:
    return _format_time(datetime.now(UTC))


def add_seconds(now: str, seconds: int) -> str:
    """So long after a time that `format_utc_now` gave."""
    return _format_time(datetime.fromisoformat(now) + timedelta(seconds=seconds))


def count_milliseconds(began: str, ended: str) -> int | None:
    """None where a time is missing or invalid: hooks keep what the client wrote."""
    try:
        apart = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
    except (ValueError, TypeError):
        return None
    return max(0, int(apart.total_seconds() * 1000))


def _format_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def records_path(database: str) -> str:
    """Where a SQLite database's own tokens, messages and audit log are: beside it, by its name,
    so that no other database has them."""
    path = os.path.realpath(database)
    return f"{path.removesuffix('.db')}.team.db" if path.endswith(".db") else f"{path}.team"


class ServerSettings(NamedTuple):
    database: str = ""  # a PostgreSQL URL, else the path of a SQLite file
    # The same database past a transaction pooler, where `database` leads to one.
    direct: str = ""
    data: str = ""  # Holdfast's data folder: the roles
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
    # How often a machine at work is asked to sync; the end of a turn comes at once.
    sync_seconds: float = SYNC_INTERVAL_SECONDS
    # Whether this machine's own user needs no token on loopback.
    allow_owner: bool = True
    # With which `holdfast open` lets its own page in; empty where nothing is let in by it.
    open_key: bytes = b""
    # For so long a token that was good, or a folder's project, is not looked up again.
    cache_seconds: float = 1.0
    max_stream_seconds: float = 3600.0
    now: Callable[[], str] = format_utc_now
    peer_uid: Callable[[Address, Address], int | None] = uid_of_peer
