"""Subagents and background commands: begun by a tool call, ended some rows later.

Owns the roads by which the client tells of their end: the call's own result, a tool that
asks after them, a notification, a status note after compaction. Each end is told once.
A subagent goes by the id of the tool call that began it: nothing else is known at its start.
"""

from __future__ import annotations

from typing import Any

from holdfast.clients.claude_code.fields import (
    compact_json,
    identifier,
    object_of,
    objects,
    shown,
    text,
    texts,
)
from holdfast.clients.claude_code.memory import Call, Memory
from holdfast.clients.claude_code.tools import Result
from holdfast.clients.claude_code.words import Notification, inside
from holdfast.events import (
    Event,
    JobEnded,
    Origin,
    SubagentEnded,
    SubagentStarted,
    ToolRan,
)

AGENT_TOOLS = frozenset({"Task", "Agent"})
ASKING_TOOLS = frozenset({"TaskOutput", "BashOutput", "AgentOutputTool"})
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
MOST_TOOLS = 40


def subagent_started(at: Origin, call: Call, *, background: bool = False) -> SubagentStarted:
    asked = call.input
    return SubagentStarted(
        at,
        call.id,
        text(asked.get("subagent_type")),
        text(asked.get("description")),
        text(asked.get("prompt")),
        background or asked.get("run_in_background") is True,
    )


def subagent_answered(memory: Memory, at: Origin, call: Call, result: Result) -> list[Event]:
    """The result of the call that began a subagent: its report, or that it goes on."""
    data = result.data
    status = text(data.get("status"))
    if not result.failed and status in _STILL_RUNNING:
        agent = text(data.get("agentId")) or text(data.get("agent_id")) or call.id
        memory.start_job(agent, call.id, agent=True)
        if call.input.get("run_in_background") is True:
            return []
        return [subagent_started(at, call, background=True)]
    ok = not result.failed and _OUTCOMES.get(status, True) is True
    # The structured report lacks the frame that newer clients put around the shown one.
    report = _report(data.get("content")) or result.shown
    tools = tuple(name[:100] for name in texts(data.get("toolsUsed"))[:MOST_TOOLS])
    return [SubagentEnded(at, call.id, ok, report, tools)]


def _report(content: object) -> str:
    blocks = objects(content)
    if blocks and text(blocks[0].get("text")).startswith(_TOOLS_BLOCK):
        return shown(blocks[1:])
    return shown(content)


def asked_after(memory: Memory, at: Origin, call: Call, result: Result) -> list[Event]:
    """A tool that looks at background work, or waits for it."""
    data = result.data
    task = object_of(data.get("task")) or data
    status = text(task.get("status")) or inside(result.shown, "status").strip()
    job = _first(task, ("task_id", "shellId", "shell_id", "agentId")) or _first(
        call.input, ("task_id", "bash_id", "shell_id", "agentId", "agent_id")
    )
    if result.failed or not job or status not in _OUTCOMES:
        return [_looked(at, call, result)]
    agent = job in memory.jobs and memory.jobs[job].agent
    agent = agent or text(task.get("task_type")) == "local_agent"
    output = text(task.get("result")) or text(task.get("output")) or text(task.get("stdout"))
    return _ended(memory, at, job, "", agent, _OUTCOMES[status], output or result.shown) or [
        _looked(at, call, result)
    ]


def stopped(memory: Memory, at: Origin, call: Call, result: Result) -> list[Event]:
    job = _first(result.data, ("task_id", "shell_id")) or _first(
        call.input, ("task_id", "shell_id", "bash_id")
    )
    if result.failed or not job:
        return [_looked(at, call, result)]
    known = memory.jobs.get(job)
    agent = known.agent if known else text(result.data.get("task_type")) == "local_agent"
    return _ended(memory, at, job, "", agent, None, result.shown)


def notified(memory: Memory, at: Origin, note: Notification) -> list[Event]:
    """A notification may come by three roads (queue, attachment, row); the first counts."""
    if note.status not in _OUTCOMES:
        return []
    known = memory.jobs.get(note.task)
    agent = known.agent if known else note.summary.startswith(_AGENT_SUMMARY)
    said = note.result or note.summary
    return _ended(memory, at, note.task, note.call, agent, _OUTCOMES[note.status], said)


def status_noted(memory: Memory, at: Origin, note: dict[str, Any]) -> list[Event]:
    """The client's own reminder of background work, given after compaction."""
    job, status = text(note.get("taskId")), text(note.get("status"))
    known = memory.jobs.get(job)
    if known is None or status not in _OUTCOMES:
        return []
    said = text(note.get("deltaSummary")) or text(note.get("description"))
    return _ended(memory, at, job, "", known.agent, _OUTCOMES[status], said)


def _ended(
    memory: Memory, at: Origin, job: str, call: str, agent: bool, ok: bool | None, output: str
) -> list[Event]:
    known = memory.jobs.get(job)
    if not memory.end_job(job):
        return []
    if agent:
        began = call or (known.call if known else job)
        return [SubagentEnded(at, began, ok is True, output)]
    return [JobEnded(at, job, ok, output)]


def _looked(at: Origin, call: Call, result: Result) -> ToolRan:
    return ToolRan(at, call.name, compact_json(call.input), result.shown, not result.failed)


def _first(data: dict[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        found = identifier(data.get(key))
        if found:
            return found
    return ""
