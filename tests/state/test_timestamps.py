"""Which words are times, and whether a real session's state has any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.session.ingest import ingest_transcript
from holdfast.state.timestamps import drop_invalid_timestamps, find_invalid_timestamp, is_timestamp
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE


@pytest.mark.parametrize(
    "words",
    [
        "2026-01-31T09:30:00Z",
        "2026-01-31T09:30:00.123Z",
        "2026-01-31T09:30:00.123456789+02:00",
        "2026-01-31T09:30-0800",
        "2026-01-31T09:30:00",
        "2024-02-29T00:00:00Z",
        "0000-02-29T23:59:60Z",
    ],
)
def test_what_a_client_may_write_is_a_time(words: str) -> None:
    assert is_timestamp(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "unknown",
        "2026-01-31",
        "1769852400",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n",
        "2026-01-01t00:00:00z",
        "٢٠٢٦-٠١-٠١T٠٠:٠٠:٠٠Z",
    ],
)
def test_what_only_looks_like_one_is_none(words: str) -> None:
    assert not is_timestamp(words)


def test_the_state_of_a_real_session_has_only_times_and_stays_as_it_is(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "holdfast.db"))
    name = ingest_transcript(store, SESSION_FILE).session_id
    saved = store.load(name)
    store.close()
    assert saved is not None
    before = json.dumps(saved.state)
    assert find_invalid_timestamp(saved.state) == ""
    assert json.dumps(drop_invalid_timestamps(saved.state)) == before


def test_a_document_that_is_not_ours_is_not_looked_into() -> None:
    for document in ({}, {"version": 1, "tasks": "whatever"}, {"tasks": [1]}):
        assert find_invalid_timestamp(document) == ""
        assert drop_invalid_timestamps(document) == document
