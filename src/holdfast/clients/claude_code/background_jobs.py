"""Subagents and background commands: begun by a tool call, ended some rows later.

Owns the ways in which the client reports their end: the call's own result, a tool that
asks after them, a notification, a status note after compaction. Each end is reported once.
A subagent goes by the id of the tool call that began it: nothing else is known at its start.
"""

from holdfast.clients.adapter_base import BackgroundJob, PendingCall
from holdfast.clients.claude_code.parser_state import ParserState
from holdfast.clients.claude_code.tools import Result
from holdfast.clients.claude_code.user_text import Notification, text_in_tag
from holdfast.clients.json_fields import (
    as_id,
    as_object,
    as_objects,
    as_text,
    as_texts,
    compact_json,
    content_text,
)
from holdfast.events import Event, JobEnded, Origin, SubagentEnded, SubagentStarted, ToolRan
from holdfast.records import Any

AGENT_TOOLS = frozenset({"Task", "Agent"})
POLLING_TOOLS = frozenset({"TaskOutput", "BashOutput", "AgentOutputTool"})
STOPPING_TOOLS = frozenset({"TaskStop", "KillShell", "KillBash"})

_STILL_RUNNING = frozenset(
    {"async_launched", "teammate_spawned", "remote_launched", "queued_to_running"}
)
_OUTCOMES = {
    "completed": True,
    "success": True,
    "failed": False,
    "error": False,
    "killed": None,
    "stopped": None,
    "cancelled": None,
}
_AGENT_SUMMARY = 'Agent "'
# A block that newer clients put before a subagent's report; the data beside it says the same.
_TOOLS_BLOCK = "<tools-used-before-summary>"
MAX_TOOLS = 40


def on_subagent_call(at: Origin, call: PendingCall) -> SubagentStarted:
    asked = call.input
    return SubagentStarted(
        at,
        call.id,
        as_text(asked.get("subagent_type")),
        as_text(asked.get("description")),
        as_text(asked.get("prompt")),
    )


def on_subagent_result(
    parser_state: ParserState, at: Origin, call: PendingCall, result: Result
) -> list[Event]:
    """The result of the call that began a subagent: its report, or that it goes on."""
    data = result.data
    status = as_text(data.get("status"))
    if not result.failed and status in _STILL_RUNNING:
        agent = as_text(data.get("agentId")) or as_text(data.get("agent_id")) or call.id
        parser_state.start_job(agent, call.id, agent=True)
        if call.input.get("run_in_background") is True:
            return []
        return [on_subagent_call(at, call)]
    ok = not result.failed and _OUTCOMES.get(status, True) is True
    # The structured report lacks the frame that newer clients put around the shown one.
    report = _read_report(data.get("content")) or result.shown
    tools = tuple(name[:100] for name in as_texts(data.get("toolsUsed"))[:MAX_TOOLS])
    return [SubagentEnded(at, call.id, ok, report, tools)]


def _read_report(content: object) -> str:
    blocks = as_objects(content)
    if blocks and as_text(blocks[0].get("text")).startswith(_TOOLS_BLOCK):
        return content_text(blocks[1:])
    return content_text(content)


def on_poll_result(
    parser_state: ParserState, at: Origin, call: PendingCall, result: Result
) -> list[Event]:
    """A tool that looks at background work, or waits for it."""
    data = result.data
    task = as_object(data.get("task")) or data
    status = as_text(task.get("status")) or text_in_tag(result.shown, "status").strip()
    job = _find_first(task, ("task_id", "shellId", "shell_id", "agentId")) or _find_first(
        call.input, ("task_id", "bash_id", "shell_id", "agentId", "agent_id")
    )
    if result.failed or not job or status not in _OUTCOMES:
        return [_read_lookup(at, call, result)]
    agent = as_text(task.get("task_type")) == "local_agent"
    outputs = (as_text(task.get(name)) for name in ("result", "output", "stdout"))
    output = next(filter(None, outputs), result.shown)
    told = _note_end(parser_state, at, job, _OUTCOMES[status], output, agent=agent)
    return told or [_read_lookup(at, call, result)]


def on_stop_result(
    parser_state: ParserState, at: Origin, call: PendingCall, result: Result
) -> list[Event]:
    job = _find_first(result.data, ("task_id", "shell_id")) or _find_first(
        call.input, ("task_id", "shell_id", "bash_id")
    )
    if result.failed or not job:
        return [_read_lookup(at, call, result)]
    agent = as_text(result.data.get("task_type")) == "local_agent"
    return _note_end(parser_state, at, job, None, result.shown, agent=agent)


def on_notification(parser_state: ParserState, at: Origin, note: Notification) -> list[Event]:
    """A notification may come in three ways (queue, attachment, row); the first counts."""
    if note.status not in _OUTCOMES:
        return []
    agent, said = note.summary.startswith(_AGENT_SUMMARY), note.result or note.summary
    ok = _OUTCOMES[note.status]
    return _note_end(parser_state, at, note.task, ok, said, agent=agent, call=note.call)


def on_status_note(parser_state: ParserState, at: Origin, note: dict[str, Any]) -> list[Event]:
    """The client's own reminder of background work, given after compaction."""
    job, status = as_text(note.get("taskId")), as_text(note.get("status"))
    if job not in parser_state.jobs or status not in _OUTCOMES:
        return []
    said = as_text(note.get("deltaSummary")) or as_text(note.get("description"))
    return _note_end(parser_state, at, job, _OUTCOMES[status], said)


def _note_end(
    parser_state: ParserState,
    at: Origin,
    job: str,
    ok: bool | None,
    output: str,
    *,
    agent: bool = False,
    call: str = "",
) -> list[Event]:
    """`agent` and `call` are what its end says of a job whose beginning was not seen."""
    known = parser_state.jobs.get(job) or BackgroundJob(job, agent)
    if not parser_state.end_job(job):
        return []
    if known.agent:
        return [SubagentEnded(at, call or known.call, ok is True, output)]
    return [JobEnded(at, job, ok, output)]


def _read_lookup(at: Origin, call: PendingCall, result: Result) -> ToolRan:
    return ToolRan(at, call.name, compact_json(call.input), result.shown, not result.failed)


def _find_first(data: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next(filter(None, (as_id(data.get(key)) for key in keys)), "")
