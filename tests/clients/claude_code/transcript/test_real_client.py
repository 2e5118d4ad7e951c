"""The adapter on what the real client writes today: it breaks here first."""

import json
from pathlib import Path

import pytest

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.clients.claude_code.client import PATHS
from holdfast.events import (
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    Rewound,
    SubagentEnded,
    SubagentStarted,
    SummaryGiven,
    TaskChanged,
    TaskCreated,
    UsageMeasured,
    UserSaid,
)
from holdfast.transcript.reader import START_CURSOR, Cursor, TranscriptReader
from support.claude import (
    Client,
    ScriptedApi,
    bash,
    mid_turn_compaction,
    run_subagent,
    text,
    tool,
    wait_until,
)

from .handwritten_rows import only

pytestmark = pytest.mark.client


class Follower:
    """Reads a transcript as it grows, with cursor and memory kept in between."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.resets: list[str] = []
        self.unknown = 0
        self._cursor: Cursor = START_CURSOR
        self._parser_state: object = None

    def follow(self, path: Path) -> list[Event]:
        adapter = ClaudeCodeAdapter(self._parser_state)
        with TranscriptReader(path, self._cursor) as reader:
            new = [event for row in reader.rows() for event in adapter.events(row)]
            self._cursor = reader.cursor
            if reader.reset:
                self.resets.append(reader.reset)
        self._parser_state, self.unknown = adapter.parser_state(), adapter.unknown_rows
        self.events += new
        return new


def test_a_session_is_followed_through_compaction_and_rewind(tmp_path: Path) -> None:
    follower = Follower()
    with ScriptedApi(subagent=[text("Nothing odd found.")]) as api:
        client = Client(tmp_path, api)
        file = str(client.project / "a.py")
        with client.session() as session:
            api.say(
                tool("TaskCreate", subject="First", description="do it")
                + tool("TaskCreate", subject="Second", description="then that"),
                tool("TaskUpdate", taskId="1", status="completed"),
                tool("Write", file_path=file, content="x = 1\n"),
                bash("sleep 2; echo slept; exit 4"),
                run_subagent("look around"),
                "Worked.",
            )
            session.send("Do the work, never on port 8080.")
            wait_until(lambda: len(api.main_requests) >= 4)  # the sleeping command is next
            session.send("and use tabs")
            session.wait()
            path = client.transcript_path(session.session_id)
            follower.follow(path)
            api.say(*mid_turn_compaction("Went on."))
            session.ask("go on")
            follower.follow(path)
            api.say("Third.")
            session.ask("a turn to be taken back")
            follower.follow(path)
            session_id = session.session_id
        back_to = [
            row["uuid"]
            for row in client.rows(session_id)
            if row["type"] == "assistant" and row["message"]["content"][0].get("text") == "Went on."
        ][-1]
        api.say("Fourth.")
        client.run("instead", resume=session_id, extra=["--resume-session-at", back_to])
        after_rewind = follower.follow(path)
        tasks = [
            json.loads(file.read_bytes())
            for file in sorted((client.config_dir / "tasks" / session_id).glob("*.json"))
        ]
        assert PATHS.find_transcript(str(client.config_dir), session_id, "") == str(path)

    events = follower.events
    assert (follower.resets, follower.unknown) == ([], 0)
    assert [(said.text, said.source) for said in only(UserSaid, events)] == [
        ("Do the work, never on port 8080.", "prompt"),
        ("and use tabs", "queued"),
        ("go on", "prompt"),
        ("a turn to be taken back", "prompt"),
        ("instead", "prompt"),
    ]
    assert [(task.task, task.subject) for task in only(TaskCreated, events)] == [
        ("1", "First"),
        ("2", "Second"),
    ]
    assert ("1", "completed") in [(t.task, t.status) for t in only(TaskChanged, events)]
    assert {(task["id"], task["status"]) for task in tasks} == {
        ("1", "completed"),
        ("2", "pending"),
    }
    assert (file, "created") in [(t.path, t.action) for t in only(FileTouched, events)]
    failed = next(ran for ran in only(CommandRan, events) if not ran.ok)
    assert (failed.output, failed.code) == ("slept", 4)
    (started,) = {agent.agent for agent in only(SubagentStarted, events)}
    assert [(e.agent, e.ok, e.result) for e in only(SubagentEnded, events)] == [
        (started, True, "Nothing odd found.")
    ]
    (compacted,) = only(Compacted, events)
    assert compacted.trigger == "auto"
    assert compacted.kept
    assert len(only(SummaryGiven, events)) == 1
    assert all(measured.context > 1000 for measured in only(UsageMeasured, events))
    (rewound,) = only(Rewound, events)
    assert rewound in after_rewind
    taken_back = next(said for said in only(UserSaid, events) if said.text.startswith("a turn"))
    assert rewound.start == taken_back.at.start
