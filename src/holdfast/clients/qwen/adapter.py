"""Qwen Code's rows as events.

A call is in the row of the answer that made it, what it gave in a row of its own. Each row
names the one before it, so that rows which were left by going back hang on a dead branch. A
compaction's row has the history that takes the place of all before: first the summary, then the
client's own answer to it, then what was kept. Must not do I/O but for the last compaction, and
never raises on a row.
"""

from holdfast.clients import tool_calls
from holdfast.clients.client_protocol import LeftInContext, RowProbe, UserText
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.clients.json_fields import as_count, as_object, as_objects, as_text, compact_json
from holdfast.clients.qwen.hooks import COMPACTION
from holdfast.clients.session_rows import Place, RowsAdapter, RowsState, read_last_row
from holdfast.clients.tool_calls import ToolCall, parse_diff
from holdfast.events import AgentSaid, Event, Origin, Rewound, TitleSet, TurnEnded, UserSaid
from holdfast.records import Any
from holdfast.transcript.reader import Row

HOOK_CONTEXT = "<qwen:user-prompt-submit-context>"
SNAPSHOT, SNAPSHOT_END = "<state_snapshot>", "</state_snapshot>"
SUMMARY_FOLLOWS = "\n\nResume the prior task using the summary above."
MESSAGES = ("user", "assistant", "tool_result")
_BACKGROUND = "Background shell started.\nid: "
_CANCELLED = "cancelled"
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"


class QwenRows(RowProbe):
    ID_FIELDS = ("uuid",)
    BOUNDARY_MARK = COMPACTION

    def is_boundary(self, data: dict[str, Any]) -> bool:
        return data.get("type") == "system" and data.get("subtype") == "chat_compression"

    def last_compaction(self, path: str) -> LeftInContext | None:
        data = read_last_row(path, COMPACTION, head=4096)
        if not data:
            return None
        kept = (
            "\n".join(as_text(part.get("text")) for part in list_parts(message))
            for message in _list_history(data)[1:]
        )
        texts = tuple(text for text in kept if text and text != _ACKNOWLEDGED)
        return LeftInContext(read_summary(data), texts)


class QwenText(UserText):
    CLIENT_OPENINGS = (HOOK_CONTEXT, SNAPSHOT, "<system-reminder>", "Recently accessed file (")

    def strip_summary_frame(self, text: str) -> str:
        text = text.partition(SUMMARY_FOLLOWS)[0]
        _, found, inside = text.partition(SNAPSHOT)
        return (inside.partition(SNAPSHOT_END)[0] if found else text).strip()


def list_parts(data: dict[str, Any]) -> list[dict[str, Any]]:
    return as_objects(as_object(data.get("message")).get("parts"))


def read_typed(data: dict[str, Any]) -> str:
    """The user's own words in a row; "" where all of it is the client's or ours."""
    texts = (as_text(part.get("text")) for part in list_parts(data))
    return "\n".join(filter(None, map(USER_TEXT.extract_user_text, texts)))


def read_answer(data: dict[str, Any]) -> tuple[str, str]:
    """Of a tool's row: the call's id, and what the model got without the words of our hooks."""
    for part in list_parts(data):
        answer = as_object(part.get("functionResponse"))
        response = as_object(answer.get("response"))
        said = response.get("output", response.get("error", ""))
        text = said if isinstance(said, str) else compact_json(said)
        return as_text(answer.get("id")), strip_hook_words(text)
    return "", ""


def strip_hook_words(text: str) -> str:
    """The client puts a hook's words behind a tool's output, and nothing around them."""
    places = (text.find(f"\n\n{opening}") for opening in HOLDFAST_OPENINGS)
    return text[: min((place for place in places if place >= 0), default=len(text))]


def _list_history(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that a compaction put in the place of all before."""
    history = as_objects(as_object(data.get("systemPayload")).get("compressedHistory"))
    return [{"message": message} for message in history]


def read_summary(data: dict[str, Any]) -> str:
    first = _list_history(data)[:1]
    texts = [as_text(part.get("text")) for message in first for part in list_parts(message)]
    return USER_TEXT.strip_summary_frame("\n".join(texts))


ROW_PROBE, USER_TEXT = QwenRows(), QwenText()


class QwenAdapter(RowsAdapter[RowsState]):
    STATE = RowsState
    CLIENT = "qwen"

    def events(self, row: Row) -> list[Event]:
        data, kind = row.data, as_text(row.data.get("type"))
        if kind not in (*MESSAGES, "system"):
            self._state.unknown += 1
            return []
        id_ = ROW_PROBE.row_id(data)[:100]
        time = self._plausible(as_text(data.get("timestamp")))
        at = Origin(id_, row.start, row.end, time)
        out: list[Event] = []
        if not id_ or self._state.remembers(id_):
            return out
        if kind == "system" and data.get("subtype") == "rewind":
            # To behind the row that it names; without one to the start.
            first = self._state.find_next_row(as_text(data.get("parentUuid"))[:100])
            start = self._state.remove_row(first) if first else None
            if start is not None:
                out.append(Rewound(at, start))
        self._state.add_row(id_, row.start)
        session, cwd, version = (as_text(data.get(n)) for n in ("sessionId", "cwd", "version"))
        self._announce_session(at, Place(session, cwd, "", version), out)
        if kind == "system":
            self._read_system(data, at, out)
        elif kind == "user":
            if said := read_typed(data):
                out.append(UserSaid(at, said))
        elif kind == "assistant":
            self._read_answer(data, at, out)
        else:
            out += self._read_result(data, at)
        return out

    def _read_system(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        payload = as_object(data.get("systemPayload"))
        if ROW_PROBE.is_boundary(data):
            info = as_object(payload.get("info"))
            trigger = "manual" if info.get("triggerReason") == "manual" else "auto"
            tokens = as_count(info.get("originalTokenCount")), as_count(info.get("newTokenCount"))
            self._tell_compaction(at, trigger, read_summary(data), out, tokens=tokens)
        elif data.get("subtype") == "custom_title" and as_text(payload.get("customTitle")):
            out.append(TitleSet(at, as_text(payload.get("customTitle"))))

    def _read_answer(self, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
        parts = (part for part in list_parts(data) if part.get("thought") is not True)
        said = "\n".join(filter(None, (as_text(part.get("text")) for part in parts)))
        if said.strip():
            out.append(AgentSaid(at, said))
        calls = [c for part in list_parts(data) if (c := as_object(part.get("functionCall")))]
        for call in calls:
            name, given = as_text(call.get("name")), as_object(call.get("args"))
            self._begin_call(at, as_text(call.get("id")), name, given)
        usage = as_object(data.get("usageMetadata"))
        context, output = (as_count(usage.get(f"{n}TokenCount")) for n in ("prompt", "candidates"))
        window = as_count(data.get("contextWindowSize"))
        self._measure_usage(at, as_text(data.get("model")), (context, output), window, out)
        if said.strip() and not calls:
            out.append(TurnEnded(at))

    def _read_result(self, data: dict[str, Any], at: Origin) -> list[Event]:
        id_, said = read_answer(data)
        asked = self._state.take_call(id_)
        if asked is None:
            return []
        result = as_object(data.get("toolCallResult"))
        ok, cwd = result.get("status") == "success", self._state.place.cwd
        call = ToolCall(id_, asked.name, asked.input, said, ok, cwd)
        if result.get("status") == _CANCELLED:
            return tool_calls.refuse(at, call)
        return tool_calls.list_events(at, _add_shown(call, result.get("resultDisplay")))


def _add_shown(call: ToolCall, shown: object) -> ToolCall:
    """The call with what the client showed its user: exit code and output, or the change."""
    shown = as_object(shown)
    if call.name == "run_shell_command":
        code = shown.get("exitCode")
        if call.output.startswith(_BACKGROUND):
            job = call.output[len(_BACKGROUND) :].split(None, 1)[0]
            return call._replace(job=job)
        if not shown:
            return call
        return call._replace(
            output=as_text(shown.get("output")),
            code=code if type(code) is int else None,
            ok=True,
            interrupted=shown.get("outcome") not in ("completed", "failed"),
        )
    if shown:
        before = as_text(shown.get("originalContent"))
        hunks = parse_diff(as_text(shown.get("fileDiff")))
        path = as_text(shown.get("filePath"))
        return call._replace(before=before, is_new=not before, hunks=hunks, shown_path=path)
    return call


ADAPTER = QwenAdapter
