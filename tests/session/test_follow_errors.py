"""A mistake of ours costs one event or one row, and is told; the session goes on."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast import clients
from holdfast import events as ev
from holdfast.audit.session_audit import audit_session
from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.fastpath.hook_json import HookPayload
from holdfast.hooks import full
from holdfast.session.follow import follow_transcript
from holdfast.session.ingest import ingest_transcript
from holdfast.state import fold_all, runs
from holdfast.state.shell import effective_commands, read_statuses
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE

STORY: list[ev.Event] = []
follow_transcript(SESSION_FILE, on_event=STORY.append, final=True)
RUN = [event.command for event in STORY if isinstance(event, ev.CommandRan)]
(ONCE, *_) = [command for command in RUN if RUN.count(command) == 1 and effective_commands(command)]


@pytest.fixture
def stumbling(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The command lines that our reading of commands stumbles over."""
    lines: set[str] = set()

    def read(line: str, ok: bool, output: str) -> list[bool | None]:
        if line in lines:
            raise IndexError("no such word")
        return read_statuses(line, ok, output)

    runs._read_line.cache_clear()
    monkeypatch.setattr(runs, "read_statuses", read)
    runs._read_line.cache_clear()  # the story was read above
    return lines


@pytest.mark.parametrize("number", [0, len(RUN) // 2, -1])
def test_one_event_is_passed_over_and_nothing_else(stumbling: set[str], number: int) -> None:
    stumbling.add(RUN[number])
    told: list[Exception] = []
    followed = follow_transcript(SESSION_FILE, on_error=told.append, final=True)
    rest = [
        event
        for event in STORY
        if not (isinstance(event, ev.CommandRan) and event.command in stumbling)
    ]
    assert followed.state == fold_all(rest)
    assert [str(error) for error in told] == ["no such word"] * (len(STORY) - len(rest))
    assert (
        followed.cursor == follow_transcript(SESSION_FILE, on_error=told.append, final=True).cursor
    )


def test_with_nobody_to_tell_it_is_an_error(stumbling: set[str]) -> None:
    stumbling.add(ONCE)
    with pytest.raises(IndexError):
        follow_transcript(SESSION_FILE, final=True)


def test_a_row_that_the_adapter_stumbles_over_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = follow_transcript(SESSION_FILE, final=True)
    read = ClaudeCodeAdapter._read_assistant
    spoken = [event for event in STORY if isinstance(event, ev.AgentSaid)]

    def assistant(
        self: ClaudeCodeAdapter, data: dict[str, Any], at: ev.Origin, out: list[ev.Event]
    ) -> None:
        if at.row == spoken[1].at.row:
            raise TypeError("a list where a text was")
        read(self, data, at, out)

    monkeypatch.setattr(ClaudeCodeAdapter, "_read_assistant", assistant)
    told: list[Exception] = []
    heard: list[ev.Event] = []
    followed = follow_transcript(
        SESSION_FILE, on_event=heard.append, on_error=told.append, final=True
    )
    assert [str(error) for error in told] == ["a list where a text was"]
    said = [event.text for event in heard if isinstance(event, ev.AgentSaid)]
    assert said == [event.text for event in spoken if event.at.row != spoken[1].at.row]
    assert followed.cursor == whole.cursor


def test_a_hook_goes_on_and_doctor_can_tell_where(stumbling: set[str], tmp_path: Path) -> None:
    stumbling.add(ONCE)
    fields = {"session_id": "s1", "transcript_path": SESSION_FILE, "cwd": str(tmp_path)}
    data = str(tmp_path / "data")
    payload = HookPayload("PreCompact", {**fields, "trigger": "auto"})
    payload.client = clients.hook_client("")
    answer = full.handle_full(payload, data, 0)
    assert answer.text
    (line,) = (tmp_path / "data" / "holdfast.log").read_text().splitlines()
    assert "IndexError: no such word" in line
    assert "runs.py" in line
    assert answer.background is not None
    answer.background()  # what was read is saved once the hook has returned
    full.handle_full(payload, data, 0)
    assert len((tmp_path / "data" / "holdfast.log").read_text().splitlines()) == 1


def test_ingest_counts_it(stumbling: set[str], tmp_path: Path) -> None:
    stumbling.add(ONCE)
    with closing(SqliteStore(str(tmp_path / "holdfast.db"))) as store:
        done = ingest_transcript(store, SESSION_FILE)
    assert (done.bad, done.saved) == (1, True)


def test_an_audit_passes_over_it_too(stumbling: set[str]) -> None:
    stumbling.add(ONCE)
    session = audit_session("sample", [SESSION_FILE])
    assert session.error == ""
    assert len(session.compactions) == 1
