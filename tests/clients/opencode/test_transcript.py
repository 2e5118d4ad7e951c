"""What OpenCode's tools, messages and compactions become; outputs as 1.18.33 wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import RunningModel
from holdfast.events import (
    AgentSaid,
    CommandInvoked,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    NoteTaken,
    Searched,
    SubagentEnded,
    SubagentStarted,
    TodosSet,
    ToolRan,
    ToolRefused,
    UsageMeasured,
    UserSaid,
)
from support.client_conformance import hear

from .session_writer import WrittenSession, tool

CLIENT = clients.get("opencode")


@pytest.fixture
def session(tmp_path: Path) -> WrittenSession:
    return WrittenSession(tmp_path)


def read(session: WrittenSession) -> list[Event]:
    return hear(CLIENT, session.path).events[1:]  # the first says where it runs


def call(session: WrittenSession, *parts: dict[str, Any]) -> list[Event]:
    session.message("assistant", list(parts), finish="tool-calls")
    return read(session)


def test_a_command_that_failed(session: WrittenSession) -> None:
    asked = {"command": "make test", "description": "tests"}
    (ran,) = call(session, tool("bash", asked, "1 failed\n", exit=3))
    assert isinstance(ran, CommandRan)
    assert (ran.command, ran.output, ran.ok, ran.code) == ("make test", "1 failed\n", False, 3)


def test_a_command_that_printed_nothing_and_one_that_was_stopped(session: WrittenSession) -> None:
    quiet = tool("bash", {"command": "true"}, "(no output)", exit=0)
    stopped = tool("bash", {"command": "sleep 99"}, "Tool execution aborted", status="error")
    one, two = call(session, quiet, stopped)
    assert isinstance(one, CommandRan)
    assert isinstance(two, CommandRan)
    assert (one.output, one.ok) == ("", True)
    assert (two.ok, two.interrupted) == (False, True)


def test_a_file_that_was_read(session: WrittenSession) -> None:
    shown = (
        "<path>/shop/a.py</path>\n<type>file</type>\n<content>\n1: x = 1\n2: y = 2\n\n"
        "(End of file - total 2 lines)\n</content>"
    )
    (touched,) = call(session, tool("read", {"filePath": "a.py"}, shown))
    assert isinstance(touched, FileTouched)
    assert (touched.path, touched.action) == ("/shop/a.py", "read")
    assert touched.text.strip() == "x = 1\ny = 2"


def test_files_that_were_changed(session: WrittenSession) -> None:
    diff = (
        "Index: /shop/a.py\n===\n--- /shop/a.py\n+++ /shop/a.py\n@@ -3,2 +3,2 @@\n-x = 1\n+x = 2\n"
    )
    edited = {"filePath": "a.py", "oldString": "x = 1", "newString": "x = 2"}
    patch = "*** Begin Patch\n*** Add File: b.py\n+y = 1\n*** End Patch"
    events = call(
        session,
        tool("edit", edited, "Edit applied successfully.", diff=diff),
        tool("write", {"filePath": "/shop/c.py", "content": "z"}, "Wrote file.", exists=False),
        tool("write", {"filePath": "/shop/c.py", "content": "zz"}, "Wrote file.", exists=True),
        tool("apply_patch", {"patchText": patch}, "Success."),
        tool("edit", edited, "oldString not found", status="error"),
    )
    touched = [event for event in events if isinstance(event, FileTouched)]
    assert [(one.path, one.action, one.ok) for one in touched] == [
        ("/shop/a.py", "changed", True),
        ("/shop/c.py", "created", True),
        ("/shop/c.py", "changed", True),
        ("/shop/b.py", "created", True),
        ("/shop/a.py", "changed", False),
    ]
    (hunk,) = touched[0].hunks
    assert (hunk.start, hunk.lines) == (3, ("-x = 1", "+x = 2"))
    assert touched[4].error == "oldString not found"


def test_searches_todos_notes_and_tools_of_others(session: WrittenSession) -> None:
    todos = [
        {"content": "Write it", "status": "in_progress"},
        {"content": "Left out", "status": "cancelled"},
    ]
    searched, listed, noted, other, refused = call(
        session,
        tool("grep", {"pattern": "bucket", "path": "src"}, "src/a.py:1"),
        tool("todowrite", {"todos": todos}, "[]"),
        tool("holdfast_note", {"kind": "rule"}, 'Noted as rule: "No floats."'),
        tool("webfetch", {"url": "https://example.org"}, "A page."),
        tool("bash", {"command": "rm x"}, "The user rejected permission to use", status="error"),
    )
    assert isinstance(searched, Searched)
    assert (searched.pattern, searched.where) == ("bucket", "src")
    assert isinstance(listed, TodosSet)
    assert [(todo.content, todo.status) for todo in listed.todos] == [("Write it", "in_progress")]
    assert isinstance(noted, NoteTaken)
    assert (noted.kind, noted.text) == ("rule", "No floats.")
    assert isinstance(other, ToolRan)
    assert isinstance(refused, ToolRefused)
    assert refused.asked == "rm x"


def test_a_subagent_and_what_it_did(session: WrittenSession) -> None:
    asked = {"description": "look", "prompt": "Look at it.", "subagent_type": "general"}
    answer = (
        '<task id="ses_child" state="completed">\n<task_result>\nFine.\n</task_result>\n</task>'
    )
    told = [{"type": "text", "text": "Mine."}, tool("bash", {"command": "ls"}, "a", exit=0)]
    session.message("assistant", told, agent="ses_child", finish="stop", tokens={"total": 9})
    done, started, ended = call(session, tool("task", asked, answer, sessionId="ses_child"))
    assert isinstance(done, CommandRan)
    assert done.at.agent == "ses_child"
    assert isinstance(started, SubagentStarted)
    assert (started.agent, started.role, started.prompt) == ("ses_child", "general", "Look at it.")
    assert isinstance(ended, SubagentEnded)
    assert (ended.agent, ended.ok, ended.result) == ("ses_child", True, "Fine.")


def test_a_prompt_of_the_command_line_is_told_without_its_quotation_marks(
    session: WrittenSession,
) -> None:
    session.prompt('"say \\"hello\\" to them"')
    session.prompt('"one" or "two"')
    said = [event.text for event in read(session) if isinstance(event, UserSaid)]
    assert said == ['say "hello" to them', '"one" or "two"']


def test_a_slash_command_is_no_prompt(session: WrittenSession) -> None:
    row = {"command": {"name": "review", "arguments": "the cart"}}
    parts = [{"type": "text", "text": "You are a reviewer. Look at the cart."}]
    session.message("user", parts, row=row)
    invoked, said = read(session)
    assert isinstance(invoked, CommandInvoked)
    assert (invoked.name, invoked.arguments, invoked.by) == ("review", "the cart", "user")
    assert isinstance(said, UserSaid)
    assert said.text == "the cart"


def test_a_compaction_by_hand_and_one_that_failed(session: WrittenSession) -> None:
    session.answer("Full.", context=150_000)
    session.message("user", [{"type": "compaction", "auto": False}])
    failed = {"name": "MessageAbortedError"}
    session.message("assistant", [], summary=True, finish="stop", error=failed)
    session.message("assistant", [{"type": "text", "text": "All."}], summary=True, finish="stop")
    told = [event for event in read(session) if isinstance(event, Compacted)]
    assert [(one.trigger, one.tokens_before) for one in told] == [("manual", 150_000)]


def test_the_window_is_what_the_client_lets_stand(session: WrittenSession) -> None:
    session.answer("Fine.", context=12_000)
    (used,) = [event for event in read(session) if isinstance(event, UsageMeasured)]
    assert (used.context, used.window) == (12_000, 168_000)
    point = CLIENT.context_window.compaction_point(
        CLIENT.context_window.read_window_config({}, ""), RunningModel("m", used.window)
    )
    assert (point.tokens, point.auto_compact, point.is_certain) == (168_000, True, True)


def test_what_a_compaction_leaves(session: WrittenSession) -> None:
    session.prompt("Gone.")
    session.answer("Gone too.")
    kept = session.message("user", [{"type": "text", "text": "Kept words."}])
    session.message("assistant", [tool("bash", {"command": "ls"}, "kept output", exit=0)])
    session.message("user", [{"type": "compaction", "auto": True, "tail_start_id": kept}])
    session.message("assistant", [{"type": "text", "text": "In short."}], summary=True)
    session.prompt("After it.")
    left = CLIENT.row_probe.last_compaction(session.path)
    assert left is not None
    assert left.summary == "In short."
    words = "\n".join(left.kept)
    assert "Kept words." in words
    assert "kept output" in words
    assert "Gone" not in words
    assert "After it." not in words


def test_a_session_without_a_compaction_left_nothing(session: WrittenSession) -> None:
    session.prompt("One.")
    assert CLIENT.row_probe.last_compaction(session.path) is None


def test_an_answer_is_not_the_summary_because_it_says_so(session: WrittenSession) -> None:
    session.answer('The row has "summary":true in it.')
    assert [type(event) for event in read(session)][:1] == [AgentSaid]


@pytest.mark.parametrize(
    ("text", "environ", "auto"),
    [
        ('{"compaction": {"auto": false,},} // mine', {}, False),
        ('/* {"compaction": {"auto": false}} */ {}', {}, True),
        ("{", {}, True),
        ("{}", {"OPENCODE_DISABLE_AUTOCOMPACT": "1"}, False),
    ],
)
def test_a_configuration_that_turns_compactions_off(
    tmp_path: Path, text: str, environ: dict[str, str], auto: bool
) -> None:
    (tmp_path / "opencode.jsonc").write_text(text)
    chosen = CLIENT.context_window.read_window_config(environ, str(tmp_path))
    assert chosen.auto_compact is auto
