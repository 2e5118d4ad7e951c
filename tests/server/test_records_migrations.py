"""The tables of the service's records in SQLite: later steps run once, newer files are refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.server.records import SqliteRecords, transactions
from holdfast.server.records.transactions import MIGRATIONS
from holdfast.store.protocol import StoreTooNew


def test_a_later_step_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "team.db")
    SqliteRecords(path)
    step = ("one more", ("CREATE TABLE later (a)",))
    monkeypatch.setattr(transactions, "MIGRATIONS", [*MIGRATIONS, step])
    for _ in range(2):
        SqliteRecords(path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM migrations ORDER BY position").fetchall()
    assert [name for (name,) in rows] == [name for name, _ in (*MIGRATIONS, step)]


def test_a_newer_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "team.db")
    with monkeypatch.context() as newer:
        newer.setattr(transactions, "MIGRATIONS", [*MIGRATIONS, ("from the future", ())])
        SqliteRecords(path)
    with pytest.raises(StoreTooNew, match="newer Holdfast"):
        SqliteRecords(path)
