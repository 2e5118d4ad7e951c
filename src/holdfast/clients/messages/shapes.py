"""One message of an agent library, read by its fields: no library is imported.

Knows Anthropic messages, OpenAI chat completions and Responses items, LangChain messages and
pydantic-ai messages, as dicts or as objects. What it does not know has no text and no calls. Must
not decide what a call means.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

from holdfast.clients.json_fields import as_id, as_text, compact_json
from holdfast.records import Any, NamedTuple

_ROLES = {
    "user": "user", "human": "user", "HumanMessageChunk": "user",
    "assistant": "assistant", "ai": "assistant", "AIMessageChunk": "assistant",
    "model": "assistant", "tool": "tool", "function": "tool",
    "system": "system", "developer": "system",
}  # fmt: skip
# The words of a transcript row of Claude Code, which has an adapter of its own.
_ROW_FIELDS = frozenset(("sessionId", "parentUuid", "isSidechain", "leafUuid", "logicalParentUuid"))
_TEXT_PARTS = frozenset(("text", "input_text", "output_text", "text-plain"))
# Libraries without a flag for a failed call write one of these.
_FAILED_OPENINGS = ("Error:", "Error executing", "error:", "Traceback (most recent call last)")
_EXIT_CODE = re.compile(
    r"(?:exit(?:ed)?|return)[ _-]?(?:with )?(?:code|status)[^\w-]{1,4}(-?\d{1,5})", re.I
)
_EXIT_CODE_CHARS = 300  # at either end of an output


class Call(NamedTuple):
    id: str
    name: str
    input: dict[str, Any]


class Answer(NamedTuple):
    """What a tool answered."""

    id: str
    text: str
    failed: bool


class ChatMessage(NamedTuple):
    key: str  # the library's id, or a digest of the content
    has_id: bool
    role: str  # "user" | "assistant" | "tool" | "system" | ""
    text: str = ""
    calls: tuple[Call, ...] = ()
    answers: tuple[Answer, ...] = ()
    time: str = ""
    is_summary: bool = False  # a framework's own, not the user's words
    context: int = 0  # tokens that the request for this answer held
    model: str = ""

    @property
    def size(self) -> int:
        """About how many characters the model is given of it."""
        answered = sum(len(answer.text) for answer in self.answers)
        asked = sum(len(call.name) + len(repr(call.input)) for call in self.calls)
        return len(self.text) + answered + asked


UNREAD = ChatMessage("", False, "")


def is_transcript_row(message: object) -> bool:
    """Whether it is a row of Claude Code, as its session stores are handed them."""
    if not isinstance(message, Mapping) or not isinstance(message.get("type"), str):
        return False
    return not _ROW_FIELDS.isdisjoint(message)


def read_message(message: object) -> ChatMessage:
    """Never raises on what a field holds; unknown objects give an empty message."""
    parts = get_field(message, "parts")
    if isinstance(parts, (list, tuple)) and get_field(message, "kind") in ("request", "response"):
        read = _read_pydantic_ai(message, parts)
    elif get_field(message, "type") in ("function_call", "custom_tool_call", "local_shell_call"):
        read = _read_call_item(message)
    elif as_text(get_field(message, "type")).endswith("_call_output"):
        read = _read_output_item(message)
    else:
        read = _read_message(message)
    return read if read.key else read._replace(key=_compute_digest(read))


def get_field(value: object, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def _read_message(message: object) -> ChatMessage:
    role = _ROLES.get(as_text(get_field(message, "role"))) or _ROLES.get(
        as_text(get_field(message, "type")), ""
    )
    content = get_field(message, "content")
    calls, answers = _list_calls(message, content), _list_answers(content)
    text = content_text(content)
    if role == "tool":
        call = as_text(get_field(message, "tool_call_id")) or as_text(get_field(message, "name"))
        failed = get_field(message, "status") == "error"
        answers, text = (make_answer(call, text, failed),), ""
    id_ = as_id(get_field(message, "id"))
    if not id_ and role in ("tool", "assistant") and (calls or answers):
        id_ = _call_key(calls, answers)
    extra = get_field(message, "additional_kwargs")
    usage = get_field(message, "usage_metadata") or get_field(message, "usage")
    return ChatMessage(
        id_, bool(id_), role, text, calls, answers, _parse_time(get_field(message, "created_at")),
        get_field(extra, "lc_source") == "summarization", _read_context(usage),
        as_text(get_field(message, "model")),
    )  # fmt: skip


def content_text(content: object) -> str:
    """The words of a content: a text, or parts of which some are."""
    if isinstance(content, str):
        return content
    texts = (
        part if isinstance(part, str) else as_text(get_field(part, "text"))
        for part in _as_list(content)
        if isinstance(part, str) or get_field(part, "type") in _TEXT_PARTS
    )
    return "\n".join(filter(None, texts))


def make_answer(call: str, text: str, failed: bool) -> Answer:
    failed = failed or text.startswith(_FAILED_OPENINGS) or bool(exit_code(text))
    return Answer(call, text, failed)


def exit_code(text: str) -> int | None:
    """The exit code that an output names at its beginning or its end."""
    ends = f"{text[:_EXIT_CODE_CHARS]}\n{text[-_EXIT_CODE_CHARS:]}"
    found = _EXIT_CODE.search(ends)
    return int(found[1]) if found else None


def _list_calls(message: object, content: object) -> tuple[Call, ...]:
    """Anthropic has them among the content, OpenAI and LangChain beside it."""
    found: dict[str, Call] = {}
    for part in _as_list(content):
        if get_field(part, "type") in ("tool_use", "server_tool_use"):
            call = Call(
                as_text(get_field(part, "id")),
                as_text(get_field(part, "name")),
                read_input(get_field(part, "input")),
            )
            found[call.id] = call
    for one in _as_list(get_field(message, "tool_calls")):
        function = get_field(one, "function")
        name = as_text(get_field(function, "name")) or as_text(get_field(one, "name"))
        given = get_field(function, "arguments") if function else get_field(one, "args")
        call = Call(as_text(get_field(one, "id")), name, read_input(given))
        found[call.id] = call
    return tuple(call for call in found.values() if call.id)


def _list_answers(content: object) -> tuple[Answer, ...]:
    return tuple(
        make_answer(
            as_text(get_field(part, "tool_use_id")),
            content_text(get_field(part, "content")),
            get_field(part, "is_error") is True,
        )
        for part in _as_list(content)
        if get_field(part, "type") == "tool_result"
    )


def _read_call_item(item: object) -> ChatMessage:
    """OpenAI Responses: a call is an item of its own."""
    id_ = as_text(get_field(item, "call_id")) or as_text(get_field(item, "id"))
    name = as_text(get_field(item, "name")) or "shell"
    action = get_field(item, "action")
    given = read_input(
        get_field(item, "arguments") or get_field(item, "input") or _read_plain(action) or {}
    )
    return ChatMessage(f"call:{id_}", True, "assistant", calls=(Call(id_, name, given),))


def _read_output_item(item: object) -> ChatMessage:
    id_ = as_text(get_field(item, "call_id"))
    output = get_field(item, "output")
    text = output if isinstance(output, str) else content_text(output) or compact_json(output)
    failed = get_field(item, "status") in ("incomplete", "failed")
    return ChatMessage(f"result:{id_}", True, "tool", answers=(make_answer(id_, text, failed),))


def _read_pydantic_ai(message: object, parts: Iterable[object]) -> ChatMessage:
    role = "assistant" if get_field(message, "kind") == "response" else "user"
    texts: list[str] = []
    calls: list[Call] = []
    answers: list[Answer] = []
    time = _parse_time(get_field(message, "timestamp"))
    for part in parts:
        kind = as_text(get_field(part, "part_kind"))
        content = get_field(part, "content")
        call = as_text(get_field(part, "tool_call_id"))
        time = time or _parse_time(get_field(part, "timestamp"))
        if kind in ("text", "user-prompt"):
            texts.append(content_text(content))
        elif kind == "tool-call":
            name = as_text(get_field(part, "tool_name"))
            calls.append(Call(call, name, read_input(get_field(part, "args"))))
        elif kind in ("tool-return", "retry-prompt"):
            text = content if isinstance(content, str) else compact_json(_read_plain(content))
            failed = kind == "retry-prompt" or get_field(part, "outcome") == "failed"
            answers.append(make_answer(call, text, failed))
    read = ChatMessage(
        "", True, role, "\n".join(text for text in texts if text), tuple(calls), tuple(answers),
        time, context=_read_context(get_field(message, "usage")),
        model=as_text(get_field(message, "model_name")),
    )  # fmt: skip
    # Every part says when it was made, to the microsecond: with the content that is an id.
    return read if time else read._replace(has_id=False)


def read_input(given: object) -> dict[str, Any]:
    """A call's arguments; OpenAI and pydantic-ai keep them as the model's JSON."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {"input": given}
    elif given is not None:
        try:  # a library may have put objects of its own there
            given = json.loads(json.dumps(given, default=str))
        except (ValueError, TypeError, RecursionError):
            return {}
    if isinstance(given, dict):
        return given
    return {} if given is None else {"input": given}


def _read_plain(value: object) -> Any:
    """A library's object as JSON, where it can be."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else value


def _read_context(usage: object) -> int:
    counts = [
        get_field(usage, name)
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    return sum(count for count in counts if type(count) is int and count > 0)


def _parse_time(value: object) -> str:
    if isinstance(value, str):
        return value
    written = getattr(value, "isoformat", None)
    return str(written()).replace("+00:00", "Z") if callable(written) else ""


def _as_list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _call_key(calls: tuple[Call, ...], answers: tuple[Answer, ...]) -> str:
    """The ids of its calls are a message's own, where it has none."""
    ids = [call.id for call in calls] + [f"result:{answer.id}" for answer in answers]
    return ",".join(ids) if all(ids) else ""


def _compute_digest(read: ChatMessage) -> str:
    told = repr((read.role, read.text, read.calls, read.answers, read.time))
    return hashlib.blake2s(told.encode("utf-8", "replace"), digest_size=8).hexdigest()
