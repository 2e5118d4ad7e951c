"""Tool calls joined with their results, by tool (rows by hand)."""

import json
from typing import Any

import orjson
import pytest

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.events import (
    CommandInvoked,
    CommandRan,
    FileTouched,
    Hunk,
    JobEnded,
    JobStarted,
    Searched,
    SubagentEnded,
    SubagentStarted,
    TaskChanged,
    TaskCreated,
    TasksListed,
    Todo,
    TodosSet,
    ToolCalled,
    ToolRan,
)
from holdfast.transcript.reader import Row

from .handwritten_rows import TIME, Transcript, bare, events_in_pieces, only


def test_an_interrupted_command_did_not_succeed() -> None:
    transcript = Transcript()
    transcript.calls("Bash", command="make test", description="Run the tests")
    transcript.result(
        "Exit code 137\n[Request interrupted by user for tool use]\n=== RUN", error=True
    )
    transcript.tool("Bash", "half", {"stdout": "half", "interrupted": True}, command="sleep 9")
    transcript.calls("Bash", command="sleep 8")
    transcript.result(
        "The user doesn't want to proceed with this tool use. STOP what you are doing. "
        "Correction to the text above: this call was stopped while running, not refused.",
        error=True,
        structured="User rejected tool use",
    )
    first, second, third = only(CommandRan, transcript.events())
    assert (third.ok, third.code, third.interrupted) == (False, None, True)
    assert (first.ok, first.code, first.about, first.interrupted) == (
        False,
        137,
        "Run the tests",
        True,
    )
    assert (second.ok, second.code, second.interrupted) == (False, None, True)


def test_what_the_client_adds_to_the_output_is_not_the_commands() -> None:
    transcript = Transcript()
    for shown in ("3 files\nShell cwd was reset to /w", "Shell cwd was reset to /w", "no reset"):
        transcript.calls("Bash", command="ls | wc -l")
        transcript.result(shown)
    assert [one.output for one in only(CommandRan, transcript.events())] == [
        "3 files",
        "",
        "no reset",
    ]


def test_a_read_without_a_structured_result_has_the_text_shown() -> None:
    transcript = Transcript()
    transcript.tool("Read", "1\tx = 1", file_path="/a.py")
    called, touched = transcript.events()
    assert touched == FileTouched(touched.at, "/a.py", "read", True, "1\tx = 1")
    assert called == ToolCalled(called.at, "Read", "/a.py", 0, TIME)


def test_each_call_is_told_with_its_exit_code_and_since_when() -> None:
    transcript = Transcript()
    transcript.calls("Bash", command="make")
    transcript.result("Exit code 2\nno rule", error=True)
    transcript.calls("Edit", file_path="/a.py")
    transcript.result("no such text", error=True)
    transcript.tool("Bash", "started", {"backgroundTaskId": "b1"}, command="sleep 9")
    codes = [(one.tool, one.code) for one in only(ToolCalled, transcript.events())]
    assert codes == [("Bash", 2), ("Edit", 1), ("Bash", None)]


def test_edits_of_every_kind_are_changes() -> None:
    transcript = Transcript()
    patch = [{"newStart": 3, "lines": ["-a", "+b"]}, {"newStart": "x"}, 7]
    transcript.tool(
        "MultiEdit",
        "ok",
        {"filePath": "/a.py", "structuredPatch": patch},
        file_path="/a.py",
        edits=[{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}],
    )
    transcript.tool("NotebookEdit", "ok", notebook_path="/n.ipynb", new_source="print()")
    transcript.calls("Write", file_path="/w.py", content="w")
    transcript.result("<tool_use_error>File has not been read yet.</tool_use_error>", error=True)
    multi, notebook, failed = only(FileTouched, transcript.events())
    assert (multi.text, multi.before) == ("b\nd", "a\nc")
    assert multi.hunks == (Hunk(3, ("-a", "+b")),)
    assert (notebook.path, notebook.action, notebook.text) == ("/n.ipynb", "changed", "print()")
    assert (failed.ok, failed.error) == (False, "File has not been read yet.")


def test_searches_say_where() -> None:
    transcript = Transcript()
    transcript.tool("Grep", "a.py:1:x", pattern="x", path="/src", glob="*.py")
    transcript.tool("Glob", "/a.py", pattern="**/*.py")
    assert bare(only(Searched, transcript.events())) == [
        ("x", "/src", "a.py:1:x", True),
        ("**/*.py", "", "/a.py", True),
    ]


def test_an_unknown_tool_is_told_with_its_input_and_output() -> None:
    transcript = Transcript()
    transcript.tool(
        "mcp__tracker__get",
        [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}],
        id="ENT-1",
    )
    assert bare(only(ToolRan, transcript.events())) == [
        ("mcp__tracker__get", '{"id":"ENT-1"}', "one\n[image]\ntwo", True)
    ]


@pytest.mark.parametrize(
    ("shown", "structured"),
    [
        ("Task #12 created successfully: Ship it", {"task": {"id": "12", "subject": "Ship it"}}),
        ("Task #12 created successfully: Ship it", None),
        ("", {"task": {"id": 12}}),
    ],
)
def test_a_task_is_known_by_its_result_or_its_text(shown: str, structured: Any) -> None:
    transcript = Transcript()
    transcript.tool("TaskCreate", shown, structured, subject="Ship it", description="all of it")
    assert bare(only(TaskCreated, transcript.events())) == [("12", "Ship it", "all of it")]


def test_a_task_list_without_structure_is_read_from_its_lines() -> None:
    transcript = Transcript()
    transcript.tool(
        "TaskList",
        "#1 [completed] First\n#2 [pending] Second [blocked by #1, #3]\nnot a task",
    )
    (listed,) = only(TasksListed, transcript.events())
    assert [(t.task, t.status, t.subject, t.blocked_by) for t in listed.tasks] == [
        ("1", "completed", "First", ()),
        ("2", "pending", "Second", ("1", "3")),
    ]


def test_a_task_update_says_only_what_changed() -> None:
    transcript = Transcript()
    transcript.tool(
        "TaskUpdate", "Updated task #3 status", {"success": True}, taskId=3, status="deleted"
    )
    (changed,) = only(TaskChanged, transcript.events())
    assert changed == TaskChanged(changed.at, "3", "deleted")


def test_todos_are_set_as_a_whole() -> None:
    transcript = Transcript()
    todos = [{"content": "a", "status": "completed"}, {"content": "b"}, "junk", {"status": "x"}]
    transcript.tool("TodoWrite", "ok", {"newTodos": todos}, todos=[])
    (todos_set,) = only(TodosSet, transcript.events())
    assert todos_set.todos == (Todo("a", "completed"), Todo("b", "pending"))


def test_a_subagent_turned_down_is_over() -> None:
    transcript = Transcript()
    transcript.calls("Task", description="look", prompt="find it", subagent_type="explore")
    transcript.result(
        "The user doesn't want to proceed with this tool use. STOP what you are doing.",
        error=True,
    )
    events = transcript.events()
    assert [type(event).__name__ for event in events] == [
        "SubagentStarted",
        "ToolCalled",
        "ToolRefused",
        "SubagentEnded",
    ]
    assert not only(SubagentEnded, events)[0].ok


def test_an_agent_that_turns_out_to_run_beside_the_turn_is_told_again() -> None:
    transcript = Transcript()
    transcript.tool(
        "Agent",
        "Async agent launched",
        {"status": "async_launched", "agentId": "a77"},
        prompt="find",
    )
    note = (
        "<task-notification>\n<task-id>a77</task-id>\n<status>failed</status>\n"
        '<summary>Agent "look" failed</summary>\n</task-notification>'
    )
    transcript.add(type="queue-operation", operation="enqueue", content=note)
    transcript.prompt(note, origin={"kind": "task-notification"})
    events = transcript.events()
    assert [s.agent for s in only(SubagentStarted, events)] == ["toolu_1", "toolu_1"]
    assert bare(only(SubagentEnded, events)) == [("toolu_1", False, 'Agent "look" failed', ())]


def test_a_report_comes_with_the_tools_that_were_used_for_it() -> None:
    transcript = Transcript()
    transcript.tool(
        "Agent",
        "The shelf is empty.",
        {
            "status": "completed",
            "toolsUsed": ["Bash", 7, None, "Read"],
            "content": [
                {"type": "text", "text": "<tools-used-before-summary>Bash, Read</tools-used>"},
                {"type": "text", "text": "The shelf is empty."},
            ],
        },
        prompt="find",
    )
    ended = only(SubagentEnded, transcript.events())
    assert bare(ended) == [("toolu_1", True, "The shelf is empty.", ("Bash", "7", "Read"))]


def test_background_work_is_followed_by_the_tools_that_ask_after_it() -> None:
    transcript = Transcript()
    transcript.tool("Bash", "Command running in background with ID: b1", command="serve")
    transcript.tool(
        "BashOutput",
        "<status>running</status>\n<stdout>\nlistening on 3000\n</stdout>",
        bash_id="b1",
    )
    transcript.tool(
        "BashOutput",
        "<status>failed</status>\n<exit_code>1</exit_code>",
        {"shellId": "b1", "status": "failed", "stdout": "port in use"},
        bash_id="b1",
    )
    transcript.tool("KillShell", "gone", {"shell_id": "b1"}, shell_id="b1")
    transcript.tool(
        "TaskOutput",
        "...",
        {
            "task": {
                "task_id": "a9",
                "task_type": "local_agent",
                "status": "completed",
                "result": "r",
            }
        },
        task_id="a9",
    )
    events = transcript.events()
    assert bare(only(JobStarted, events)) == [("b1", "serve")]
    assert [ran.output for ran in only(ToolRan, events)] == [
        "<status>running</status>\n<stdout>\nlistening on 3000\n</stdout>"
    ]
    assert bare(only(JobEnded, events)) == [("b1", False, "port in use")]
    assert bare(only(SubagentEnded, events)) == [("a9", True, "r", ())]


def test_a_skill_that_failed_was_not_invoked() -> None:
    transcript = Transcript()
    transcript.calls("Skill", skill="demo")
    transcript.result("Unknown skill: demo", error=True)
    transcript.says("So be it.")
    assert only(CommandInvoked, transcript.events()) == []


def test_a_result_without_its_call_is_passed_over() -> None:
    transcript = Transcript()
    transcript.result("orphan", call="toolu_gone")
    assert transcript.events() == []


def test_what_a_subagent_did_is_told_as_its_own() -> None:
    transcript = Transcript()
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"role": "assistant", "content": [block], "id": "m", "usage": usage}
    transcript.prompt("Ask somebody.")
    transcript.prompt("find it", **side)
    transcript.add(type="assistant", message=message, **side)
    transcript.result("a.py", call="t", **side)
    block = {"type": "tool_use", "id": "u", "name": "TodoWrite", "input": {"todos": []}}
    transcript.add(type="assistant", message={"content": [block]}, **side)
    transcript.result("ok", call="u", structured={"newTodos": []}, **side)
    transcript.says("Found it.", **side)
    transcript.add(type="system", subtype="compact_boundary", **side)
    (ran,) = only(CommandRan, transcript.events())
    assert ran.at.agent == "a1"


def test_a_large_write_loses_nothing_and_the_memory_stays_small() -> None:
    transcript = Transcript()
    content = "".join(f"line {n}\n" for n in range(200_000))
    transcript.calls("Write", file_path="/big.txt", content=content)
    transcript.result(
        "File created successfully at: /big.txt",
        structured={"type": "create", "filePath": "/big.txt", "content": content},
    )
    (touched,) = only(FileTouched, transcript.events())
    assert touched.text == content
    assert events_in_pieces(transcript.rows, 1) == transcript.events()
    assert len(json.dumps(_memory_after(transcript.rows[:1]))) < 100_000


def test_a_deeply_nested_input_can_still_be_saved() -> None:
    transcript = Transcript()
    deep: Any = "end"
    for _ in range(400):
        deep = [deep]
    transcript.tool("mcp__odd__tool", "done", value=deep, label="kept")
    assert orjson.dumps(_memory_after(transcript.rows[:1]))
    (ran,) = only(ToolRan, events_in_pieces(transcript.rows, 1))
    assert ran.output == "done"
    assert '"label":"kept"' in ran.input


def _memory_after(rows: list[Row]) -> dict[str, Any]:
    adapter = ClaudeCodeAdapter()
    for row in rows:
        adapter.events(row)
    return adapter.parser_state()


def test_the_memory_is_bounded_whatever_is_left_open() -> None:
    transcript = Transcript()
    for n in range(3000):
        transcript.calls("Bash", call=f"toolu_{n}", command="x" * 40_000)
        transcript.add(type="queue-operation", operation="enqueue", content=f"{n} " + "q" * 50_000)
        transcript.prompt(f"prompt {n}")
    assert len(json.dumps(_memory_after(transcript.rows))) < 2_500_000
