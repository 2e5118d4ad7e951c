"""Claude Code's transcript rows as events.

Owns the row types: which are conversation, which are the client's own books, which belong to
a subagent, and how rows hang together (calls and results, branches, turns, epochs). Must not
do I/O, and never raises on a row, whatever stands in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.clients.claude_code import background, tasks, words
from holdfast.clients.claude_code.fields import (
    count,
    identifier,
    maybe_count,
    object_of,
    objects,
    shown,
    text,
    texts,
)
from holdfast.clients.claude_code.memory import Call, Held, Memory, bounded_input, checksum
from holdfast.clients.claude_code.tools import Result, events_of, todos_set
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
    PlanSet,
    Rewound,
    Searched,
    SessionSeen,
    SummaryGiven,
    TitleSet,
    ToolRan,
    TurnEnded,
    UsageMeasured,
    UserSaid,
)

# The client's own books: nothing in them that a session's state needs.
_BOOKKEEPING = frozenset(
    "progress file-history-snapshot file-history-delta last-prompt continued-in "
    "resume-head-vouch api-request api-request-shape api-request-blob content-replacement "
    "data-flow-records data-flow-incomplete fork-context-ref frame-link memory-mode "
    "artifact-comment-monitor tag relocated agent-name agent-color agent-setting "
    "bridge-session history-suppression attribution-snapshot mode permission-mode "
    "isolation-latch session-owner dev-mods atis-latch tools-used worktree-state cost-state "
    "observer-ref derived-from ended-by-model artifact-autoreact-ledger repl-mode".split()
)
# A subagent's own thread: what it did counts, what it was told and said does not.
_DONE_BY_SUBAGENTS = frozenset({CommandRan, FileTouched, Searched, ToolRan})
# Who a prompt may come from and still be the user's words.
_PEOPLE = frozenset({"", "human", "person", "composer", "voice-call", "remote", "suggestion"})
_RUN_BY_USER = "run by the user"


class Adapter:
    """See `holdfast.clients.protocol.Adapter` for what is promised."""

    def __init__(self, memory: object = None) -> None:
        self._memory = Memory.from_json(memory)
        self._handlers: dict[str, Callable[[Row], list[Event]]] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "attachment": self._attachment,
            "queue-operation": self._queue,
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

    def events(self, row: Row) -> list[Event]:
        kind = row.data.get("type")
        if not isinstance(kind, str):
            self._memory.unknown += 1
            return []
        handler = self._handlers.get(kind)
        if handler is not None:
            return handler(row)
        if kind not in _BOOKKEEPING:
            self._memory.unknown += 1
        return []

    def _assistant(self, row: Row) -> list[Event]:
        at, out = self._begin(row)
        if at is None:
            return out
        data = row.data
        message = object_of(data.get("message"))
        synthetic = message.get("model") == "<synthetic>" or data.get("isApiErrorMessage") is True
        if not at.agent:
            self._memory.turn_open = True
            if not synthetic:
                self._measure(at, message, out)
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in objects(content):
            kind = block.get("type")
            if kind == "tool_use":
                self._call(row, at, block, out)
            elif kind == "text" and not at.agent and not synthetic:
                said = text(block.get("text"))
                if said and said != "(no content)":
                    out.append(AgentSaid(at, said))
        return out

    def _measure(self, at: Origin, message: dict[str, Any], out: list[Event]) -> None:
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        context = (
            count(usage.get("input_tokens"))
            + count(usage.get("cache_creation_input_tokens"))
            + count(usage.get("cache_read_input_tokens"))
        )
        measured = (text(message.get("id")), context, count(usage.get("output_tokens")))
        if context and measured != self._memory.usage:
            self._memory.usage = measured
            out.append(UsageMeasured(at, text(message.get("model")), context, measured[2]))

    def _call(self, row: Row, at: Origin, block: dict[str, Any], out: list[Event]) -> None:
        call_id, name = text(block.get("id")), text(block.get("name"))
        if not call_id:
            return
        asked, size = bounded_input(object_of(block.get("input")), row.end - row.start)
        call = Call(call_id, name, asked, row.start, at.agent, size)
        self._memory.add_call(call)
        if name in background.AGENT_TOOLS and not at.agent:
            out.append(background.subagent_started(at, call))

    def _user(self, row: Row) -> list[Event]:
        at, out = self._begin(row)
        if at is None:
            return out
        data = row.data
        content = object_of(data.get("message")).get("content")
        blocks = objects(content)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            structured = object_of(data.get("toolUseResult")) if len(results) == 1 else {}
            for block in results:
                self._result(at, block, structured, out)
            if not at.agent and len(results) < len(blocks):
                said = _words_in(blocks)  # typed while approving the call
                if said:
                    out.append(UserSaid(at, said, "queued"))
        elif not at.agent:
            self._spoken(row, at, content, out)
        return out

    def _result(
        self, at: Origin, block: dict[str, Any], structured: dict[str, Any], out: list[Event]
    ) -> None:
        call = self._memory.take_call(text(block.get("tool_use_id")))
        if call is None:
            return
        result = Result(shown(block.get("content")), structured, block.get("is_error") is True)
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
            self._flush(None, out)
            self._hold(at, name.lstrip("/"), arguments, "agent", call.id)
        else:
            done = events_of(at, call, result)
            for event in done:
                if isinstance(event, JobStarted):
                    self._memory.start_job(event.job, call.id, agent=False)
            out += done

    def _spoken(self, row: Row, at: Origin, content: object, out: list[Event]) -> None:
        """A user row that is no tool result: a prompt, or one of the client's own notes."""
        data = row.data
        if data.get("isCompactSummary") is True:
            out.append(SummaryGiven(at, words.summary_words(shown(content))))
            return
        self._notice_rewind(row, at, out)
        if (
            data.get("isMeta") is True
            or data.get("isVisibleInTranscriptOnly") is True
            or data.get("isVirtual") is True
        ):
            return
        said = shown(content).lstrip() if isinstance(content, str) else ""
        if said.startswith("<") and self._markup(row, at, said, out):
            return
        if said.startswith("[") and words.is_interruption(said):
            self._end_turn(at, out)
            return
        if text(object_of(data.get("origin")).get("kind")) not in _PEOPLE:
            return
        said = words.user_words(said) if isinstance(content, str) else _words_in(content)
        if not said:
            if isinstance(content, list) and words.is_interruption(shown(content)):
                self._end_turn(at, out)
            return
        memory = self._memory
        memory.open_turn(at.row, row.start)
        memory.turn_open = True
        if memory.delivered:
            memory.delivered = 0
        plan = text(data.get("planContent"))
        if plan:
            out.append(PlanSet(at, plan, "", "approved"))
            said = words.without_plan(said, plan)
        out.append(UserSaid(at, said))

    def _markup(self, row: Row, at: Origin, said: str, out: list[Event]) -> bool:
        """A row that echoes a command or carries a notification; False for anything else."""
        memory = self._memory
        command = words.command_in(said)
        if command is not None:
            if command.name != "compact":  # it stands after the boundary it caused
                memory.open_turn(at.row, row.start)
            if command.expands:
                self._hold(at, command.name, command.arguments, "user", "")
            else:
                out.append(CommandInvoked(at, command.name, command.arguments, "user"))
            return True
        note = words.notification_in(said)
        if note is not None:
            out += background.notified(memory, at, note)
            return True
        if said.startswith("<bash-input>"):
            memory.open_turn(at.row, row.start)
            memory.shell = words.inside(said, "bash-input").strip()
        if (
            "<bash-stdout>" in said[:60]
            or "<bash-stderr>" in said[:60]
            or (memory.shell and "</bash-stdout>" in said)
        ):
            self._shell_ran(at, said, out)
            return True
        return said.startswith("<bash-")

    def _shell_ran(self, at: Origin, said: str, out: list[Event]) -> None:
        command, self._memory.shell = self._memory.shell, ""
        if not command:
            return
        stdout = words.inside(said, "bash-stdout")
        stderr = words.inside(said, "bash-stderr")
        output = f"{stdout}\n{stderr}" if stdout and stderr else stdout or stderr
        # The client does not say how it ended; only errors and nothing else looks like failure.
        ok = bool(stdout.strip()) or not stderr.strip()
        out.append(CommandRan(at, command, output, ok, None, _RUN_BY_USER))

    def _notice_rewind(self, row: Row, at: Origin, out: list[Event]) -> None:
        """A prompt that hangs on a row before an earlier prompt leaves what came after."""
        memory = self._memory
        parent = row.data.get("parentUuid")
        if not isinstance(parent, str):
            return
        turn = memory.seen.turn_of(parent)
        if turn is None or turn >= memory.turn or turn < memory.epoch:
            return
        start = memory.prompts.get(turn + 1)
        if start is None:
            return
        out.append(Rewound(at, start))
        memory.forget_calls(start)
        memory.held, memory.shell = None, ""

    def _system(self, row: Row) -> list[Event]:
        at, out = self._begin(row)
        if at is None or at.agent:
            return out
        data = row.data
        subtype = data.get("subtype")
        if subtype == "compact_boundary":
            self._compacted(at, object_of(data.get("compactMetadata")), out)
        elif subtype in ("turn_duration", "stop_hook_summary"):
            self._end_turn(at, out)
        elif subtype == "local_command":
            command = words.command_in(text(data.get("content")).lstrip())
            if command is not None:
                out.append(CommandInvoked(at, command.name, command.arguments, "user"))
        return out

    def _compacted(self, at: Origin, details: dict[str, Any], out: list[Event]) -> None:
        kept = texts(object_of(details.get("preservedMessages")).get("uuids"))
        if not kept:
            segment = object_of(details.get("preservedSegment"))
            ends = (text(segment.get("headUuid")), text(segment.get("tailUuid")))
            kept = tuple(dict.fromkeys(end for end in ends if end))
        self._memory.open_epoch(kept)
        out.append(
            Compacted(
                at,
                text(details.get("trigger")),
                maybe_count(details.get("preTokens")),
                maybe_count(details.get("postTokens")),
                kept,
            )
        )

    def _end_turn(self, at: Origin, out: list[Event]) -> None:
        if self._memory.turn_open:
            self._memory.turn_open = False
            out.append(TurnEnded(at))

    def _attachment(self, row: Row) -> list[Event]:
        at, out = self._begin(row)
        if at is None or at.agent:
            return out
        attached = object_of(row.data.get("attachment"))
        kind = attached.get("type")
        if kind == "queued_command":
            self._delivered(at, attached, out)
        elif kind == "task_reminder":
            out += tasks.changes(at, attached.get("content"))
        elif kind == "todo_reminder" and isinstance(attached.get("content"), list):
            out.append(todos_set(at, attached.get("content")))
        elif kind == "task_status":
            out += background.status_noted(self._memory, at, attached)
        return out

    def _delivered(self, at: Origin, attached: dict[str, Any], out: list[Event]) -> None:
        """A queued prompt reaches the agent in the middle of a turn."""
        memory = self._memory
        prompt = attached.get("prompt")
        said = shown(prompt)
        note = words.notification_in(said.lstrip())
        if note is not None:
            out += background.notified(memory, at, note)
            return
        waiting = memory.unqueue(said)
        if attached.get("isMeta") is True:
            return
        if text(object_of(attached.get("origin")).get("kind")) not in _PEOPLE:
            return
        if not waiting and memory.delivered == checksum(said):
            memory.delivered = 0  # its removal from the queue told of it before
            return
        own = words.user_words(said) if isinstance(prompt, str) else _words_in(prompt)
        if own:
            out.append(UserSaid(at, own, "queued"))

    def _queue(self, row: Row) -> list[Event]:
        """The prompt queue: what is dequeued gets a row of its own, what is removed none."""
        data, memory = row.data, self._memory
        operation, said = data.get("operation"), text(data.get("content"))
        if operation == "enqueue":
            note = words.notification_in(said.lstrip())
            if note is not None:
                return background.notified(memory, self._origin(row), note)
            if said:
                memory.enqueue(said)
        elif operation == "dequeue":
            if not (said and memory.unqueue(said)):
                del memory.queue[:1]
        elif operation == "popAll":  # the user took them back into the editor
            memory.queue.clear()
        elif operation == "remove":
            said = said or (memory.queue[0] if memory.queue else "")
            # Newer clients say why: anything but delivery means that the user withdrew it.
            delivered = text(data.get("reason")) in ("", "absorbed_mid_turn")
            if memory.unqueue(said) and delivered and not said.startswith("/"):
                own = words.user_words(said)
                memory.delivered = checksum(said)
                return [UserSaid(self._origin(row), own, "queued")] if own else []
        return []

    def _summary_title(self, row: Row) -> list[Event]:
        """A generated title. The client also puts other sessions' ones into a file's head."""
        leaf = row.data.get("leafUuid")
        if not isinstance(leaf, str) or self._memory.seen.turn_of(leaf) is None:
            return []
        return self._title(row)

    def _title(self, row: Row) -> list[Event]:
        data = row.data
        custom = text(data.get("customTitle"))
        title = custom or text(data.get("aiTitle")) or text(data.get("summary"))
        if not title or (self._memory.named and not custom):
            return []
        self._memory.named = bool(custom) or self._memory.named
        return [TitleSet(self._origin(row), title)]

    def _link(self, row: Row) -> list[Event]:
        data = row.data
        url = text(data.get("prUrl"))
        if not url:
            return []
        number = identifier(data.get("prNumber"))
        label = f"pull request {text(data.get('prRepository'))}#{number}"
        return [LinkSeen(self._origin(row), label, url)]

    def _origin(self, row: Row) -> Origin:
        data = row.data
        return Origin(text(data.get("uuid")), row.start, row.end, text(data.get("timestamp")))

    def _begin(self, row: Row) -> tuple[Origin | None, list[Event]]:
        """What every conversation row has: its origin (None if seen before), where it ran."""
        data, start, end = row
        out: list[Event] = []
        memory = self._memory
        row_id = data.get("uuid")
        if not isinstance(row_id, str):
            row_id = ""
        elif not memory.seen.add(row_id, memory.turn):
            return None, out
        agent = data.get("agentId")
        if agent or data.get("isSidechain"):
            agent = identifier(agent) or "sidechain"
            return Origin(row_id, start, end, text(data.get("timestamp")), agent), out
        at = Origin(row_id, start, end, text(data.get("timestamp")))
        session = (
            data.get("sessionId"),
            data.get("cwd"),
            data.get("gitBranch"),
            data.get("version"),
        )
        if session != memory.session:
            self._place(at, session, out)
        if memory.held is not None:
            self._flush(data, out)
        return at, out

    def _place(self, at: Origin, said: tuple[Any, ...], out: list[Event]) -> None:
        before = self._memory.session or ("", "", "", "")
        now = tuple(text(new)[:4096] or old for new, old in zip(said, before, strict=True))
        if now != self._memory.session:
            self._memory.session = now
            client = f"claude-code {now[3]}".rstrip()
            out.append(SessionSeen(at, now[0], now[1], now[2], client))

    def _hold(self, at: Origin, name: str, arguments: str, by: str, call: str) -> None:
        self._memory.held = Held(
            at.row, at.start, at.end, at.time, name, arguments[:32_000], by, call
        )

    def _flush(self, data: dict[str, Any] | None, out: list[Event]) -> None:
        """Tell of the command held back, with its expansion if this row has it."""
        held, self._memory.held = self._memory.held, None
        if held is None:
            return
        body = ""
        if data is not None and data.get("type") == "user" and data.get("isMeta") is True:
            source = text(data.get("sourceToolUseID"))
            if source == held.call or not source:
                body = shown(object_of(data.get("message")).get("content"))
        at = Origin(held.row, held.start, held.end, held.time)
        out.append(CommandInvoked(at, held.name, held.arguments, held.by, body))


def _words_in(content: object) -> str:
    """The user's words in a row of blocks; each block is judged by itself."""
    found = []
    for block in objects(content):
        if block.get("type") == "text":
            said = words.user_words(text(block.get("text")))
            if said:
                found.append(said)
    return "\n".join(found)
