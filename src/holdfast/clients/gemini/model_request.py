"""A request to the model, as BeforeModel is given it: was the history before it compressed?

It comes before every request, with the whole conversation: so nothing is parsed until its bytes
say that a summary is there, and nothing that is not needed after that. JSON escapes the quotes
within a text, so that an unescaped quote ends one. Imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.fastpath.hook_json import parse_object, strip_terminal_codes
from holdfast.fastpath.session_dir import encode_json_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The model is asked to write the first; the client itself puts the second behind the summary.
SNAPSHOT = b"<state_snapshot>"
ACKNOWLEDGED = b"Got it. Thanks for the additional context!"
_REQUEST = b',"llm_request":'
# How the main thread's conversation begins; a subagent's begins with its task.
_MAIN_THREAD = b'"messages":[{"role":"user","content":"<session_context>'
_NEXT_MESSAGE, _LAST_MESSAGE = b'"},{"role":"', b'"}]'
_SESSION_CONTEXT_END = "</session_context>"
MAX_KEPT_CHARS = 80_000  # with which a brief is compared; to say a thing twice costs little
_OPENING_BYTES = 4096  # of a request, before its first message


def is_compressed(raw: bytes) -> bool:
    """Whether this request may hold a summary."""
    return SNAPSHOT in raw or ACKNOWLEDGED in raw


def is_main_thread(raw: bytes) -> bool:
    start = max(raw.find(_REQUEST), 0)
    return raw.find(_MAIN_THREAD, start, start + _OPENING_BYTES) >= 0


def read_head(raw: bytes) -> bytes:
    """The payload without the request: the fields that every event has."""
    end = raw.find(_REQUEST)
    return raw if end < 0 else raw[:end] + b"}"


def compute_key(raw: bytes) -> str:
    """What identifies this compression: the summary and the message behind its answer.

    The same in every request until the next compression, but for a session that was resumed.
    """
    import binascii

    start = raw.find(SNAPSHOT)
    if start < 0:
        start = raw.find(ACKNOWLEDGED)
    end = start
    for _ in range(3):
        found = raw.find(_NEXT_MESSAGE, end + 1)
        if found < 0:
            found = raw.find(_LAST_MESSAGE, end + 1)
        if found < 0:
            break
        end = found
    return f"{binascii.crc32(raw[start:end]):08x}-{end - start}"


def list_messages(raw: bytes) -> list[dict[str, Any]]:
    request = (parse_object(raw) or {}).get("llm_request")
    messages = request.get("messages") if type(request) is dict else None
    found = messages if type(messages) is list else []
    return [message for message in found if type(message) is dict]


def read_request(raw: bytes) -> tuple[str, str] | None:
    """The summary, and the end of what follows it; None where there is none.

    The client puts the summary into the message that holds the context of the session.
    """
    texts = [text if type(text := m.get("content")) is str else "" for m in list_messages(raw)]
    if len(texts) < 2 or not texts[1].startswith(ACKNOWLEDGED.decode()):
        return None
    summary = texts[0].partition(_SESSION_CONTEXT_END)[2].strip()
    return (summary, "\n".join(texts[2:])[-MAX_KEPT_CHARS:]) if summary else None


def format_request(raw: bytes, text: str) -> str:
    """The stdout that sends the request with `text` as its last message.

    All messages go back as they came and in their order: the client matches them one by one to
    the contents that have text.
    """
    import json

    messages = list_messages(raw)
    text = strip_terminal_codes(text)
    if not messages or not text:
        return ""
    given = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    ours = f'{{"role":"user","content":{encode_json_string(text)}}}'
    request = f'{{"messages":{given[:-1]},{ours}]}}'
    inside = f'"hookEventName":"BeforeModel","llm_request":{request}'
    return '{"hookSpecificOutput":{' + inside + "}}"
