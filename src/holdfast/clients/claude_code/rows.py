"""Claude Code's transcript rows as events.

Owns the row types: which are conversation, which are the client's own books, which belong to
a subagent, and how rows hang together (calls and results, branches, turns, epochs). Must not
do I/O, and never raises on a row, whatever stands in it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from holdfast.clients.claude_code import background, prompts, tasks, words
from holdfast.clients.claude_code.fields import (
    count,
    identifier,
    maybe_count,
    object_of,
    objects,
    text,
    texts,
)
from holdfast.clients.claude_code.memory import Call, Memory, bounded_input
from holdfast.clients.claude_code.tools import events_of, result_of, todos_set
from holdfast.clients.protocol import Row
from holdfast.events import (
    AgentSaid,
    CommandInvoked,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    JobStarted,
    LinkSeen,
    Origin,
    Searched,
    SessionSeen,
    TitleSet,
    ToolRan,
    UsageMeasured,
    UserSaid,
)

# The client's own books: nothing in them that a session's state needs.
_BOOKKEEPING = frozenset(
    "progress file-history-snapshot file-history-delta continued-in "
    "resume-head-vouch api-request api-request-shape api-request-blob content-replacement "
    "data-flow-records data-flow-incomplete fork-context-ref frame-link memory-mode "
    "artifact-comment-monitor tag relocated agent-name agent-color agent-setting "
    "bridge-session history-suppression attribution-snapshot mode permission-mode "
    "isolation-latch session-owner dev-mods atis-latch tools-used worktree-state cost-state "
    "observer-ref derived-from ended-by-model artifact-autoreact-ledger repl-mode".split()
)
# Where a row's session runs; read at once in half the time of one after the other.
_SESSION = ("sessionId", "cwd", "gitBranch", "version")
_session = itemgetter(*_SESSION)
# A record from its values, a third of the time of calling the class.
_make = tuple.__new__
_NO_LIMIT = "\U0010ffff"  # sorts behind any time
# A subagent's own thread: what it did counts, what it was told and said does not.
_DONE_BY_SUBAGENTS = frozenset({CommandRan, FileTouched, Searched, ToolRan})

# Takes a row's data and its origin, and adds what the row tells to the events.
Handler = Callable[[dict[str, Any], Origin, list[Event]], None]


class Adapter:
    """See `holdfast.clients.protocol.Adapter` for what is promised."""

    def __init__(self, memory: object = None, *, newest: str = "") -> None:
        """`newest` is the latest time that a row can have; one that claims a later has none."""
        self._memory = Memory.from_json(memory)
        self._newest = newest or _NO_LIMIT
        self._conversation: dict[str, Handler] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "attachment": self._attachment,
        }
        self._beside: dict[str, Handler] = {
            "queue-operation": self._queue,
            "last-prompt": self._bookmark,
            "summary": self._summary_title,
            "custom-title": self._title,
            "ai-title": self._title,
            "pr-link": self._link,
        }

    @property
    def unknown_rows(self) -> int:
        """Rows of a type this adapter has never heard of, since the transcript's start."""
        return self._memory.unknown

    def memory(self) -> dict[str, Any]:
        return self._memory.to_json()

    def remembers(self, row_id: str) -> bool:
        """Whether a row of this id was read lately."""
        return self._memory.seen.turn_of(row_id) is not None

    def forget_positions(self) -> None:
        """The rows read so far stand elsewhere now: the file was written anew."""
        self._memory.forget_positions()

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        kind = row.data.get("type")
        if not isinstance(kind, str):
            kind = ""
        handler = self._conversation.get(kind)
        if handler is not None:
            at = self._begin(row, out)
            if at is not None:
                handler(row.data, at, out)
        elif kind in self._beside:
            self._beside[kind](row.data, self._origin(row), out)
        elif kind not in _BOOKKEEPING:
            self._memory.unknown += 1
        return out

    def _assistant(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        message = object_of(data.get("message"))
        speaks = False
        if not at.agent:
            self._memory.turn_open = True
            synthetic = message.get("model") == "<synthetic>"
            speaks = not synthetic and data.get("isApiErrorMessage") is not True
            if speaks:
                self._measure(at, message, text(data.get("requestedModel")), out)
        content = message.get("content")
        if not isinstance(content, list):
            content = [{"type": "text", "text": content}]
        for block in content:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use":
                self._call(at, block, out)
            elif kind == "text" and speaks:
                said = text(block.get("text"))
                if said and said != "(no content)":
                    out.append(AgentSaid(at, said))

    def _measure(
        self, at: Origin, message: dict[str, Any], requested: str, out: list[Event]
    ) -> None:
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        known = self._memory.usage
        answer, output = message.get("id"), usage.get("output_tokens")
        if answer == known[0] and output == known[2]:
            return  # another row of the same answer
        context = (
            count(usage.get("input_tokens"))
            + count(usage.get("cache_creation_input_tokens"))
            + count(usage.get("cache_read_input_tokens"))
        )
        measured = (text(answer), context, count(output))
        if context and measured != known:
            self._memory.usage = measured
            model = text(message.get("model"))
            out.append(UsageMeasured(at, model, context, measured[2], requested))

    def _call(self, at: Origin, block: dict[str, Any], out: list[Event]) -> None:
        call_id, name = text(block.get("id")), text(block.get("name"))
        if not call_id:
            return
        asked, size = bounded_input(object_of(block.get("input")), at.end - at.start)
        call: Call = _make(Call, (call_id, name, asked, at.start, at.agent, size))
        self._memory.add_call(call)
        if name in background.AGENT_TOOLS and not at.agent:
            out.append(background.subagent_started(at, call))

    def _user(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        content = object_of(data.get("message")).get("content")
        blocks = objects(content)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            structured = object_of(data.get("toolUseResult")) if len(results) == 1 else {}
            for block in results:
                self._result(at, block, structured, out)
            if not at.agent and len(results) < len(blocks):
                said = prompts.words_in(blocks)  # typed while approving the call
                if said:
                    out.append(UserSaid(at, said, "queued"))
        elif not at.agent:
            prompts.spoken(self._memory, data, at, content, out)

    def _result(
        self, at: Origin, block: dict[str, Any], structured: dict[str, Any], out: list[Event]
    ) -> None:
        call = self._memory.take_call(text(block.get("tool_use_id")))
        if call is None:
            return
        result = result_of(block, structured)
        if at.agent or call.agent:
            done = events_of(at, call, result)
            out += [event for event in done if type(event) in _DONE_BY_SUBAGENTS]
        elif call.name in background.AGENT_TOOLS:
            if result.failed and words.is_refusal(result.shown):
                out += events_of(at, call, result)
            out += background.subagent_answered(self._memory, at, call, result)
        elif call.name in background.ASKING_TOOLS:
            out += background.asked_after(self._memory, at, call, result)
        elif call.name in background.STOPPING_TOOLS:
            out += background.stopped(self._memory, at, call, result)
        elif call.name == "Skill" and not result.failed:
            name, arguments = text(call.input.get("skill")), text(call.input.get("args"))
            name = name or text(call.input.get("command"))
            prompts.tell_command(self._memory, {}, out)
            prompts.hold_command(self._memory, at, name.lstrip("/"), arguments, "agent", call.id)
        else:
            done = events_of(at, call, result)
            for event in done:
                if isinstance(event, JobStarted):
                    self._memory.start_job(event.job, call.id, agent=False)
            out += done

    def _system(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if at.agent:
            return
        subtype = data.get("subtype")
        if subtype == "compact_boundary":
            self._compacted(at, object_of(data.get("compactMetadata")), out)
        elif subtype in ("turn_duration", "stop_hook_summary"):
            prompts.end_turn(self._memory, at, out)
        elif subtype == "local_command":
            command = words.command_in(text(data.get("content")).lstrip())
            if command is not None:
                out.append(CommandInvoked(at, command.name, command.arguments, "user"))

    def _compacted(self, at: Origin, details: dict[str, Any], out: list[Event]) -> None:
        kept = texts(object_of(details.get("preservedMessages")).get("uuids"))
        if not kept:
            segment = object_of(details.get("preservedSegment"))
            ends = (text(segment.get("headUuid")), text(segment.get("tailUuid")))
            kept = tuple(dict.fromkeys(end for end in ends if end))
        self._memory.open_epoch(kept, at.time)
        out.append(
            Compacted(
                at,
                text(details.get("trigger")),
                maybe_count(details.get("preTokens")),
                maybe_count(details.get("postTokens")),
                kept,
            )
        )

    def _attachment(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if at.agent:
            return
        attached = object_of(data.get("attachment"))
        kind = attached.get("type")
        if kind == "queued_command":
            prompts.delivered(self._memory, at, attached, out)
        elif kind == "task_reminder":
            out += tasks.changes(at, attached.get("content"))
        elif kind == "todo_reminder" and isinstance(attached.get("content"), list):
            out.append(todos_set(at, attached.get("content")))
        elif kind == "file":  # mentioned by the user, or shown again after a compaction
            file = object_of(object_of(attached.get("content")).get("file"))
            path = text(file.get("filePath")) or text(attached.get("filename"))
            if path:
                out.append(FileTouched(at, path, "read", True, text(file.get("content"))))
        elif kind == "task_status":
            out += background.status_noted(self._memory, at, attached)

    def _queue(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        out += prompts.queued(self._memory, data, at)

    def _bookmark(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        out += prompts.marked(self._memory, data, at)

    def _summary_title(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """A generated title. The client also puts other sessions' ones into a file's head."""
        leaf = data.get("leafUuid")
        if isinstance(leaf, str) and self._memory.seen.turn_of(leaf) is not None:
            self._title(data, at, out)

    def _title(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        custom = text(data.get("customTitle"))
        title = custom or text(data.get("aiTitle")) or text(data.get("summary"))
        if not title or (self._memory.named and not custom):
            return
        self._memory.named = bool(custom) or self._memory.named
        out.append(TitleSet(at, title))

    def _link(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        url = text(data.get("prUrl"))
        if url:
            number = identifier(data.get("prNumber"))
            label = f"pull request {text(data.get('prRepository'))}#{number}"
            out.append(LinkSeen(at, label, url))

    def _begin(self, row: Row, out: list[Event]) -> Origin | None:
        """What every conversation row has: its origin (None if seen before), where it ran."""
        data, start, end = row
        memory = self._memory
        row_id = data.get("uuid")
        if not isinstance(row_id, str):
            row_id = ""
        elif not memory.seen.add(row_id, memory.turn):
            return None
        time = data.get("timestamp")
        if not isinstance(time, str) or time > self._newest:
            time = ""
        agent = data.get("agentId")
        if agent or data.get("isSidechain"):
            return Origin(row_id, start, end, time, identifier(agent) or "sidechain")
        at: Origin = _make(Origin, (row_id, start, end, time, ""))
        if time > memory.latest:
            memory.latest = time
        elif _is_copy(data, time, memory):
            return None
        try:
            session = _session(data)
        except KeyError:
            session = tuple(map(data.get, _SESSION))
        if session != memory.session:
            self._place(at, session, out)
        if memory.held is not None:
            prompts.tell_command(memory, data, out)
        return at

    def _origin(self, row: Row) -> Origin:
        """Of a row beside the conversation."""
        time = text(row.data.get("timestamp"))
        time = "" if time > self._newest else time
        return Origin(text(row.data.get("uuid")), row.start, row.end, time)

    def _place(self, at: Origin, said: tuple[Any, ...], out: list[Event]) -> None:
        before = self._memory.session or ("", "", "", "")
        now = tuple(text(new)[:4096] or old for new, old in zip(said, before, strict=True))
        if now != before:
            self._memory.session = now
            client = f"claude-code {now[3]}".rstrip()
            # Without a repository the client says HEAD; after a branch it is a detached one.
            branch = "" if now[2] == "HEAD" and before[2] in ("", "HEAD") else now[2]
            out.append(SessionSeen(at, now[0], now[1], branch, client))


def _is_copy(data: dict[str, Any], time: str, memory: Memory) -> bool:
    """Whether this row stands here for the second time.

    After a compaction that a plugin had a hand in, the client writes the messages it kept once
    more, with new ids: as they were, at their old times, or built anew at the boundary's (both
    seen on 2.1.325). Told again, they would bring back finished tasks. A summary may be as old
    as they are and is none of them.
    """
    kind = data.get("type")
    until = max(memory.copies, memory.answers) if kind == "assistant" else memory.copies
    if not time or time > until or kind == "system":
        return False
    return data.get("isCompactSummary") is not True
