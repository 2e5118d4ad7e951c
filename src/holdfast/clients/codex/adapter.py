"""Codex's rollout rows as events.

Owns the row types of both generations: up to 0.140 (`user_message`, `agent_message`, calls and
outputs) and since 0.150 ("paginated": a row for each finished item). The two never say the same
thing in one rollout, so each row is read for what it is. What is there twice, as a finished item
and as sent to the model, is taken from the item. Must not do I/O, and never raises on a row.
"""

import os
import re
from collections.abc import Callable, Mapping

from holdfast.clients.adapter_base import list_work
from holdfast.clients.client_protocol import LeftInContext, Resumable, UserText
from holdfast.clients.codex import tools
from holdfast.clients.codex.tools import read_content
from holdfast.clients.json_fields import (
    as_count,
    as_object,
    as_objects,
    as_text,
    as_texts,
    compact_json,
    parse_json,
)
from holdfast.clients.session_rows import Place, RowsAdapter, RowsState, read_last_row
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Event,
    JobEnded,
    JobStarted,
    ModeSet,
    Origin,
    Rewound,
    SubagentEnded,
    SubagentStarted,
    UserSaid,
)
from holdfast.records import Any
from holdfast.transcript.file_chain import REWINDS_TO
from holdfast.transcript.reader import Row

SUMMARY_OPENING = "Another language model started to solve this problem and produced a summary"
_SUMMARY_BEGINS = "use the information in this summary to assist with your own analysis:\n"
# What an editor puts before the prompt; the prompt follows the last of these.
_EDITOR_OPENING = "# Context from my IDE setup:"
_EDITOR_PROMPT = "## My request for Codex:"


class CodexText(UserText):
    """Rows say whose words they are (`provenance`, finished items). Telling them by their text is
    for those that come without a row: prompts in payloads, kept messages of a compaction.
    """

    CLIENT_OPENINGS = (
        SUMMARY_OPENING,
        "<environment_context>",
        "<permissions instructions>",
        "<skills_instructions>",
        "<skill>",
        "<subagent_notification>",
        "<turn_aborted>",
        "<user_instructions>",
        "<user_shell_command>",
        "<hook_",
        "# AGENTS.md instructions",
    )

    def extract_user_text(self, text: str) -> str:
        text = text.strip()
        if text.startswith(_EDITOR_OPENING):
            text = text.partition(_EDITOR_PROMPT)[2]
        return super().extract_user_text(text)

    def strip_summary_frame(self, text: str) -> str:
        """The summary itself, without the lines that the client puts before it."""
        rest = text.partition(_SUMMARY_BEGINS)[2] if text.startswith(SUMMARY_OPENING) else ""
        return rest.strip() or text.strip()


# Rows of which no event comes.
_UNREAD = re.compile(
    rb'\{"timestamp":"[^"\\]{1,40}",(?:"ordinal":\d{1,12},)?"type":"'
    rb"(?:world_state|token_usage_record"
    rb'|response_item","payload":\{"type":"reasoning'
    rb'|event_msg","payload":\{"type":"thread_settings_applied)"'
)


class CodexRows(Resumable):
    """The `compacted` row has the summary and the messages that stay beside it. With OpenAI's own
    service the summary is encrypted and `message` is empty; the user's messages, the newest 20,000
    tokens of them, stay readable. A window that is reset (`features.token_budget`) has neither.
    """

    RESUME_COMMAND, OUTPUT_KEY = "codex resume", "output"
    ID_FIELDS = ("id", "window_id", "call_id", "timestamp")
    BOUNDARY_MARK = b'"compacted"'

    def is_boundary(self, data: dict[str, Any]) -> bool:
        return data.get("type") == "compacted" and isinstance(data.get("payload"), dict)

    def row_id(self, data: dict[str, Any]) -> str:
        """What the row is known by: a finished item's id, a message's or call's, a window's.

        Rows of versions before 0.150 have none of them: then the time, to the millisecond.
        """
        payload = as_object(data.get("payload"))
        if data.get("type") == "compacted":
            found = as_text(payload.get("window_id"))
        else:
            item = as_object(payload.get("item"))
            ids = (item.get("id"), payload.get("id"), payload.get("call_id"))
            found = next(filter(None, map(as_text, ids)), "")
        return found or as_text(data.get("timestamp"))

    def is_unread(self, line: bytes) -> bool:
        return _UNREAD.match(line) is not None and line.endswith((b"}\n", b"}"))

    def last_compaction(self, path: str) -> LeftInContext | None:
        payload = as_object(read_last_row(path, _ROW, head=200).get("payload"))
        if not payload:
            return None
        left = as_objects(payload.get("replacement_history"))
        # One was made, readable or sealed.
        has_summary = payload.get("message") or any(m.get("type") == "compaction" for m in left)
        users = (m for m in left if (m.get("type"), m.get("role")) == ("message", "user"))
        kept = (USER_TEXT.extract_user_text(read_content(m.get("content"))) for m in users)
        return LeftInContext(read_summary(payload), tuple(filter(None, kept)), bool(has_summary))

    def name_file(self, transcript: str, old: str, new: str) -> str:
        """`rollout-<time>-<id>.jsonl`, in the folder of its day."""
        folder, name = os.path.split(transcript)
        return os.path.join(folder, name.replace(old, new))

    def rename_session(self, line: bytes, old: str, new: str) -> bytes:
        """Ids are nowhere else than where the client put them: no word is as long. How full the
        window was goes: the client would compact at once, however much was left out since.
        """
        return (
            b"" if _COUNTED.match(line) else line.replace(f'"{old}"'.encode(), f'"{new}"'.encode())
        )

    def list_outputs(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        payload = as_object(row.get("payload"))
        is_output = row.get("type") == "response_item" and payload.get("type") in _OUTPUTS
        return [payload] if is_output else []

    def is_of_compaction(self, row: dict[str, Any], boundary: dict[str, Any]) -> bool:
        said = as_object(row.get("payload"))
        summary = as_text(as_object(boundary.get("payload")).get("message"))
        if (said.get("type"), said.get("role")) != ("message", "assistant") or not summary:
            return False
        text = read_content(said.get("content")).strip()
        return bool(text) and text in summary


ROW_PROBE, USER_TEXT = CodexRows(), CodexText()
_ROW = b'"type":"compacted","payload":'
_COUNTED = re.compile(
    rb'\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"'
    rb'(?:token_usage_record"|event_msg","payload":\{"type":"token_count")'
)
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def read_summary(payload: dict[str, Any]) -> str:
    """ "" where it cannot be read."""
    return USER_TEXT.strip_summary_frame(as_text(payload.get("message")))


_ENDED_STATES = frozenset(("completed", "errored", "shutdown", "interrupted", "not_found"))
# Rows of these types are known and mean nothing.
_BOOKKEEPING = frozenset(
    "event_msg response_item world_state token_usage_record ghost_snapshot"
    " inter_agent_communication".split()
)


class ParserState(RowsState):
    """`rows` are items and words that were turned into events."""

    def __init__(self) -> None:
        super().__init__()
        self.agent = ""  # the subagent whose file this is
        self.model = ""
        self.window = 0
        self.used_so_far = 0  # tokens of all answers
        self.script_worked = False  # the running script has done something that has its own row
        self.read_until = 0  # the position behind the last row


class CodexAdapter(RowsAdapter[ParserState]):
    STATE = ParserState
    CLIENT = "codex"

    def forget_positions(self) -> None:
        self._state.read_until = 0

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        data = row.data
        kind, payload = as_text(data.get("type")), as_object(data.get("payload"))
        if REWINDS_TO in data:
            self._go_back(data, self._read_origin(row), out)
        handler = _HANDLERS.get(kind) or _HANDLERS.get(f"{kind} {as_text(payload.get('type'))}")
        if handler is not None:
            handler(self, payload, self._read_origin(row), out)
        elif kind not in _BOOKKEEPING:
            self._state.unknown += 1
        self._state.read_until = row.end
        return list_work(out) if self._state.agent else out

    def _read_origin(self, row: Row) -> Origin:
        time = self._plausible(as_text(row.data.get("timestamp")))
        return Origin(ROW_PROBE.row_id(row.data), row.start, row.end, time, self._state.agent)

    def _go_back(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """A file of the same thread that goes on from an earlier place."""
        start = data[REWINDS_TO]
        # Where those rows were left out already there is nothing to take back.
        if type(start) is int and start < self._state.read_until:
            self._state.forget_calls()
            out.append(Rewound(at, start))

    def _session_meta(self, meta: dict[str, Any], at: Origin, out: list[Event]) -> None:
        thread = as_text(meta.get("id"))
        parent = as_text(meta.get("parent_thread_id"))
        is_subagent = meta.get("thread_source") == "subagent" or bool(
            as_object(meta.get("source")).get("subagent")
        )
        self._state.agent = thread or "subagent" if is_subagent else ""
        branch = as_text(as_object(meta.get("git")).get("branch"))
        session = (parent if is_subagent else "") or thread
        cwd, version = as_text(meta.get("cwd")), as_text(meta.get("cli_version"))
        self._announce_session(at, Place(session, cwd, branch, version), out)

    def _turn_context(self, context: dict[str, Any], at: Origin, out: list[Event]) -> None:
        self._state.model = as_text(context.get("model"))[:200] or self._state.model
        self._announce_session(at, Place(cwd=as_text(context.get("cwd"))), out)
        plans = as_object(context.get("collaboration_mode")).get("mode") == "plan"
        sandbox = as_text(as_object(context.get("sandbox_policy")).get("type"))
        if plans or sandbox:
            out.append(ModeSet(at, "plan" if plans else sandbox[:40]))

    def _turn_started(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        self._state.window = as_count(payload.get("model_context_window")) or self._state.window
        self._state.turn_open = True

    def _turn_ended(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        self._state.end_turn(at, out)

    def _token_count(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        info = as_object(payload.get("info"))
        last = as_object(info.get("last_token_usage"))
        window = as_count(info.get("model_context_window"))
        self._state.window = window or self._state.window
        context = as_count(last.get("total_tokens"))
        so_far = as_count(as_object(info.get("total_token_usage")).get("total_tokens"))
        if (context, so_far) == (self._state.used, self._state.used_so_far):
            return  # said again, with the limits of the account
        self._state.used_so_far = so_far
        tokens = context, as_count(last.get("output_tokens"))
        self._measure_usage(at, self._state.model, tokens, self._state.window, out)

    def _older_message(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """Up to 0.140. The row has no id: the same words at the same time are the same row."""
        said, by_user = as_text(payload.get("message")), payload.get("type") == "user_message"
        said = USER_TEXT.extract_user_text(said) if by_user else said
        if said and self._state.add_row(f"{at.time}{len(said)}{'u' if by_user else 'a'}"):
            self._add_words(at, said, by_user, out)

    def _add_words(self, at: Origin, said: str, by_user: bool, out: list[Event]) -> None:
        said = USER_TEXT.extract_user_text(said) if by_user else said
        if said.strip():
            out.append(UserSaid(at, said) if by_user else AgentSaid(at, said))

    def _item_completed(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        item = as_object(payload.get("item"))
        kind, id_ = as_text(item.get("type")), as_text(item.get("id"))
        if id_ and not self._state.add_row(id_):
            return
        if id_.startswith("exec-"):
            self._state.script_worked = True
        if kind == "CollabAgentToolCall":
            self._read_collaboration(item, at, out)
            return
        if kind in ("UserMessage", "AgentMessage"):
            if kind == "UserMessage":
                self._state.note_prompt_id(as_text(payload.get("turn_id")))
            self._add_words(at, tools.read_content(item.get("content")), kind == "UserMessage", out)
            return
        if kind not in tools.ITEMS:
            return
        done = tools.ITEMS[kind](at, item)
        self._state.take_call(id_)
        if self._state.jobs.pop(id_, None) is not None:
            done = [_job_ended(event, id_) for event in done]
        out += done

    def _read_collaboration(self, item: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """A subagent is started, waited for, spoken to or closed."""
        self._state.take_call(as_text(item.get("id")))
        if item.get("tool") == "spawn_agent":
            roles = {
                as_text(one.get("thread_id")): one
                for one in as_objects(item.get("receiver_agents"))
            }
            prompt = as_text(item.get("prompt"))
            for agent in as_texts(item.get("receiver_thread_ids")):
                told = roles.get(agent, {})
                role, name = as_text(told.get("agent_role")), as_text(told.get("agent_nickname"))
                self._state.start_job(agent, agent, agent=True)
                out.append(SubagentStarted(at, agent, role, name, prompt))
        for agent, state in as_object(item.get("agents_states")).items():
            self._agent_state(at, agent, state, out)

    def _agent_state(self, at: Origin, agent: str, state: object, out: list[Event]) -> None:
        """Its state is a word, or an object of one with what the agent said last."""
        word, result = as_text(state), ""
        if isinstance(state, dict):
            word = as_text(state.get("status")) or next(iter(state), "")
            result = as_text(state.get("message")) or as_text(state.get(word))
        if word in _ENDED_STATES and self._state.end_job(agent):
            out.append(SubagentEnded(at, agent, word in ("completed", "shutdown"), result))

    def _read_message(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        """Words are in rows of their own; of these only a subagent's end is read."""
        text = tools.read_content(payload.get("content")).strip()
        opening, closing = "<subagent_notification>", "</subagent_notification>"
        if payload.get("role") == "user" and text.startswith(opening):
            told = parse_json(text.removeprefix(opening).removesuffix(closing))
            agent = as_text(as_object(told).get("agent_path"))
            if agent:
                self._agent_state(at, agent, as_object(told).get("status"), out)

    def _read_call(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        id_ = as_text(payload.get("call_id"))
        space, name = as_text(payload.get("namespace")), as_text(payload.get("name"))
        asked = as_text(payload.get("arguments")) or as_text(payload.get("input"))
        if payload.get("type") == "local_shell_call":
            name, asked = "local_shell", compact_json(payload.get("action"))
        if not id_:
            return
        if name == tools.SCRIPT_TOOL:
            self._state.script_worked = False
        given = parse_json(asked)
        given = given if isinstance(given, dict) else {"input": asked}
        self._begin_call(at, id_, f"{space}__{name}" if space else name, given)

    def _read_output(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        call = self._state.take_call(as_text(payload.get("call_id")))
        if call is None or (call.name == tools.SCRIPT_TOOL and self._state.script_worked):
            return
        answered = payload.get("output")
        said = tools.read_content(answered)
        if isinstance(answered, dict):  # before 0.50 or so
            said = as_text(answered.get("content"))
        done = tools.list_call_events(at, call, said, self._state.place.cwd)
        for event in done:
            if isinstance(event, JobStarted):
                self._state.start_job(call.id, call.id, agent=False)
        out += done

    def _read_compaction(self, payload: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if self._state.add_row(at.row):
            # Only hooks are given the trigger.
            self._tell_compaction(at, "", read_summary(payload), out)


def _job_ended(event: Event, job: str) -> Event:
    """The end of a command that was left running."""
    if isinstance(event, CommandRan):
        return JobEnded(event.at, job, None if event.interrupted else event.ok, event.output)
    return event


# By a row's type, or by that and its payload's; takes the payload and its origin, and adds what the
# row tells to the events.
_HANDLERS: Mapping[str, Callable[[CodexAdapter, dict[str, Any], Origin, list[Event]], None]] = {
    "session_meta": CodexAdapter._session_meta,
    "turn_context": CodexAdapter._turn_context,
    "compacted": CodexAdapter._read_compaction,
    "event_msg item_completed": CodexAdapter._item_completed,
    "event_msg user_message": CodexAdapter._older_message,
    "event_msg agent_message": CodexAdapter._older_message,
    "event_msg token_count": CodexAdapter._token_count,
    "event_msg task_started": CodexAdapter._turn_started,
    "event_msg task_complete": CodexAdapter._turn_ended,
    "event_msg turn_aborted": CodexAdapter._turn_ended,
    "response_item message": CodexAdapter._read_message,
    "response_item function_call": CodexAdapter._read_call,
    "response_item custom_tool_call": CodexAdapter._read_call,
    "response_item local_shell_call": CodexAdapter._read_call,
    "response_item function_call_output": CodexAdapter._read_output,
    "response_item custom_tool_call_output": CodexAdapter._read_output,
}
ADAPTER = CodexAdapter
