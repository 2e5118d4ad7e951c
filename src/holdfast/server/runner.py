"""Runs the service until it is asked to end: sockets, connections, signals, open streams.

A port is taken before anything is said about it, and listeners to live events are let go
at once when the service ends: they would hold it up for as long as it is patient.

uvicorn waits forever for a connection that sends no request, or half of one, and takes as many as
there are. Here one that has not sent a whole request in time is closed, and so is one too many of
the same address (on loopback: of the same user): the oldest that does nothing, else the new one.
Some are kept for the user who runs the service, whatever all others do.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_local_addr, get_remote_addr

from holdfast.server import problems
from holdfast.server.api_request import AppState
from holdfast.server.auth import local_user_key, rate_limit_key
from holdfast.server.middleware import Middleware
from holdfast.server.peer_credentials import Address
from holdfast.server.server_settings import ServerSettings
from holdfast.system import own_user_id

SHUTDOWN_SECONDS = 5
BACKLOG = 2048
# Open files besides the connections: databases, logs, modules.
RESERVED_FILES = 128
OWNERS_SHARE = 16  # one in so many connections is reserved for the owner


def open_sockets(host: str, port: int) -> list[socket.socket]:
    """Sockets at every address of a host, all with one port. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    with contextlib.ExitStack() as undone:
        for family, _, _, _, address in dict.fromkeys(found):
            # The first finds a port where none was named, and the others join it.
            wanted = get_port(sockets) if sockets else port
            place = (address[0], wanted, *address[2:])
            made = socket.create_server(place, family=family, backlog=BACKLOG)
            undone.callback(made.close)
            # Inherited by every connection. asyncio sets it only on sockets that name their
            # protocol, which those of `create_server` do not; without it a kept-alive connection
            # waits 40 ms for each small answer.
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sockets.append(made)
        undone.pop_all()
    return sockets


def get_port(sockets: Sequence[socket.socket]) -> int:
    port: int = sockets[0].getsockname()[1]
    return port


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, app_state: AppState) -> None:
        super().__init__(config)
        self._app_state = app_state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app_state.event_bus.close_subscriptions()
        await super().shutdown(sockets)


def run_server(app: FastAPI, sockets: list[socket.socket]) -> bool:
    """Until Ctrl-C or SIGTERM; whether it could start."""
    app_state: AppState = app.state.app_state
    limits = ConnectionLimits(cap_to_open_files(app_state.settings))
    protocol: Any = limits.make_protocol  # a function that makes one is as good as a class
    config = uvicorn.Config(
        Middleware(app, app_state),
        http=protocol,
        log_level="warning",
        # A proxy in front of us cannot speak for someone else.
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    problems.configure_logging()
    server = _Server(config, app_state)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets)
    return server.started


_TOO_MANY_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 22\r\n\r\nToo many connections.\n"
)


class ConnectionLimits:
    """Of one server, which counts its own connections."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        # By client, the oldest first.
        self._open: dict[str, dict[_Connection, None]] = {}
        self._owner = local_user_key(own_user_id())
        self._for_others = settings.connections - max(1, settings.connections // OWNERS_SHARE)

    def make_protocol(self, **options: Any) -> asyncio.Protocol:
        """For each connection one: what uvicorn is given as its protocol."""
        return _Connection(self, self._settings.request_timeout_seconds, options)

    def admit(self, connection: _Connection, transport: asyncio.Transport) -> str:
        """Whose the connection is; "" for one too many."""
        who = rate_limit_key(get_remote_addr(transport), _local_address(transport), self._settings)
        most = self._settings.connections if who == self._owner else self._for_others
        own = self._open.setdefault(who, {})
        full = len(own) >= self._settings.connections_per_client
        if full or sum(map(len, self._open.values())) >= most:
            # Room is made by the oldest of the client's own that does nothing.
            oldest = next((each for each in own if not each.is_working), None)
            if oldest is None:
                return ""
            oldest.abort()
        self._open.setdefault(who, {})[connection] = None
        return who

    def leave(self, connection: _Connection, who: str) -> None:
        own = self._open.get(who, {})
        own.pop(connection, None)
        if not own:
            self._open.pop(who, None)


class _Connection(H11Protocol):
    """One connection, as long as it may be open."""

    def __init__(self, limits: ConnectionLimits, patience: float, options: dict[str, Any]) -> None:
        super().__init__(**options)
        self._limits, self._patience = limits, patience
        self._who = ""  # empty for one that was turned away
        self._waiting: asyncio.TimerHandle | None = None

    @property
    def is_working(self) -> bool:
        """Whether the application answers a request of it."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._who = self._limits.admit(self, transport)
        if not self._who:
            transport.write(_TOO_MANY_RESPONSE)
            transport.close()
            return
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._who:
            self._limits.leave(self, self._who)
            self._wait_no_more()
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._who:
            super().data_received(data)
            if self.is_working:
                self._wait_no_more()
            else:
                self._wait()

    def abort(self) -> None:
        self._limits.leave(self, self._who)
        self.transport.abort()

    def _wait(self) -> None:
        """For a whole request; what has come of it meanwhile buys no time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(self._patience, self.abort)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def _local_address(transport: asyncio.Transport) -> Address | None:
    found = get_local_addr(transport)
    return (found[0], found[1]) if found and found[1] is not None else None


def cap_to_open_files(settings: ServerSettings) -> ServerSettings:
    """As many connections as this process may have files open; asks for more of them first."""
    try:
        import resource
    except ImportError:  # Windows
        return settings
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.connections + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        more: Any = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
            soft = more
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return settings
    most = max(16, soft - RESERVED_FILES)
    of_one = min(settings.connections_per_client, most // 2)
    return settings._replace(connections=most, connections_per_client=of_one)
