"""GitHub Copilot CLI's rows as events.

A call's beginning and its end are rows of their own. Rows of a subagent name it. A compaction
leaves the user's messages word for word and a summary of the rest. Must not do I/O but for the last
compaction, and never raises on a row.
"""

import re
from collections.abc import Mapping

from holdfast.clients import session_rows, tool_calls
from holdfast.clients.adapter_base import list_work
from holdfast.clients.client_protocol import LeftInContext, RowProbe, UserText
from holdfast.clients.copilot.hooks import COMPACTION, NOTIFICATION
from holdfast.clients.json_fields import as_count, as_object, as_text
from holdfast.clients.tool_calls import Handler, ToolCall
from holdfast.events import (
    AgentSaid,
    Event,
    JobEnded,
    Origin,
    Rewound,
    TitleSet,
    TurnEnded,
    UserSaid,
)
from holdfast.records import Any
from holdfast.transcript.reader import Row

_USER_ROW = b'{"type":"user.message","data":'
_GUIDANCE = '\n\nTool "%s" %s. Additional guidance from postToolUse'
_ENDED = re.compile(r"\n?<shellId: (\S+) completed with exit code (-?\d{1,9})>\s*\Z")
_BACKGROUND = re.compile(r"<command started in background with shellId: (\S+)>")
_TOOLS: Mapping[str, Handler] = {"create": tool_calls.write_file}


class CopilotRows(RowProbe):
    BOUNDARY_MARK = COMPACTION

    def is_boundary(self, data: dict[str, Any]) -> bool:
        inside = as_object(data.get("data"))
        done = data.get("type") == "session.compaction_complete" and inside.get("success") is True
        return done and not data.get("agentId")

    def last_compaction(self, path: str) -> LeftInContext | None:
        data = session_rows.read_last_row(path, COMPACTION)
        if not data:
            return None
        before = session_rows.list_rows_starting(path, _USER_ROW, self.row_id(data).encode())
        kept = tuple(said for row in before if (said := read_typed(row)))
        return LeftInContext(as_text(as_object(data.get("data")).get("summaryContent")), kept)


class CopilotText(UserText):
    CLIENT_OPENINGS = (NOTIFICATION, "<system_reminder>", "<current_datetime>", "<skill-context")


def read_typed(data: dict[str, Any]) -> str:
    """The user's own words in a user.message; "" where the client wrote it, or a skill."""
    inside = as_object(data.get("data"))
    goes_on = inside.get("isAutopilotContinuation") is True
    if goes_on or as_text(inside.get("source")) not in ("", "user"):
        return ""
    return USER_TEXT.extract_user_text(as_text(inside.get("content")))


def read_answer(inside: dict[str, Any], tool: str) -> str:
    """What a tool gave, without the words of hooks that the client puts behind it."""
    result, error = as_object(inside.get("result")), as_object(inside.get("error"))
    said = as_text(result.get("content")) or as_text(error.get("message"))
    for how in ("succeeded", "failed"):
        said = said.partition(_GUIDANCE % (tool, how))[0]
    return said


ROW_PROBE, USER_TEXT = CopilotRows(), CopilotText()


class CopilotAdapter(session_rows.RowsAdapter[session_rows.RowsState]):
    STATE = session_rows.RowsState
    CLIENT = "copilot"

    def events(self, row: Row) -> list[Event]:
        data, inside = row.data, as_object(row.data.get("data"))
        kind, id_ = as_text(data.get("type")), ROW_PROBE.row_id(data)[:100]
        if "." not in kind or not id_:
            self._state.unknown += 1
            return []
        agent = as_text(data.get("agentId"))[:200]
        time = self._plausible(as_text(data.get("timestamp")))
        at = Origin(id_, row.start, row.end, time, agent)
        if not self._state.add_row(id_, row.start):
            return []
        out: list[Event] = []
        if kind == "tool.execution_start":
            name, given = as_text(inside.get("toolName")), inside.get("arguments")
            if server := as_text(inside.get("mcpServerName")):
                name = f"mcp__{server}__{as_text(inside.get('mcpToolName')) or name}"
            asked = {"input": given} if isinstance(given, str) else as_object(given)
            self._begin_call(at, as_text(inside.get("toolCallId")), name, asked)
        elif kind == "tool.execution_complete":
            out += self._end_call(inside, at)
        elif ROW_PROBE.is_boundary(data):
            self._read_compaction(inside, at, out)
        elif kind == "session.usage_record":
            self._read_usage(as_object(inside.get("usage")), at, out)
        elif kind in ("session.start", "session.resume"):
            cwd = as_text(as_object(inside.get("context")).get("cwd"))
            session, version = (as_text(inside.get(n)) for n in ("sessionId", "copilotVersion"))
            self._announce_session(at, session_rows.Place(session, cwd, "", version), out)
        elif kind == "session.snapshot_rewind":
            start = self._state.remove_row(as_text(inside.get("upToEventId"))[:100])
            out += [Rewound(at, start)] if start is not None else []
        else:
            out += _read_words(data, inside, at)
        return list_work(out) if agent else out

    def _read_usage(self, usage: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if usage.get("interactionType") == "conversation-agent":
            tokens = as_count(usage.get("inputTokens")), as_count(usage.get("outputTokens"))
            window = as_count(usage.get("maxPromptTokens"))
            self._measure_usage(at, as_text(usage.get("model")), tokens, window, out)

    def _read_compaction(self, inside: dict[str, Any], at: Origin, out: list[Event]) -> None:
        trigger = "manual" if inside.get("trigger") == "manual" else "auto"
        before, after = (as_count(inside.get(f"{n}CompactionTokens")) for n in ("pre", "post"))
        summary = as_text(inside.get("summaryContent")).strip()
        self._tell_compaction(at, trigger, summary, out, tokens=(before, after))

    def _end_call(self, inside: dict[str, Any], at: Origin) -> list[Event]:
        asked = self._state.take_call(as_text(inside.get("toolCallId")))
        if asked is None:
            return []
        said, ok = read_answer(inside, asked.name), inside.get("success") is True
        call = ToolCall(asked.id, asked.name, asked.input, said, ok, self._state.place.cwd)
        code = as_object(inside.get("error")).get("code")
        if code in ("denied", "rejected"):
            return tool_calls.refuse(at, call)
        if call.name in ("bash", "powershell"):
            call = _read_command(call, as_object(inside.get("shellExecution")).get("exitCode"))
        return tool_calls.list_events(at, call, _TOOLS)


def _read_words(data: dict[str, Any], inside: dict[str, Any], at: Origin) -> list[Event]:
    kind, text = data.get("type"), as_text(inside.get("content"))
    if kind == "user.message":
        said = read_typed(data)
        return [UserSaid(at, said)] if said else []
    if kind == "assistant.message":
        return [AgentSaid(at, text)] if text.strip() else []
    if kind == "system.notification":
        return _read_notification(as_object(inside.get("kind")), at)
    if kind == "session.title_changed":
        title = as_text(inside.get("title"))
        return [TitleSet(at, title)] if title else []
    if kind == "hook.start" and inside.get("hookType") == "agentStop":
        return [TurnEnded(at)]
    return []


def _read_command(call: ToolCall, code: object) -> ToolCall:
    if begun := _BACKGROUND.match(call.output):
        return call._replace(job=begun[1])
    ended = _ENDED.search(call.output)
    output = call.output[: ended.start()] if ended else call.output
    shown = int(ended[2]) if ended else None
    return call._replace(output=output, code=code if type(code) is int else shown)


def _read_notification(kind: dict[str, Any], at: Origin) -> list[Event]:
    job = as_text(kind.get("shellId"))
    if kind.get("type") not in ("shell_completed", "shell_detached_completed") or not job:
        return []
    code = kind.get("exitCode")
    return [JobEnded(at, job, code == 0 if type(code) is int else None, "")]


ADAPTER = CopilotAdapter
