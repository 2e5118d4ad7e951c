"""Runs the service until it is told to end: sockets, signals, open streams.

A port is taken before anything is said about it, and whoever listens to live events is let go
at once when the service ends: they would hold it up for as long as it is patient.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter
from collections.abc import Sequence
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_local_addr, get_remote_addr

from holdfast.server import problems
from holdfast.server.app import wrap_middleware
from holdfast.server.auth import local_user_key, rate_limit_key
from holdfast.server.request_context import AppState
from holdfast.server.server_settings import Address, ServerSettings
from holdfast.system import own_user_id

SHUTDOWN_SECONDS = 5
BACKLOG = 2048


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
        self._hall = app_state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hall.event_bus.close_subscriptions()
        await super().shutdown(sockets)


def run_server(app: FastAPI, sockets: list[socket.socket]) -> bool:
    """Until Ctrl-C or SIGTERM; whether it could start."""
    config = uvicorn.Config(
        wrap_middleware(app),
        http=build_limited_protocol(cap_to_open_files(app.state.app_state.settings)),
        log_level="warning",
        # Whoever is in front of us cannot speak for someone else.
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    problems.configure_logging()
    server = _Server(config, app.state.app_state)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets)
    return server.started


# Limits on connections, below HTTP: how many at once, and how long one may say nothing.
#
# The server underneath waits for ever for a connection that sends no request, or half of one, and
# takes as many as there are. Here one that has not sent a whole request in time is closed, and so
# is one too many of the same address (on loopback: of the same user). Some are kept for who runs
# the service, whatever all others do. Must not know any route.

# Files that are none of the connections: databases, logs, modules.
RESERVED_FILES = 128
OWNERS_SHARE = 16  # one of so many connections is for nobody else

_TOO_MANY_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 22\r\n\r\nToo many connections.\n"
)


def build_limited_protocol(settings: ServerSettings) -> type[H11Protocol]:
    """The protocol of one server, which counts its own connections."""
    open_now: Counter[str] = Counter()
    owner = local_user_key(own_user_id())
    for_others = settings.connections - max(1, settings.connections // OWNERS_SHARE)

    class Limited(H11Protocol):
        _who = ""  # empty for one that was turned away
        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            who = rate_limit_key(get_remote_addr(transport), _local_address(transport), settings)
            most = settings.connections if who == owner else for_others
            if open_now.total() >= most or open_now[who] >= settings.connections_per_client:
                transport.write(_TOO_MANY_RESPONSE)
                transport.close()
                return
            self._who = who
            open_now[who] += 1
            super().connection_made(transport)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            if not self._who:
                return
            open_now[self._who] -= 1
            if open_now[self._who] <= 0:
                del open_now[self._who]
            self._wait_no_more()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if not self._who:
                return
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._wait_no_more()
            else:
                self._wait()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.cycle is not None and not self.cycle.response_complete:
                self._wait_no_more()  # the next request had come already

        def _wait(self) -> None:
            """For a whole request; what has come of it meanwhile buys no time."""
            if self._waiting is None:
                self._waiting = self.loop.call_later(
                    settings.request_timeout_seconds, self._give_up
                )

        def _wait_no_more(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _give_up(self) -> None:
            self._waiting = None
            if self.cycle is None or self.cycle.response_complete:
                self.transport.abort()

    return Limited


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
