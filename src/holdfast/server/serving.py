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

from holdfast.server import log
from holdfast.server.app import guarded
from holdfast.server.connections import limited, with_open_files
from holdfast.server.visit import Hall

PATIENCE_SECONDS = 5
BACKLOG = 2048


def taken(host: str, port: int) -> list[socket.socket]:
    """Sockets at every address of a host, all with one port. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    with contextlib.ExitStack() as undone:
        for family, _, _, _, address in dict.fromkeys(found):
            # The first finds a port where none was named, and the others join it.
            wanted = port_of(sockets) if sockets else port
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


def port_of(sockets: Sequence[socket.socket]) -> int:
    port: int = sockets[0].getsockname()[1]
    return port


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, hall: Hall) -> None:
        super().__init__(config)
        self._hall = hall

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hall.bus.let_go()
        await super().shutdown(sockets)


def run(app: FastAPI, sockets: list[socket.socket]) -> bool:
    """Until Ctrl-C or SIGTERM; whether it could start."""
    config = uvicorn.Config(
        guarded(app),
        http=limited(with_open_files(app.state.hall.settings)),
        log_level="warning",
        # Whoever is in front of us cannot speak for someone else.
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=PATIENCE_SECONDS,
    )
    log.to_stderr()
    server = _Server(config, app.state.hall)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets)
    return server.started
