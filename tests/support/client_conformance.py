"""The numbered promises of `holdfast.clients.client_protocol.Client`, for any client.

A client's test module inherits `ClientConformance` and gives the fixtures `client` and
`session`: a `SessionWriter`, which writes a new session the way that client does. Everything
else is asked of the protocol. Must not know any client's format.

    C01-C07   reading: order, pieces, positions, cursors, limits, paths
    C08-C09   rewinds
    C10-C13   compactions, with and without a readable summary
    C14-C16   whose words
    C17-C18   usage and window
    C19-C21   rows and texts that nobody expects
    C22-C24   hooks and installing
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import (
    Client,
    RunningModel,
    SourceCursor,
    WindowConfig,
    percent_left,
)
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    Rewound,
    SessionSeen,
    SummaryGiven,
    UsageMeasured,
    UserSaid,
)
from holdfast.install import installer_for
from holdfast.install import launcher as hook_launcher
from holdfast.records import NamedTuple
from holdfast.session.follow import follow_transcript
from holdfast.transcript.reader import Row, TranscriptMissing, parse_line

E = TypeVar("E")
SUMMARY = "The parser is done; the port stays 8137. Next: the cache."
STRANGE_ROWS: tuple[dict[str, Any], ...] = (
    {},
    {"type": None},
    {"type": ["user"]},
    {"type": "user", "message": "x" * 10},
    {"type": "assistant", "message": {"content": [None, 1, {"type": "text", "text": 5}]}},
    {"type": "never heard of", "payload": {"type": {}}},
    {"payload": [], "timestamp": 5, "uuid": {}},
)


class SessionWriter(Protocol):
    """Writes a session as the client does, a step at a time, each at once on the disk."""

    @property
    def path(self) -> str:
        """Where the session is now."""

    def prompt(self, text: str) -> None:
        """The user types this."""

    def insert(self) -> None:
        """The client speaks in the user's place: a reminder, a note on background work."""

    def place(self, text: str) -> None:
        """A hook's or a plugin's text, where the client keeps it among the user's messages."""

    def answer(self, text: str, *, context: int = 0) -> None:
        """The agent says this, with so many tokens in context."""

    def run(self, command: str, output: str) -> None:
        """The agent runs a command, and it succeeds."""

    def rewind(self, text: str) -> None:
        """The user goes back to before the last prompt and types this instead."""

    def compact(self, summary: str | None) -> None:
        """A compaction; None where the client keeps the summary unreadable, or keeps none."""

    def repeat(self) -> None:
        """The last step stands there a second time, as after a restart or in a snapshot."""

    def move(self) -> None:
        """The session goes on elsewhere, under another path."""


class Heard(NamedTuple):
    events: list[Event]
    cursor: SourceCursor
    parser_state: dict[str, Any]
    reset: str


def hear(client: Client, path: str, before: Heard | None = None, **options: Any) -> Heard:
    """One pass, with everything that is saved between two passes sent through JSON."""
    cursor, saved = None, None
    if before is not None:
        cursor = client.load_cursor(json.loads(json.dumps(before.cursor.to_json())))
        saved = json.loads(json.dumps(before.parser_state))
    adapter = client.adapter(saved)
    with client.open_transcript(path, cursor, **options) as source:
        events = [event for row in source.rows() for event in adapter.events(row)]
        return Heard(events, source.cursor, adapter.parser_state(), source.reset)


def only(kind: type[E], events: list[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def typed(events: list[Event]) -> list[str]:
    return [event.text for event in only(UserSaid, events)]


def list_texts(value: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for one in value for text in list_texts(one)]
    return [value] if isinstance(value, str) else []


def write_steps(session: SessionWriter) -> Iterator[None]:
    """An ordinary session with everything in it; stops after each step."""
    session.prompt("Build the parser; port 8137 must stay.")
    yield
    session.answer("I begin with the tests.", context=12_000)
    yield
    session.run("make test", "3 passed")
    yield
    session.insert()
    yield
    session.answer("Done.", context=14_000)
    yield
    session.prompt("Now the cash.")
    yield
    session.rewind("Now the cache.")
    yield
    session.answer("A cache of 64 entries.", context=15_000)
    yield
    session.compact(SUMMARY)
    yield
    session.prompt("Go on.")
    yield
    session.compact(None)
    yield
    session.answer("Going on.", context=3_000)
    yield


class ClientConformance:
    def test_c01_events_come_in_the_order_in_which_they_happened(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        session.answer("two")
        session.run("echo three", "three")
        session.prompt("four")
        told = hear(client, session.path).events
        kinds = [type(e) for e in told if isinstance(e, UserSaid | AgentSaid | CommandRan)]
        assert kinds == [UserSaid, AgentSaid, CommandRan, UserSaid]
        assert typed(told) == ["one", "four"]

    def test_c02_events_read_in_pieces_are_those_read_at_once(
        self, client: Client, session: SessionWriter
    ) -> None:
        heard: Heard | None = None
        pieces: list[Event] = []
        for _ in write_steps(session):
            heard = hear(client, session.path, heard)
            assert heard.reset == ""
            pieces += heard.events
        assert pieces == hear(client, session.path).events

    def test_c03_positions_grow_and_every_event_has_one(
        self, client: Client, session: SessionWriter
    ) -> None:
        for _ in write_steps(session):
            pass
        with client.open_transcript(session.path) as source:
            rows = list(source.rows())
            end = source.cursor.position
        assert all(row.start < row.end for row in rows)
        assert all(one.end <= two.start for one, two in pairwise(rows))
        assert rows[-1].end <= end
        starts = {row.start for row in rows}
        assert {event.at.start for event in hear(client, session.path).events} <= starts

    def test_c04_a_cursor_at_the_end_reads_nothing_and_a_damaged_one_everything(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        whole = hear(client, session.path)
        assert hear(client, session.path, whole).events == []
        damaged_cursors: tuple[object, ...] = (None, "x", [], {"position": 5}, [-1] * 8)
        for damaged in damaged_cursors:
            assert client.load_cursor(damaged).position == 0

    def test_c05_a_limit_ends_the_pass_and_the_next_goes_on(
        self, client: Client, session: SessionWriter
    ) -> None:
        for _ in write_steps(session):
            pass
        whole = hear(client, session.path)
        heard: Heard | None = None
        pieces: list[Event] = []
        while heard is None or heard.cursor.position < whole.cursor.position:
            heard = hear(client, session.path, heard, limit=1)
            pieces += heard.events
        assert pieces == whole.events

    def test_c06_a_session_that_changes_its_path_goes_on(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        session.answer("two")
        before = hear(client, session.path)
        session.move()
        session.prompt("three")
        after = hear(client, session.path, before)
        assert (after.reset, typed(after.events)) == ("", ["three"])

    def test_c07_a_session_that_is_not_there_is_said_to_be_missing(
        self, client: Client, tmp_path: Path
    ) -> None:
        with pytest.raises(TranscriptMissing):
            client.open_transcript(str(tmp_path / "none.jsonl"))

    def test_c08_a_rewind_names_the_rows_that_no_longer_count(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("first")
        session.answer("One.")
        session.prompt("second")
        session.answer("Two.")
        session.rewind("second, said better")
        events = hear(client, session.path).events
        (rewound,) = only(Rewound, events)
        first, second, better = only(UserSaid, events)
        assert first.at.start < rewound.start <= second.at.start < rewound.at.start
        assert better.text == "second, said better"

    def test_c09_what_was_rewound_is_not_in_the_state(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("Build the parser.")
        session.answer("One.")
        session.prompt("Delete everything.")
        session.answer("Two.")
        session.rewind("Keep everything.")
        followed = follow_transcript(session.path, client=client)
        asked = [request.text for request in followed.state.requests.values()]
        assert asked == ["Build the parser.", "Keep everything."]

    def test_c10_a_readable_summary_follows_its_compaction(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        session.answer("two")
        session.compact(SUMMARY)
        events = hear(client, session.path).events
        told = [e for e in events if isinstance(e, Compacted | SummaryGiven)]
        assert [type(e) for e in told] == [Compacted, SummaryGiven]
        assert only(SummaryGiven, events)[0].text == SUMMARY
        assert typed(events) == ["one"]

    def test_c11_a_compaction_without_a_readable_summary_is_one_too(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        session.answer("two")
        session.compact(None)
        session.prompt("three")
        events = hear(client, session.path).events
        assert len(only(Compacted, events)) == 1
        assert only(SummaryGiven, events) == []
        assert typed(events) == ["one", "three"]

    def test_c12_the_probe_finds_the_compactions_that_the_adapter_tells(
        self, client: Client, session: SessionWriter
    ) -> None:
        for _ in write_steps(session):
            pass
        probe = client.row_probe

        def if_marked(line: bytes) -> Any:
            return parse_line(line) if probe.BOUNDARY_MARK in line else {}

        with client.open_transcript(session.path, loads=if_marked) as source:
            found = [row for row in source.rows() if row.data and probe.is_boundary(row.data)]
        told = only(Compacted, hear(client, session.path).events)
        assert [row.start for row in found] == [event.at.start for event in told]
        assert [probe.row_id(row.data) for row in found] == [event.at.row for event in told]

    def test_c13_a_compaction_ends_an_epoch_of_the_state(
        self, client: Client, session: SessionWriter
    ) -> None:
        for _ in write_steps(session):
            pass
        assert follow_transcript(session.path, client=client).state.position.epoch == 2

    def test_c14_what_the_client_puts_in_is_not_the_users(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        session.insert()
        assert typed(hear(client, session.path).events) == ["one"]

    @pytest.mark.parametrize("opening", HOLDFAST_OPENINGS)
    def test_c15_what_holdfast_put_in_is_not_the_users(
        self, client: Client, session: SessionWriter, opening: str
    ) -> None:
        session.prompt("one")
        session.place(f"{opening}, as of today.")
        assert typed(hear(client, session.path).events) == ["one"]
        assert client.user_text.extract_user_text(f"{opening}, as of today.") == ""
        assert not client.user_text.is_typed_opening(opening)

    def test_c16_what_was_typed_stays_as_it_was_typed(self, client: Client) -> None:
        for text in ("Port 8137 must stay.", "a < b and b > c", "Zürich, 東京 and 🦀\nsecond line"):
            assert client.user_text.extract_user_text(text) == text

    def test_c17_usage_is_what_stands_in_context_and_told_once_per_answer(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        session.answer("two", context=12_000)
        session.repeat()
        session.answer("three", context=14_000)
        told = only(UsageMeasured, hear(client, session.path).events)
        assert [event.context for event in told] == [12_000, 14_000]

    def test_c18_a_window_that_the_client_names_is_believed(self, client: Client) -> None:
        point = client.context_window.compaction_point(
            WindowConfig(), RunningModel("some-model", 200_000)
        )
        assert point.is_certain
        assert 0 < point.tokens <= point.window <= 200_000
        assert percent_left(0, point) == 100
        assert percent_left(point.tokens, point) == 0

    def test_c19_no_row_raises(self, client: Client) -> None:
        adapter = client.adapter()
        for place, data in enumerate(STRANGE_ROWS):
            adapter.events(Row(data, place, place + 1))
        json.dumps(adapter.parser_state())
        damaged_states: tuple[object, ...] = (5, [], {"format": -1}, {"seen": "x", "calls": 7})
        for damaged in damaged_states:
            client.adapter(damaged).events(Row({}, 0, 1))

    def test_c20_what_is_written_twice_is_told_once(
        self, client: Client, session: SessionWriter
    ) -> None:
        session.prompt("one")
        session.repeat()
        assert typed(hear(client, session.path).events) == ["one"]

    def test_c21_rows_that_are_passed_over_tell_nothing(
        self, client: Client, session: SessionWriter
    ) -> None:
        for _ in write_steps(session):
            pass
        filtered = hear(client, session.path, loads=client.row_probe.row_filter(parse_line))
        assert filtered.events == hear(client, session.path).events

    def test_c22_a_session_says_whose_it_is(self, client: Client, session: SessionWriter) -> None:
        session.prompt("one")
        (seen,) = only(SessionSeen, hear(client, session.path).events)
        assert seen.client.partition(" ")[0] == client.name
        assert clients.of_session(seen.client) is clients.get(client.name) is client
        assert client.paths.is_transcript(session.path)
        assert client.paths.transcript_session_id(session.path) == seen.session_id

    def test_c23_a_hook_prints_what_the_client_takes(self, client: Client) -> None:
        printed = client.hook_io.format_context("SessionStart", 'The "brief".\n', "For the user.")
        (text,) = [said for said in list_texts(json.loads(printed)) if "brief" in said]
        assert text == 'The "brief".\n'
        assert client.hook_io.check_output("SessionStart", printed) == []
        assert client.hook_io.format_context("SessionStart", "") == ""

    def test_c24_an_uninstall_leaves_no_trace(self, client: Client, tmp_path: Path) -> None:
        home, data = tmp_path / "home", str(tmp_path / "data")
        installer = installer_for(client)
        path = installer.settings_path("user", {}, str(home), str(tmp_path))
        script = str(tmp_path / "holdfast" / "hooks" / "main.py")
        done = installer.install(path, data_dir=data, interpreter="/usr/bin/python3", script=script)
        text, _ = installer.decode(Path(path).read_bytes())
        assert done.action == "installed"
        launcher = hook_launcher.build_launcher(data, "/usr/bin/python3", script)
        assert installer.is_current(text, launcher)
        entries = installer.parse_entries(text)
        targets = {hook_launcher.find_target(entry.argv) for entry in entries}
        assert targets == {hook_launcher.LaunchTarget("/usr/bin/python3", script)}
        assert {entry.event for entry in entries} == {spec.event for spec in installer.hooks}
        removed = installer.uninstall(path, data_dir=data)
        assert (removed.action, removed.identical) == ("removed", True)
        assert not Path(path).exists()
        assert not Path(launcher.path).exists()
