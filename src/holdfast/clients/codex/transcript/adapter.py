"""Codex's rollout rows as events.

Owns the row types of both generations: up to 0.140 (`user_message`, `agent_message`, calls and
outputs) and since 0.150 ("paginated": a row for each finished item). The two never tell the same
thing in one rollout, so each row is read for what it is. What stands twice, as a finished item and
as what was sent to the model, is taken from the item. Must not do I/O, and never raises on a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.clients.codex.transcript import work
from holdfast.clients.codex.transcript.compacted_row import read_summary
from holdfast.clients.codex.transcript.parser_state import Call, ParserState, Place
from holdfast.clients.codex.transcript.row_probe import row_id
from holdfast.clients.codex.transcript.user_text import extract_user_text
from holdfast.clients.json_fields import as_count, as_object, as_objects, as_text, compact_json
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    JobEnded,
    JobStarted,
    Origin,
    Rewound,
    Searched,
    SessionSeen,
    SubagentEnded,
    SubagentStarted,
    SummaryGiven,
    ToolRan,
    TurnEnded,
    UsageMeasured,
    UserSaid,
)
from holdfast.transcript.file_chain import REWINDS_TO
from holdfast.transcript.reader import Row

_NO_LIMIT = "\U0010ffff"  # sorts behind any time
# A subagent's own thread: what it did counts, what it was told and said does not.
_DONE_BY_SUBAGENTS = (CommandRan, FileTouched, Searched, ToolRan)
_ENDED_STATES = frozenset(("completed", "errored", "shutdown", "interrupted", "not_found"))
# Rows of these types are known and tell nothing.
_BOOKKEEPING = frozenset(
    "world_state token_usage_record turn_context ghost_snapshot inter_agent_communication".split()
)

# Takes a row's payload and its origin, and adds what the row tells to the events.
Handler = Callable[[dict[str, Any], Origin, list[Event]], None]


class CodexAdapter:
    """See `holdfast.clients.client_protocol.Adapter` for what is promised."""

    id_keys: tuple[str, ...] = ("told",)

    def __init__(self, parser_state: object = None, *, newest: str = "") -> None:
        self._state = ParserState.from_json(parser_state)
        self._newest = newest or _NO_LIMIT
        self._rows: dict[str, Handler] = {
            "session_meta": self._session_meta,
            "turn_context": self._turn_context,
            "event_msg": self._event,
            "response_item": self._response_item,
            "compacted": self._compacted,
        }
        self._events: dict[str, Handler] = {
            "item_completed": self._item_completed,
            "user_message": self._user_message,
            "agent_message": self._agent_message,
            "token_count": self._token_count,
            "task_started": self._turn_started,
            "task_complete": self._turn_ended,
            "turn_aborted": self._turn_ended,
        }
        self._items: dict[str, Handler] = {
            "UserMessage": self._user_item,
            "AgentMessage": self._agent_item,
            "CollabAgentToolCall": self._collaboration,
        }
        self._responses: dict[str, Handler] = {
            "message": self._message,
            "function_call": self._call,
            "custom_tool_call": self._call,
            "local_shell_call": self._call,
            "function_call_output": self._output,
            "custom_tool_call_output": self._output,
        }

    @property
    def unknown_rows(self) -> int:
        return self._state.unknown

    def parser_state(self) -> dict[str, Any]:
        return self._state.to_json()

    def remembers(self, row_id: str) -> bool:
        return row_id in self._state.told

    def forget_positions(self) -> None:
        self._state.read_until = 0

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        data = row.data
        kind = as_text(data.get("type"))
        handler = self._rows.get(kind)
        if REWINDS_TO in data:
            self._rewind(data, self._origin(row), out)
        if handler is not None:
            handler(as_object(data.get("payload")), self._origin(row), out)
        elif kind not in _BOOKKEEPING:
            self._state.unknown += 1
        self._state.read_until = row.end
        if self._state.agent:
            return [e for e in out if isinstance(e, _DONE_BY_SUBAGENTS)]
        return out

    def _origin(self, row: Row) -> Origin:
        time = as_text(row.data.get("timestamp"))
        time = "" if time > self._newest else time
        return Origin(row_id(row.data), row.start, row.end, time, self._state.agent)

    def _rewind(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """A file of the same thread that goes on from an earlier place."""
        start = data[REWINDS_TO]
        # Where those rows were left out already there is nothing to take back.
        if type(start) is int and start < self._state.read_until:
            self._state.calls.clear()
            out.append(Rewound(at, start))

    # ---- the session

    def _session_meta(self, meta: dict[str, Any], at: Origin, out: list[Event]) -> None:
        thread = as_text(meta.get("id"))
        parent = as_text(meta.get("parent_thread_id"))
        is_subagent = meta.get("thread_source") == "subagent" or bool(
            as_object(meta.get("source")).get("subagent")
        )
        self._state.agent = thread or "subagent" if is_subagent else ""
        branch = as_text(as_object(meta.get("git")).get("branch"))
        self._place(
            at,
            Place(
                (parent if is_subagent else "") or thread,
                as_text(meta.get("cwd")),
                branch,
                as_text(meta.get("cli_version")),
            ),
            out,
        )

    def _place(self, at: Origin, said: Place, out: list[Event]) -> None:
        before = self._state.place
        now = Place(*(new[:4096] or old for new, old in zip(said, before, strict=True)))
        if now != before:
            self._state.place = now
            client = f"codex {now.version}".rstrip()
            out.append(SessionSeen(at, now.thread, now.cwd, now.branch, client))

    def _turn_context(self, context: dict[str, Any], at: Origin, out: list[Event]) -> None:
        self._state.model = as_text(context.get("model"))[:200] or self._state.model
        self._place(at, Place(cwd=as_text(context.get("cwd"))), out)

    # ---- events

    def _event(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        handler = self._events.get(as_text(payload.get("type")))
        if handler is not None:
            handler(payload, at, out)

    def _turn_started(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        self._state.window = as_count(payload.get("model_context_window")) or self._state.window
        self._state.turn_open = True

    def _turn_ended(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if self._state.turn_open:
            self._state.turn_open = False
            out.append(TurnEnded(at))

    def _token_count(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        info = as_object(payload.get("info"))
        last = as_object(info.get("last_token_usage"))
        window = as_count(info.get("model_context_window"))
        self._state.window = window or self._state.window
        context = as_count(last.get("total_tokens"))
        so_far = as_count(as_object(info.get("total_token_usage")).get("total_tokens"))
        if not context or (context, so_far) == self._state.usage:
            return  # said again, with the limits of the account
        self._state.usage = (context, so_far)
        output = as_count(last.get("output_tokens"))
        out.append(UsageMeasured(at, self._state.model, context, output, window=self._state.window))

    def _user_message(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """Up to 0.140. The row has no id: the same words at the same time are the same row."""
        said = extract_user_text(as_text(payload.get("message")))
        if said and self._state.told.add(f"{at.time}{len(said)}u"):
            out.append(UserSaid(at, said))

    def _agent_message(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        said = as_text(payload.get("message"))
        if said and self._state.told.add(f"{at.time}{len(said)}a"):
            out.append(AgentSaid(at, said))

    # ---- finished items

    def _item_completed(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        item = as_object(payload.get("item"))
        kind, id_ = as_text(item.get("type")), as_text(item.get("id"))
        if id_ and not self._state.told.add(id_):
            return
        if id_.startswith("exec-"):
            self._state.script_worked = True
        handler = self._items.get(kind)
        if handler is not None:
            if kind == "UserMessage":
                self._state.note_turn(as_text(payload.get("turn_id")))
            handler(item, at, out)
            return
        done = work.list_item_events(at, item)
        if done is None:
            return
        self._state.calls.pop(id_, None)
        if self._state.jobs.pop(id_, None) is not None:
            done = [_job_ended(event, id_) for event in done]
        out += done

    def _user_item(self, item: dict[str, Any], at: Origin, out: list[Event]) -> None:
        said = extract_user_text(work.read_content(item.get("content")))
        if said:
            out.append(UserSaid(at, said))

    def _agent_item(self, item: dict[str, Any], at: Origin, out: list[Event]) -> None:
        said = work.read_content(item.get("content"))
        if said.strip():
            out.append(AgentSaid(at, said))

    def _collaboration(self, item: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """A subagent is started, waited for, spoken to or closed."""
        self._state.calls.pop(as_text(item.get("id")), None)
        if item.get("tool") == "spawn_agent":
            roles = {
                as_text(one.get("thread_id")): one
                for one in as_objects(item.get("receiver_agents"))
            }
            prompt = as_text(item.get("prompt"))
            for agent in _texts(item.get("receiver_thread_ids")):
                told = roles.get(agent, {})
                role, name = as_text(told.get("agent_role")), as_text(told.get("agent_nickname"))
                self._state.reopen_agent(agent)
                out.append(SubagentStarted(at, agent, role, name, prompt, background=True))
        for agent, state in as_object(item.get("agents_states")).items():
            self._agent_state(at, agent, state, out)

    def _agent_state(self, at: Origin, agent: str, state: object, out: list[Event]) -> None:
        """Its state is a word, or an object of one with what the agent said last."""
        word, result = as_text(state), ""
        if isinstance(state, dict):
            word = as_text(state.get("status")) or next(iter(state), "")
            result = as_text(state.get("message")) or as_text(state.get(word))
        if word in _ENDED_STATES and self._state.end_agent(agent):
            out.append(SubagentEnded(at, agent, word in ("completed", "shutdown"), result))

    # ---- what was sent to the model and came back

    def _response_item(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        handler = self._responses.get(as_text(payload.get("type")))
        if handler is not None:
            handler(payload, at, out)

    def _message(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """Words stand in rows of their own; of these only a subagent's end is read."""
        text = work.read_content(payload.get("content")).strip()
        opening, closing = "<subagent_notification>", "</subagent_notification>"
        if payload.get("role") == "user" and text.startswith(opening):
            told = work.parse_json(text.removeprefix(opening).removesuffix(closing))
            agent = as_text(as_object(told).get("agent_path"))
            if agent:
                self._agent_state(at, agent, as_object(told).get("status"), out)

    def _call(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        id_ = as_text(payload.get("call_id"))
        space, name = as_text(payload.get("namespace")), as_text(payload.get("name"))
        asked = as_text(payload.get("arguments")) or as_text(payload.get("input"))
        if payload.get("type") == "local_shell_call":
            name, asked = "local_shell", compact_json(payload.get("action"))
        if not id_:
            return
        if name == work.SCRIPT_TOOL:
            self._state.script_worked = False
        self._state.add_call(Call(id_, f"{space}__{name}" if space else name, asked))

    def _output(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        call = self._state.calls.pop(as_text(payload.get("call_id")), None)
        if call is None or (call.name == work.SCRIPT_TOOL and self._state.script_worked):
            return
        answered = payload.get("output")
        said = work.read_content(answered)
        if isinstance(answered, dict):  # before 0.50 or so
            said = as_text(answered.get("content"))
        done = work.list_call_events(at, call, said, self._state.place.cwd)
        for event in done:
            if isinstance(event, JobStarted):
                self._state.start_job(call.id, event.command)
        out += done

    def _compacted(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if not self._state.told.add(at.row):
            return
        before = self._state.usage[0] or None
        # Which trigger it was is told to the hooks alone.
        out.append(Compacted(at, "", before, None, ()))
        summary = read_summary(payload)
        if summary:
            out.append(SummaryGiven(at, summary))


def _job_ended(event: Event, job: str) -> Event:
    """The end of a command that was left running."""
    if isinstance(event, CommandRan):
        return JobEnded(event.at, job, None if event.interrupted else event.ok, event.output)
    return event


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
