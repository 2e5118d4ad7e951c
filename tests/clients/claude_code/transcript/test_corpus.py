"""Every session of the corpus: real rows of clients 2.0.76 to 2.1.39."""

import csv
import gzip
import json
import os
from pathlib import Path

import pytest

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.events import Compacted, Event, Rewound, SummaryGiven, UserSaid
from holdfast.transcript.reader import Cursor, Row, TranscriptReader

from .handwritten_rows import only

CORPUS = Path(os.environ.get("HOLDFAST_CORPUS", "/nonexistent"))
INDEX = CORPUS / "index.tsv"
CLIENTS_WORDS = ("This session is being continued", "Caveat:", "[Request interrupted", "<")


def sessions() -> list[dict[str, str]]:
    if not INDEX.exists():
        return [{"file": "no corpus"}]  # deselected, see conftest.py
    with INDEX.open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.corpus
@pytest.mark.parametrize("session", sessions(), ids=lambda session: session["file"][:8])
class TestEverySession:
    def test_rows_and_compactions_are_those_of_the_index(self, session: dict[str, str]) -> None:
        rows, cursor = _rows(session)
        with gzip.open(CORPUS / f"{session['file']}.gz") as file:
            content = file.read()
        # The index counts newlines, and most of these files end without one.
        unended = 0 if content.endswith(b"\n") else 1
        assert len(rows) == int(session["lines"]) + unended - int(session["invalid_lines"])
        assert cursor.bad == int(session["invalid_lines"])
        assert cursor.position == len(content) == int(session["bytes"])
        events = _events(rows)
        assert len(only(Compacted, events)) == int(session["compactions"])
        assert len(only(SummaryGiven, events)) == int(session["compactions"])
        automatic = [event for event in only(Compacted, events) if event.trigger == "auto"]
        assert len(automatic) == int(session["auto"])

    def test_no_row_is_unknown_and_nobody_went_back(self, session: dict[str, str]) -> None:
        rows, _ = _rows(session)
        adapter = ClaudeCodeAdapter()
        events = [event for row in rows for event in adapter.events(row)]
        assert adapter.unknown_rows == 0
        assert only(Rewound, events) == []

    def test_the_users_words_are_not_the_clients(self, session: dict[str, str]) -> None:
        rows, _ = _rows(session)
        said = only(UserSaid, _events(rows))
        assert said
        assert not [event.text for event in said if event.text.startswith(CLIENTS_WORDS)]
        assert all(event.text.strip() == event.text for event in said if event.source == "prompt")

    def test_pieces_give_what_the_whole_gives(self, session: dict[str, str]) -> None:
        rows, _ = _rows(session)
        whole = _events(rows)
        path = CORPUS / f"{session['file']}.gz"
        found: list[Event] = []
        parser_state: object = None
        cursor: object = None
        reset = ""
        largest = 0
        while True:
            adapter = ClaudeCodeAdapter(parser_state)
            known = Cursor.from_json(cursor)
            with TranscriptReader(path, known, limit_bytes=150_000, final=True) as reader:
                before = reader.cursor.position
                found += [event for row in reader.rows() for event in adapter.events(row)]
                reset = reset or reader.reset
            saved = json.dumps([adapter.parser_state(), reader.cursor.to_json()])
            largest = max(largest, len(saved))
            parser_state, cursor = json.loads(saved)
            if reader.cursor.position == before:
                break
        assert found == whole
        assert reset == ""
        assert largest < 200_000


def _rows(session: dict[str, str]) -> tuple[list[Row], Cursor]:
    with TranscriptReader(CORPUS / f"{session['file']}.gz", final=True) as reader:
        return list(reader.rows()), reader.cursor


def _events(rows: list[Row]) -> list[Event]:
    adapter = ClaudeCodeAdapter()
    return [event for row in rows for event in adapter.events(row)]
