"""Gemini CLI's rows as events.

The file is a log of edits: a message is stated, and stated again when its calls have ended; a list
of messages takes the place of all before it. What was read is known by its id, a call by the
call's. Of a list only a compression counts: the messages that it keeps get new ids and are
those that were read before. Must not do I/O, and never raises on a row.
"""

import re
from collections.abc import Mapping
from itertools import takewhile

from holdfast.clients import tool_calls
from holdfast.clients.adapter_base import list_work
from holdfast.clients.client_protocol import RowProbe, UserText
from holdfast.clients.gemini.hooks import HOOKS
from holdfast.clients.json_fields import (
    as_count,
    as_object,
    as_objects,
    as_text,
    compact_json,
    parse_json,
)
from holdfast.clients.session_rows import Place, RowsAdapter, RowsState
from holdfast.clients.tool_calls import Handler, ToolCall, parse_diff
from holdfast.events import AgentSaid, Event, Origin, PlanSet, Rewound, UserSaid
from holdfast.records import Any, ClassVar, NamedTuple
from holdfast.text import remove_blocks
from holdfast.transcript.reader import Row

SESSION_CONTEXT = "<session_context>"
_HOOK_CONTEXT = "hook_context"  # the tag around what hooks said
SNAPSHOT, SNAPSHOT_END = "<state_snapshot>", "</state_snapshot>"
# What the client has the model say to the summary that it puts before the kept messages.
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
# Said by the client alone, and the whole of the message.
_CLIENT_SENTENCES = frozenset(("Please continue.", "System: Please continue."))


def strip_hook_context(text: str) -> str:
    """The text without what hooks said in it."""
    rest = remove_blocks(text, _HOOK_CONTEXT)
    return text if rest == text else rest.strip()


class GeminiText(UserText):
    CLIENT_OPENINGS = (SESSION_CONTEXT, SNAPSHOT, "<scratchpad>", f"<{_HOOK_CONTEXT}>")

    def extract_user_text(self, text: str) -> str:
        text = super().extract_user_text(strip_hook_context(text))
        return "" if text in _CLIENT_SENTENCES else text

    def is_typed_opening(self, opening: str) -> bool:
        """Behind the context of hooks there may be."""
        return opening.startswith(f"<{_HOOK_CONTEXT}>") or super().is_typed_opening(opening)

    def strip_summary_frame(self, text: str) -> str:
        """The summary itself, without the model's notes before it."""
        _, found, rest = text.partition(SNAPSHOT)
        return rest.partition(SNAPSHOT_END)[0].strip() if found else text.strip()


USER_TEXT = GeminiText()
_DIRECTORIES = "**Workspace Directories:**"
_MAX_BEFORE_SUMMARY = 3  # the context of the session, and whatever a version puts beside it


class Summary(NamedTuple):
    id: str
    text: str  # as it is in context, notes and all
    kept: list[dict[str, Any]]  # the messages behind it


def list_replaced(data: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The messages that a row puts in the place of all before; None for any other row."""
    change = data.get("$set")
    if not isinstance(change, dict) or not isinstance(change.get("messages"), list):
        return None
    return as_objects(change["messages"])


def find_summary(messages: list[dict[str, Any]]) -> Summary | None:
    """The summary that replaces what was compressed."""
    for place, message in enumerate(messages[:_MAX_BEFORE_SUMMARY]):
        text, after = read_text(message), messages[place + 1 : place + 2]
        if message.get("type") != "user" or text.startswith(SESSION_CONTEXT):
            continue
        answered = bool(after) and read_text(after[0]).startswith(ACKNOWLEDGED)
        if answered and (SNAPSHOT in text or place > 0):
            return Summary(as_text(message.get("id")), text, messages[place + 2 :])
    return None


def read_text(message: dict[str, Any]) -> str:
    """All text of a message; its calls and what they gave are left out."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = (
        part if isinstance(part, str) else as_text(as_object(part).get("text")) for part in parts
    )
    return "\n".join(text for text in texts if text)


def read_typed(message: dict[str, Any]) -> str:
    """The user's own words in a message of type "user"; "" where all of it is the client's."""
    shown = message.get("displayContent")
    typed = read_text({"content": shown}) if shown else read_text(message)
    return USER_TEXT.extract_user_text(typed)


def read_workspace(text: str) -> str:
    """The folder that the context of the session names first; "" for any other text."""
    if not text.startswith(SESSION_CONTEXT):
        return ""
    first = text.partition(_DIRECTORIES)[2].lstrip().partition("\n")[0].strip()
    return first.removeprefix("- ").strip() if first.startswith("- ") else ""


class GeminiRows(RowProbe):
    """A message is a row of its own, or is in a list that takes the place of all before it
    (`$set.messages`): after a compression and, word for word, whenever a session is resumed. Only a
    compression brings a summary that was not there.
    """

    # In those that state the same history again when it is resumed, too.
    BOUNDARY_MARK = ACKNOWLEDGED.encode()

    def is_boundary(self, data: dict[str, Any]) -> bool:
        """Whether this row proves a compression. One that is stated again has the same id."""
        messages = list_replaced(data)
        return messages is not None and find_summary(messages) is not None

    def row_id(self, data: dict[str, Any]) -> str:
        """A message's own id; for a list that a compression made, that of its summary."""
        messages = list_replaced(data)
        if messages is None:
            return super().row_id(data)
        summary = find_summary(messages)
        return "" if summary is None else summary.id

    def is_unread(self, line: bytes) -> bool:
        return HOOKS.is_bookkeeping_row(line) and line.endswith((b"}\n", b"}"))


ROW_PROBE = GeminiRows()


# Rows of these types are known and mean nothing: what the client showed on the screen.
_BOOKKEEPING = frozenset(("info", "error", "warning"))
MAX_PROMPTS = 200  # that a user may go back to
FINISHED = frozenset(("success", "error", "cancelled"))
_OURS = "mcp_holdfast_"
_UNTRUSTED = re.compile(r"\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*", re.DOTALL)
_IN_BACKGROUND = "Command moved to background"
_CANCELLED = "Command was cancelled by user"
# The lines that the shell tool writes behind a command's output, each once and in this order.
_TRAILERS = re.compile(
    r"(?=\n|\Z)(\nError: [^\n]*)?(?:\nExit Code: (-?\d{1,9}))?(\nSignal: [^\n]*)?"
    r"(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: [^\n]*)?\Z"
)
_EMPTY = "(empty)"


class ParserState(RowsState):
    """`rows` are messages, calls and summaries that were turned into events."""

    RECORDS: ClassVar[dict[str, Any]] = {**RowsState.RECORDS, "prompts": int}

    def __init__(self) -> None:
        super().__init__()
        self.said = Place()  # of where the session runs; told with the next message
        self.agent = ""  # the subagent whose file this is
        # Messages that the user may go back to, and where their rows begin; and what stands before
        # the first.
        self.prompts: dict[str, int] = {}
        self.first, self.first_start = "", 0
        self.measured = ""  # the answer whose usage was told last

    def add_prompt(self, id_: str, start: int) -> None:
        self.prompts[id_] = start
        if len(self.prompts) > MAX_PROMPTS:
            del self.prompts[next(iter(self.prompts))]

    def rename_prompts(self, ids: list[str]) -> None:
        """The newest prompts go by these ids now."""
        starts = list(self.prompts.values())
        old = list(self.prompts)[: max(0, len(starts) - len(ids))]
        ids = ids[-len(starts) :] if starts else []
        self.prompts = dict(zip([*old, *ids], starts, strict=True))

    def go_back(self, id_: str) -> int | None:
        """Where the row of this prompt begins, which is forgotten with all behind it.

        None for an unknown one, and where nothing follows it any more.
        """
        if id_ and id_ == self.first:
            start = self.first_start if self.prompts else None
            self.prompts.clear()
            return start
        start = self.prompts.get(id_)
        kept = takewhile(lambda known: known != id_, list(self.prompts))
        self.prompts = {known: self.prompts[known] for known in kept}
        return start


class GeminiAdapter(RowsAdapter[ParserState]):
    STATE = ParserState
    CLIENT = "gemini"

    def forget_positions(self) -> None:
        super().forget_positions()
        self._state.prompts.clear()

    def events(self, row: Row) -> list[Event]:
        out: list[Event] = []
        data = row.data
        replaced = list_replaced(data)
        if replaced is not None:
            self._history_replaced(replaced, self._read_origin(row), out)
        elif data.get("type") in ("user", "gemini"):
            at = self._read_origin(row)
            self._announce_session(at, self._state.said, out)
            self._read_message(data, at, out)
        elif isinstance(data.get("$rewindTo"), str):
            # One that is not known was left out already, or long ago.
            start = self._state.go_back(data["$rewindTo"])
            out += [Rewound(self._read_origin(row), start)] if start is not None else []
        elif isinstance(data.get("sessionId"), str):
            self._read_header(data)
        elif "$set" not in data and as_text(data.get("type")) not in _BOOKKEEPING:
            self._state.unknown += 1
        return list_work(out) if self._state.agent else out

    def _read_origin(self, row: Row) -> Origin:
        changed = as_object(row.data.get("$set"))
        time = as_text(row.data.get("timestamp")) or as_text(changed.get("lastUpdated"))
        time = self._plausible(time)
        return Origin(ROW_PROBE.row_id(row.data), row.start, row.end, time, self._state.agent)

    def _read_header(self, header: dict[str, Any]) -> None:
        session = as_text(header["sessionId"])[:200]
        is_subagent = header.get("kind") == "subagent"
        self._state.agent = session or "subagent" if is_subagent else ""
        self._state.said = self._state.said._replace(session=session)

    def _history_replaced(
        self, messages: list[dict[str, Any]], at: Origin, out: list[Event]
    ) -> None:
        if workspace := read_workspace(read_text(messages[0])) if messages else "":
            # To go back to it is to go back to before the first prompt.
            if not self._state.first:
                self._state.first, self._state.first_start = _message_id(messages[0]), at.end
            self._state.said = self._state.said._replace(cwd=workspace)
            self._announce_session(at, self._state.said, out)
        summary = find_summary(messages)
        if summary is not None:
            if self._state.add_row(summary.id):
                self._read_compression(summary.text, summary.kept, at, out)
        elif not self._state.rows:
            # A session that begins with the history of another.
            for message in messages:
                self._read_message(message, at, out)

    def _read_compression(
        self, summary: str, kept: list[dict[str, Any]], at: Origin, out: list[Event]
    ) -> None:
        ids = [_message_id(message) for message in kept]
        for id_ in filter(None, ids):
            self._state.add_row(id_)
        typed = [_message_id(m) for m in kept if m.get("type") == "user" and read_typed(m)]
        self._state.rename_prompts(typed)
        # Which trigger it was is not written down.
        text = USER_TEXT.strip_summary_frame(summary)
        self._tell_compaction(at, "", text, out, kept=filter(None, ids))

    def _read_message(self, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        if message.get("type") == "user":
            self._read_user(message, at, out)
        elif message.get("type") == "gemini":
            self._read_answer(message, at, out)

    def _read_user(self, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        id_, said = _message_id(message), read_typed(message)
        if said and self._state.add_row(id_ or f"{at.time}{len(said)}u"):
            self._state.add_prompt(id_, at.start)
            out.append(UserSaid(at, said))

    def _read_answer(self, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        id_, said = _message_id(message), read_text(message)
        if said.strip() and self._state.add_row(id_ or f"{at.time}{len(said)}a"):
            out.append(AgentSaid(at, said))
        self._read_usage(id_, message, at, out)
        for written in as_objects(message.get("toolCalls")):
            call = read_call(written)
            if call is not None and self._state.add_row(call.id):
                is_refused = written.get("status") == "cancelled"
                refused = tool_calls.refuse(at, call) if is_refused else None
                out += refused or tool_calls.list_events(at, call, _TOOLS)

    def _read_usage(self, id_: str, message: dict[str, Any], at: Origin, out: list[Event]) -> None:
        tokens = as_object(message.get("tokens"))
        counted = as_count(tokens.get("input")), as_count(tokens.get("output"))
        if counted[0] and self._state.measured != id_:
            self._state.measured = id_
            self._measure_usage(at, as_text(message.get("model")), counted, 0, out)


def _message_id(message: dict[str, Any]) -> str:
    return as_text(message.get("id"))[:100]


def read_call(call: dict[str, Any]) -> ToolCall | None:
    """A finished call; None for one that still runs, or cannot be read."""
    id_, status = as_text(call.get("id")), as_text(call.get("status"))
    if not id_ or (status not in FINISHED and not call.get("result")):
        return None
    name, shown = as_text(call.get("name")), as_object(call.get("resultDisplay"))
    given, said = as_object(call.get("args")), _read_result(call.get("result"))
    if name == "write_todos" and as_objects(shown.get("todos")):
        given = {"todos": shown["todos"]}
    read = ToolCall(
        id_,
        tool_calls.unprefix_ours(name, _OURS),
        given,
        said,
        status not in ("error", "cancelled"),
        shown_path=as_text(shown.get("filePath")),
        is_new=shown.get("isNewFile") is not False,
        before=as_text(shown.get("originalContent")),
        hunks=parse_diff(as_text(shown.get("fileDiff"))),
        agent=as_text(call.get("agentId")),
    )
    return _read_command(read) if name == "run_shell_command" else read


def _read_command(call: ToolCall) -> ToolCall:
    if call.output.startswith(_IN_BACKGROUND):
        return call._replace(job=call.id)
    output, code = split_output(call.output)
    stopped = call.output.startswith(_CANCELLED)
    ok = call.ok and code == 0
    return call._replace(output=output, code=code, interrupted=stopped, ok=ok)


def _read_result(result: object) -> str:
    """The text that the model got, out of one or several responses."""
    if isinstance(result, str):
        return strip_hook_context(result)
    found = []
    for part in as_objects(result):
        response = as_object(as_object(part.get("functionResponse")).get("response"))
        said = response.get("output", response.get("error"))
        if said is not None:
            found.append(said if isinstance(said, str) else compact_json(said))
        elif isinstance(part.get("text"), str):
            found.append(part["text"])
    text = strip_hook_context("\n".join(found))
    wrapped = _UNTRUSTED.fullmatch(text)
    return wrapped[1] if wrapped else text


def split_output(said: str) -> tuple[str, int | None]:
    """What a command printed, and its exit code, which is written only where it is not 0.

    None where the command did not come to its end.
    """
    if not said.startswith("Output: "):
        return said, None
    trailers = _TRAILERS.search(said)
    assert trailers is not None  # at least the end
    error, code, signal = trailers.groups()
    said = said[: trailers.start()]
    printed = said.removeprefix("Output: ")
    ended = 0 if not (error or signal) else None
    return ("" if printed == _EMPTY else printed), int(code) if code else ended


def _set_plan(at: Origin, call: ToolCall) -> list[Event]:
    """The plan is in a file; approved is what the tool answered with success."""
    path = call.field("plan_path", "plan_filename")
    status = "approved" if call.ok else "refused"
    plan = PlanSet(at, f"The plan in {path}", path, status)
    return [plan] if path else tool_calls.run_tool(at, call)


def _ask_user(at: Origin, call: ToolCall) -> list[Event]:
    """The answers come as JSON, by the number of their question."""
    answers = as_object(as_object(parse_json(call.output)).get("answers"))
    questions = as_objects(call.input.get("questions"))
    found: list[Event] = []
    for number, answer in answers.items():
        known = number.isdecimal() and int(number) < len(questions)
        asked = questions[int(number)] if known else {}
        if as_text(answer).strip():
            found.append(UserSaid(at, as_text(answer), "answer", as_text(asked.get("question"))))
    return found or tool_calls.run_tool(at, call)


_TOOLS: Mapping[str, Handler] = {"exit_plan_mode": _set_plan, "ask_user": _ask_user}


ADAPTER = GeminiAdapter
