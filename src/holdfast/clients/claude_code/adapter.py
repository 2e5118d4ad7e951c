"""Claude Code's transcript rows as events.

Owns the row types: which are conversation, which are the client's own books, which belong to
a subagent, and how rows hang together (calls and results, branches, turns, epochs). Must not
do I/O, and never raises on a row, whatever is in it.
"""

from collections.abc import Callable
from operator import itemgetter

from holdfast.clients.adapter_base import AdapterBase, list_work
from holdfast.clients.claude_code import background_jobs, prompts, tools, user_text
from holdfast.clients.claude_code.parser_state import ParserState, Usage
from holdfast.clients.claude_code.rows import ROW_PROBE
from holdfast.clients.claude_code.tools import list_events, read_result
from holdfast.clients.claude_code.user_text import USER_TEXT
from holdfast.clients.json_fields import (
    as_count,
    as_id,
    as_object,
    as_objects,
    as_text,
    as_texts,
)
from holdfast.clients.session_rows import Place
from holdfast.clients.tool_calls import read_todos
from holdfast.events import (
    AgentSaid,
    CommandInvoked,
    Compacted,
    Event,
    FileTouched,
    JobStarted,
    LinkSeen,
    ModeSet,
    Origin,
    SessionSeen,
    TitleSet,
    TodosSet,
    UsageMeasured,
    UserSaid,
)
from holdfast.records import Any
from holdfast.transcript.reader import Row

# The client's own books: nothing in them that a session's state needs.
_BOOKKEEPING = frozenset(
    "progress file-history-snapshot file-history-delta continued-in "
    "resume-head-vouch api-request api-request-shape api-request-blob content-replacement "
    "data-flow-records data-flow-incomplete fork-context-ref frame-link memory-mode "
    "artifact-comment-monitor tag relocated agent-name agent-color agent-setting "
    "bridge-session history-suppression attribution-snapshot mode "
    "isolation-latch session-owner dev-mods atis-latch tools-used worktree-state cost-state "
    "observer-ref derived-from ended-by-model artifact-autoreact-ledger repl-mode".split()
)
_CONTEXT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# Where a row's session runs; read at once in half the time of one after the other.
_SESSION = ("sessionId", "cwd", "gitBranch", "version")
_session = itemgetter(*_SESSION)
# A record from its values, a third of the time of calling the class.
_make = tuple.__new__

# Takes a row's data and its origin, and adds the row's events.
Handler = Callable[[dict[str, Any], Origin, list[Event]], None]


class ClaudeCodeAdapter(AdapterBase[ParserState]):
    STATE = ParserState
    id_keys: tuple[str, ...] = ("seen",)

    def __init__(self, parser_state: object = None, *, newest: str = "") -> None:
        super().__init__(parser_state, newest=newest)
        self._conversation: dict[str, Handler] = {
            "user": self._read_user,
            "assistant": self._read_assistant,
            "system": self._read_system,
            "attachment": self._read_attachment,
        }
        self._beside: dict[str, Handler] = {
            "summary": self._summary_title,
            "custom-title": self._read_title,
            "ai-title": self._read_title,
            "pr-link": self._read_link,
            "permission-mode": self._read_mode,
        }

    def remembers(self, row_id: str) -> bool:
        """Whether a row of this id was read lately."""
        return self._state.seen.turn_of(row_id) is not None

    def forget_positions(self) -> None:
        """The rows read so far have moved: the file was written again."""
        self._state.forget_positions()

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        kind = row.data.get("type")
        if not isinstance(kind, str):
            kind = ""
        handler = self._conversation.get(kind)
        if handler is not None:
            at = self._begin_row(row, out)
            if at is not None:
                handler(row.data, at, out)
        elif kind == "queue-operation":
            out += prompts.on_queue_operation(self._state, row.data, self._read_origin(row))
        elif kind == "last-prompt":
            out += prompts.on_last_prompt(self._state, row.data, self._read_origin(row))
        elif kind in self._beside:
            self._beside[kind](row.data, self._read_origin(row), out)
        elif kind not in _BOOKKEEPING:
            self._state.unknown += 1
        return out

    def _read_mode(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        mode = data.get("permissionMode")
        if isinstance(mode, str) and mode and not at.agent:
            out.append(ModeSet(at, mode[:40]))

    def _read_assistant(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        message = as_object(data.get("message"))
        speaks = False
        if not at.agent:
            self._state.turn_open = True
            synthetic = message.get("model") == "<synthetic>"
            speaks = not synthetic and data.get("isApiErrorMessage") is not True
            if speaks:
                self._measure_usage(at, message, as_text(data.get("requestedModel")), out)
        content = message.get("content")
        if not isinstance(content, list):
            content = [{"type": "text", "text": content}]
        for block in content:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use":
                self._read_call(at, block, out)
            elif kind == "text" and speaks:
                said = as_text(block.get("text"))
                if said and said != "(no content)":
                    out.append(AgentSaid(at, said))

    def _measure_usage(
        self, at: Origin, message: dict[str, Any], requested: str, out: list[Event]
    ) -> None:
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        known = self._state.usage
        answer, output = message.get("id"), usage.get("output_tokens")
        if answer == known.answer and output == known.output:
            return  # another row of the same answer
        context = sum(as_count(usage.get(name)) for name in _CONTEXT)
        measured = Usage(as_text(answer), context, as_count(output))
        if context and measured != known:
            self._state.usage = measured
            model = as_text(message.get("model"))
            out.append(UsageMeasured(at, model, context, measured.output, requested))

    def _read_call(self, at: Origin, block: dict[str, Any], out: list[Event]) -> None:
        call_id, name = as_text(block.get("id")), as_text(block.get("name"))
        if not call_id:
            return
        call = self._begin_call(at, call_id, name, as_object(block.get("input")))
        if name in background_jobs.AGENT_TOOLS and not at.agent:
            out.append(background_jobs.on_subagent_call(at, call))

    def _read_user(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        content = as_object(data.get("message")).get("content")
        blocks = as_objects(content)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            structured = as_object(data.get("toolUseResult")) if len(results) == 1 else {}
            for number, block in enumerate(results):
                self._read_result(at, block, structured, number, out)
            if not at.agent and len(results) < len(blocks):
                said = prompts.extract_typed_text(blocks)  # typed while approving the call
                if said:
                    out.append(UserSaid(at, said, "queued"))
        elif not at.agent:
            self._read_mode(data, at, out)
            prompts.on_user_row(self._state, data, at, content, out)

    def _read_result(
        self,
        at: Origin,
        block: dict[str, Any],
        structured: dict[str, Any],
        number: int,
        out: list[Event],
    ) -> None:
        call = self._state.take_call(as_text(block.get("tool_use_id")))
        if call is None:
            return
        result = read_result(block, structured)
        if at.agent or call.agent:
            out += list_work(list_events(at, call, result))
            return
        out.append(tools.describe_call(at, call, result, number))
        if call.name in background_jobs.AGENT_TOOLS:
            if result.failed and user_text.is_refusal(result.shown):
                out += list_events(at, call, result)
            out += background_jobs.on_subagent_result(self._state, at, call, result)
        elif call.name in background_jobs.POLLING_TOOLS:
            out += background_jobs.on_poll_result(self._state, at, call, result)
        elif call.name in background_jobs.STOPPING_TOOLS:
            out += background_jobs.on_stop_result(self._state, at, call, result)
        elif call.name == "Skill" and not result.failed:
            name, arguments = as_text(call.input.get("skill")), as_text(call.input.get("args"))
            name = name or as_text(call.input.get("command"))
            out.append(CommandInvoked(at, name.lstrip("/"), arguments, "agent"))
        else:
            done = list_events(at, call, result)
            for event in done:
                if isinstance(event, JobStarted):
                    self._state.start_job(event.job, call.id, agent=False)
            out += done

    def _read_system(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if at.agent:
            return
        subtype = data.get("subtype")
        if subtype == "compact_boundary":
            self._read_compaction(at, as_object(data.get("compactMetadata")), out)
        elif subtype in ("turn_duration", "stop_hook_summary"):
            self._state.end_turn(at, out)
        elif subtype == "local_command":
            command = user_text.parse_command(as_text(data.get("content")).lstrip())
            if command is not None:
                out.append(CommandInvoked(at, *command, "user"))

    def _read_compaction(self, at: Origin, details: dict[str, Any], out: list[Event]) -> None:
        kept = as_texts(as_object(details.get("preservedMessages")).get("uuids"))
        if not kept:
            segment = as_object(details.get("preservedSegment"))
            ends = (as_text(segment.get("headUuid")), as_text(segment.get("tailUuid")))
            kept = tuple(dict.fromkeys(end for end in ends if end))
        self._state.open_epoch(kept, at.time)
        before, after = (as_count(details.get(f"{name}Tokens")) or None for name in ("pre", "post"))
        out.append(Compacted(at, as_text(details.get("trigger")), before, after, kept))

    def _read_attachment(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if at.agent:
            return
        attached = as_object(data.get("attachment"))
        kind = attached.get("type")
        if kind == "queued_command":
            prompts.on_queued_delivery(self._state, at, attached, out)
        elif kind == "task_reminder":
            out += tools.parse_tasks(at, attached.get("content"))
        elif kind == "todo_reminder" and isinstance(attached.get("content"), list):
            out.append(TodosSet(at, read_todos(attached.get("content"))))
        elif kind == "file":  # mentioned by the user, or shown again after a compaction
            file = as_object(as_object(attached.get("content")).get("file"))
            path = as_text(file.get("filePath")) or as_text(attached.get("filename"))
            if path:
                out.append(FileTouched(at, path, "read", True, as_text(file.get("content"))))
        elif kind == "task_status":
            out += background_jobs.on_status_note(self._state, at, attached)

    def _summary_title(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """A generated title. The client also puts other sessions' ones into a file's head."""
        leaf = data.get("leafUuid")
        if isinstance(leaf, str) and self._state.seen.turn_of(leaf) is not None:
            self._read_title(data, at, out)

    def _read_title(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        custom = as_text(data.get("customTitle"))
        title = custom or as_text(data.get("aiTitle")) or as_text(data.get("summary"))
        if not title or (self._state.has_custom_title and not custom):
            return
        self._state.has_custom_title = bool(custom) or self._state.has_custom_title
        out.append(TitleSet(at, title))

    def _read_link(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        url = as_text(data.get("prUrl"))
        if url:
            number = as_id(data.get("prNumber"))
            label = f"pull request {as_text(data.get('prRepository'))}#{number}"
            out.append(LinkSeen(at, label, url))

    def _begin_row(self, row: Row, out: list[Event]) -> Origin | None:
        """What every conversation row has: its origin (None if seen before), where it ran."""
        data, start, end = row
        parser_state = self._state
        row_id = data.get("uuid")
        if not isinstance(row_id, str):
            row_id = ""
        elif not parser_state.seen.add(row_id, parser_state.turn):
            return None
        time = data.get("timestamp")
        if not isinstance(time, str) or time > self._newest:
            time = ""
        agent = data.get("agentId")
        if agent or data.get("isSidechain"):
            name = as_id(agent) or "sidechain"
            begins = agent and data.get("isSidechain") and data.get("parentUuid") is None
            if begins and not parser_state.latest:  # the first row of a subagent's own transcript
                parser_state.own_agent = name
            if name != parser_state.own_agent:
                return Origin(row_id, start, end, time, name)
        at: Origin = _make(Origin, (row_id, start, end, time, ""))
        if time > parser_state.latest:
            parser_state.latest = time
        elif _is_copy(data, time, parser_state):
            return None
        try:
            session = _session(data)
        except KeyError:
            session = tuple(map(data.get, _SESSION))
        if session != parser_state.session:
            self._read_place(at, session, out)
        return at

    def _read_origin(self, row: Row) -> Origin:
        """Of a row beside the conversation."""
        time = self._plausible(as_text(row.data.get("timestamp")))
        return Origin(as_text(row.data.get("uuid")), row.start, row.end, time)

    def _read_place(self, at: Origin, said: tuple[Any, ...], out: list[Event]) -> None:
        before = self._state.session
        now = Place(*(as_text(new)[:4096] or old for new, old in zip(said, before, strict=True)))
        if now != before:
            self._state.session = now
            client = f"claude-code {now.version}".rstrip()
            # Without a repository the client says HEAD; after a branch it is a detached one.
            branch = "" if now.branch == "HEAD" and before.branch in ("", "HEAD") else now.branch
            out.append(SessionSeen(at, now.session, now.cwd, branch, client))


def _is_copy(data: dict[str, Any], time: str, parser_state: ParserState) -> bool:
    """Whether this row is a copy of an earlier one.

    After a compaction that a plugin had a hand in, the client writes the messages it kept once
    more, with new ids: as they were, at their old times, or built again at the boundary's (both
    seen on 2.1.325). Read again, they would bring back finished tasks. A summary may be as old
    as they are and is not one of them.
    """
    kind = data.get("type")
    answers = parser_state.copied_answers_until if kind == "assistant" else ""
    until = max(parser_state.copied_until, answers)
    if not time or time > until or kind == "system":
        return False
    return data.get("isCompactSummary") is not True


ADAPTER = ClaudeCodeAdapter
__all__ = ["ADAPTER", "ROW_PROBE", "USER_TEXT"]
