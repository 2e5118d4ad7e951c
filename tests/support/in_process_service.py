"""The service in the test's own process, over ASGI, for callers that the test names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from holdfast.server.app import build_app
from holdfast.server.middleware import Middleware
from holdfast.server.records import tokens
from holdfast.server.server_settings import ServerSettings


class Service:
    """`owner` is the user of this machine on loopback; `caller` has a token."""

    def __init__(self, settings: ServerSettings) -> None:
        self.app = build_app(settings)
        self.app_state = self.app.state.app_state
        self.asgi = Middleware(self.app, self.app.state.app_state)
        self._clients: list[TestClient] = []
        self.owner = self.client()

    def client(self, token: str = "", **headers: str) -> TestClient:
        if token:
            headers["Authorization"] = f"Bearer {token}"
        made = TestClient(
            self.asgi,
            base_url="http://127.0.0.1:3847",
            client=("127.0.0.1", 50_000),
            headers=headers,
            raise_server_exceptions=True,
        )
        self._clients.append(made)
        return made

    def token(self, *projects: str, scopes: tuple[str, ...] = ("read", "write")) -> str:
        with self.app_state.backend.records.transaction(None) as transaction:
            return tokens.create_token(
                transaction,
                name="test",
                scopes=scopes,
                projects=projects or None,
                now="2026-01-01T00:00:00Z",
            )[1]

    def caller(self, *projects: str, scopes: tuple[str, ...] = ("read", "write")) -> TestClient:
        return self.client(self.token(*projects, scopes=scopes))


@contextmanager
def running(database: str, data: str, **changes: Any) -> Iterator[Service]:
    settings = ServerSettings(
        database=database,
        data=data,
        rate=10_000.0,
        burst=10_000,
        max_stream_seconds=0.05,
        cache_seconds=0.0,
        peer_uid=lambda _peer, _own: os.getuid(),
    )._replace(**changes)
    service = Service(settings)
    try:
        yield service
    finally:
        for client in service._clients:
            client.close()
        service.app_state.backend.close()
