"""One PostgreSQL per test session; an empty database for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from .in_process_service import Service, running
from .postgres_server import OWNER, Server
from .sync_machine import Machine, through

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server()
    try:
        running.initialise()
        running.start()
        running.make_roles()
        running.made("shared")
        yield running
    finally:
        running.stop()


@pytest.fixture
def empty_url(server: Server) -> Iterator[str]:
    """A database without any tables, for the role that owns it."""
    name = f"empty{next(_numbers)}"
    server.admin(f"CREATE DATABASE {name} OWNER {OWNER}")
    yield server.url(name, OWNER)
    server.admin(f"DROP DATABASE {name} (FORCE)")


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    """A database with our tables and nothing in them: emptied after each test, because to
    make one takes 1.4 s and to empty it some milliseconds."""
    yield server.url("shared")
    with psycopg.connect(server.url("shared", "postgres"), autocommit=True) as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p')"
            " AND relnamespace = 'holdfast'::regnamespace AND NOT relispartition"
        ).fetchall()
        with connection.transaction():
            for (table,) in tables:
                connection.execute(f"DELETE FROM {table}".encode())


@pytest.fixture(params=["sqlite", "postgres"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """The whole service, on either engine."""
    if request.param == "sqlite":
        database = str(tmp_path / "store.db")
    else:
        database = request.getfixturevalue("url")
    with running(database, str(tmp_path)) as made:
        yield made


@pytest.fixture
def machine(service: Service, tmp_path: Path) -> Machine:
    return Machine(tmp_path / "local", through(service.owner))
