"""Runs the service until it is told to end: sockets, signals, open streams.

A port is taken before anything is said about it, and whoever listens to live events is let go
at once when the service ends: they would hold it up for as long as it is patient.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence

import uvicorn
from fastapi import FastAPI

from holdfast.server import error_log
from holdfast.server.app import wrap_middleware
from holdfast.server.connection_limits import build_limited_protocol, cap_to_open_files
from holdfast.server.request_context import AppState

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
    error_log.configure_logging()
    server = _Server(config, app.state.app_state)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets)
    return server.started
