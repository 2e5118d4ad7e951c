"""A session that the real client 2.1.325 wrote, against a scripted API.

The agent made tasks, wrote and edited a file, failed a command, ran others in the background,
started two subagents and a skill; the user typed ahead, ran a command of their own making,
compacted, went on, and came back to before that. Rows of the client's own books (prompts and
requests as sent) are left out of the recording.
"""

import pytest

from holdfast.events import (
    AgentSaid,
    CommandInvoked,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    Hunk,
    JobEnded,
    JobStarted,
    Rewound,
    SessionSeen,
    SubagentEnded,
    SubagentStarted,
    SummaryGiven,
    TaskChanged,
    TaskCreated,
    TasksListed,
    ToolRan,
    UsageMeasured,
    UserSaid,
)
from holdfast.transcript.reader import Row, TranscriptReader

from .handwritten_rows import RECORDED, bare, events_in_pieces, events_of, only


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    with TranscriptReader(RECORDED / "session.jsonl") as reader:
        return list(reader.rows())


@pytest.fixture(scope="module")
def events(rows: list[Row]) -> list[Event]:
    return events_of(rows)


def test_the_users_words_are_told_once_each(events: list[Event]) -> None:
    assert bare(only(UserSaid, events)) == [
        ("Please do the work.", "prompt", ""),
        ("queued while working: use tabs", "queued", ""),
        ("after compaction", "prompt", ""),
        ("rewound prompt", "prompt", ""),
    ]


def test_where_the_session_runs_is_told_once(events: list[Event]) -> None:
    (seen,) = only(SessionSeen, events)
    assert seen[1:] == (
        "76add81a-c26b-4542-8554-19e4ae5bf4c0",
        "/home/dev/project",
        "",  # the client wrote HEAD: there is no repository
        "claude-code 2.1.325",
    )


def test_tasks_follow_the_clients_ids_and_a_failed_update_changes_nothing(
    events: list[Event],
) -> None:
    assert bare(only(TaskCreated, events)) == [
        ("1", "First task", "do one"),
        ("2", "Second task", "do two"),
    ]
    changed = only(TaskChanged, events)
    assert [(change.task, change.status) for change in changed] == [
        ("1", "in_progress"),
        ("2", None),  # owner and blocker
        ("2", "pending"),  # as shown
        ("1", "in_progress"),  # as the client reminded the agent
        ("2", "pending"),
        ("1", "deleted"),
    ]
    assert (changed[1].owner, changed[1].blocked_by) == ("me", ("1",))
    (listed,) = only(TasksListed, events)
    assert [(t.task, t.status, t.subject, t.owner) for t in listed.tasks] == [
        ("1", "in_progress", "First task", None),
        ("2", "pending", "Second task", "me"),
    ]


def test_files_are_told_with_what_changed(events: list[Event]) -> None:
    path = "/home/dev/project/a.py"
    touched = only(FileTouched, events)
    assert [(t.path.rsplit("/", 1)[1], t.action, t.ok) for t in touched] == [
        ("a.py", "created", True),
        ("none.py", "read", False),
        ("a.py", "read", True),
        ("a.py", "changed", True),
        ("a.py", "changed", True),
        ("a.py", "read", True),
    ]
    created, missing, read, edited, rewritten, shown_again = touched
    assert shown_again.text == "z\n"  # by the client, after the compaction
    assert (created.path, created.text) == (path, "x = 1\ny = 2\n")
    assert missing.error.startswith("File does not exist.")
    assert read.text == "x = 1\ny = 2\n"
    assert (edited.before, edited.text) == ("x = 1", "x = 3")
    assert edited.hunks == (Hunk(1, ("-x = 1", "+x = 3", " y = 2")),)
    assert rewritten.text == "z\n"
    assert rewritten.hunks[0].lines == ("-x = 3", "-y = 2", "+z")


def test_commands_carry_how_they_ended(events: list[Event]) -> None:
    assert [(c.command, c.output, c.ok, c.code) for c in only(CommandRan, events)] == [
        ("echo out; echo err >&2; exit 3", "out\nerr", False, 3),
        ("grep zzz a.py", "", True, None),  # exit 1, which means "no matches" here
        ("sleep 3; echo slept", "slept", True, 0),
        ("sleep 2", "", True, 0),
    ]


def test_background_commands_start_and_end_once(events: list[Event]) -> None:
    started, ended = only(JobStarted, events), only(JobEnded, events)
    assert [job.command for job in started] == ["echo bg; sleep 1; echo bgdone", "sleep 100"]
    first, second = (job.job for job in started)
    assert {(job.job, job.ok) for job in ended} == {(first, True), (second, None)}


def test_a_subagent_is_seen_from_its_call_to_its_report(events: list[Event]) -> None:
    started, ended = only(SubagentStarted, events), only(SubagentEnded, events)
    assert [(s.role, s.about, s.prompt) for s in started] == [
        ("general-purpose", "look", "find it"),
        ("general-purpose", "look bg", "find it too"),
    ]
    assert [(e.agent, e.ok, e.result) for e in ended] == [
        (started[0].agent, True, "The sub result."),
        (started[1].agent, True, "The second sub result."),
    ]


def test_commands_and_skills_carry_their_arguments(events: list[Event]) -> None:
    skill, command, compact = only(CommandInvoked, events)
    assert skill[1:] == ("demo", "some args", "agent")
    assert command[1:] == ("mine", "alpha beta", "user")
    assert compact[1:] == ("compact", "keep it", "user")


def test_a_compaction_names_what_was_kept(events: list[Event], rows: list[Row]) -> None:
    (compacted,) = only(Compacted, events)
    assert (compacted.trigger, compacted.tokens_before, compacted.tokens_after) == (
        "manual",
        47656,
        2961,
    )
    (kept,) = compacted.kept
    assert any(row.data.get("uuid") == kept for row in rows)
    (summary,) = only(SummaryGiven, events)
    assert summary.text == ("1. Primary Request and Intent: scripted work.\n2. Current Work: none.")


def test_going_back_to_a_kept_row_abandons_what_followed_it(
    events: list[Event], rows: list[Row]
) -> None:
    (rewound,) = only(Rewound, events)
    (abandoned,) = [
        row
        for row in rows
        if row.data["type"] == "user" and row.data["message"]["content"] == "after compaction"
    ]
    assert rewound.start == abandoned.start
    position = events.index(rewound)
    assert isinstance(events[position + 1], UserSaid)
    assert events[position + 1].at == rewound.at


def test_usage_is_told_once_per_answer(events: list[Event], rows: list[Row]) -> None:
    answers = {r.data["message"]["id"] for r in rows if r.data["type"] == "assistant"}
    measured = only(UsageMeasured, events)
    assert len(measured) == len(answers)
    usage = next(r for r in rows if r.data["type"] == "assistant").data["message"]["usage"]
    assert measured[0].context == (
        usage["input_tokens"]
        + usage["cache_creation_input_tokens"]
        + usage["cache_read_input_tokens"]
    )


def test_thinking_is_not_said(events: list[Event]) -> None:
    assert [said.text for said in only(AgentSaid, events)] == [
        "I will start.",
        "Done 21.",
        "Done 22.",
        "Done 23.",
        "Done 24.",
    ]


def test_tools_that_are_not_there_fail_in_words(events: list[Event]) -> None:
    failed = [ran for ran in only(ToolRan, events) if not ran.ok]
    assert {ran.tool for ran in failed} >= {"TaskOutput", "AskUserQuestion", "TaskUpdate"}
    assert not any("tool_use_error" in ran.output for ran in failed)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_rows_in_pieces_give_the_same_events(
    rows: list[Row], events: list[Event], size: int
) -> None:
    assert events_in_pieces(rows, size) == events


def test_a_subagents_own_transcript_is_a_session_whose_words_are_the_main_agents() -> None:
    with TranscriptReader(RECORDED / "subagent.jsonl") as reader:
        events = events_of(list(reader.rows()))
    (ran,) = only(CommandRan, events)
    assert (ran.command, ran.at.agent) == ("echo in sub2", "")
    (said,) = only(UserSaid, events)
    assert (said.source, said.about) == ("lead", "the main agent")


def test_prompts_taken_back_are_abandoned_to_the_very_first() -> None:
    """The client was told to rewind twice: before the second prompt, then before the first."""
    with TranscriptReader(RECORDED / "rewinds.jsonl") as reader:
        rows = list(reader.rows())
    events = events_of(rows)
    starts = {said.text: said.at.start for said in only(UserSaid, events)}
    assert [
        event.text if isinstance(event, UserSaid) else event.start
        for event in events
        if isinstance(event, UserSaid | Rewound)
    ] == [
        "prompt one",
        "prompt two",
        "prompt three",
        starts["prompt two"],
        "prompt two, better",
        starts["prompt one"],
        "prompt one, better",
        "and on",
    ]
    assert events_in_pieces(rows, 1) == events
