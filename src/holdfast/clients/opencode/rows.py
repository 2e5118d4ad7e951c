"""Rows of a session without the adapter: what each is, whose words it holds, and what is in
context.

A compaction leaves its summary and the newest messages before it, from `tail_start_id` on. Rows say
whose words a text is (`synthetic`); told by the text are only prompts that the client's command
line hands on, and ours. Must not turn rows into events.
"""

import re

from holdfast.clients.client_protocol import LeftInContext, RowProbe, UserText
from holdfast.clients.json_fields import as_object, as_objects, as_text, compact_json
from holdfast.clients.session_rows import iterate_tails, parse_rows
from holdfast.records import Any


class OpenCodeText(UserText):
    """Told by its words is only what our own texts begin with; the client frames no summary."""

    def extract_user_text(self, text: str) -> str:
        return super().extract_user_text(_strip_quotes(text.strip()))


def _strip_quotes(text: str) -> str:
    """`opencode run "go on"` hands on the words with quotation marks around them."""
    inside = text[1:-1].replace('\\"', "")
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in inside:
        return text[1:-1].replace('\\"', '"').strip()
    return text


_ID = re.compile(rb'^\{(?:"[a-z]+":\d+,)?"row":"([^"\\]{1,200})"')


class OpenCodeRows(RowProbe):
    ID_FIELDS = ("row",)
    BOUNDARY_MARK = b'"summary":true'

    def is_boundary(self, data: dict[str, Any]) -> bool:
        """Whether this row is the summary of a compaction of the main session."""
        info = as_object(data.get("info"))
        return (
            data.get("type") == "message"
            and info.get("role") == "assistant"
            and info.get("summary") is True
            and not info.get("error")
            and not data.get("agent")
        )

    def list_row_ids(self, line: bytes) -> list[str]:
        """The row's own id, which stands at its beginning."""
        found = _ID.match(line)
        return [found[1].decode("utf-8", "replace")] if found else []

    def compaction_seconds(self, boundary: dict[str, Any]) -> float | None:
        """From when the summary was asked for to when it was there."""
        time = as_object(as_object(boundary.get("info")).get("time"))
        begun, ended = time.get("created"), time.get("completed")
        if type(begun) is int and type(ended) is int and ended >= begun:
            return (ended - begun) / 1000
        return None

    def last_compaction(self, path: str) -> LeftInContext | None:
        for lines, is_whole in iterate_tails(path):
            rows = list(parse_rows(lines))
            place = max((n for n, row in enumerate(rows) if self.is_boundary(row)), default=-1)
            if place >= 0 and (is_whole or _has_tail(rows[:place])):
                left = list_in_context(rows[: place + 1])
                summary = join_texts(as_objects(left[0].get("parts")))
                return LeftInContext(summary, tuple(map(_join_all, left[1:])))
        return None


ROW_PROBE, USER_TEXT = OpenCodeRows(), OpenCodeText()


def list_typed(parts: list[dict[str, Any]]) -> list[str]:
    """The texts of a user's message that the client did not put there itself."""
    return [
        as_text(part.get("text"))
        for part in parts
        if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
    ]


def join_texts(parts: list[dict[str, Any]]) -> str:
    texts = (as_text(part.get("text")) for part in parts if part.get("type") == "text")
    return "\n".join(filter(None, texts)).strip()


def list_in_context(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that a request would carry, the summary first."""
    found: list[dict[str, Any]] = []
    for data in rows:
        if data.get("type") == "removed":
            ids = [ROW_PROBE.row_id(message) for message in found]
            id_ = as_text(data.get("id"))
            found = found[: ids.index(id_)] if id_ in ids else found
        elif data.get("type") == "message" and not data.get("agent"):
            found = [data, *_list_kept(found)] if ROW_PROBE.is_boundary(data) else [*found, data]
    return found


def _list_kept(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What stays word for word of the messages before a summary."""
    first, asking = "", None
    for message in messages:
        for part in as_objects(message.get("parts")):
            if part.get("type") == "compaction":
                first, asking = as_text(part.get("tail_start_id")), message
    ids = [ROW_PROBE.row_id(message) for message in messages]
    if not first or first not in ids:
        return []
    return [message for message in messages[ids.index(first) :] if message is not asking]


def _has_tail(rows: list[dict[str, Any]]) -> bool:
    return bool(_list_kept(rows)) or not any(
        as_text(part.get("tail_start_id"))
        for row in rows[-3:]
        for part in as_objects(row.get("parts"))
    )


def _join_all(message: dict[str, Any]) -> str:
    """All the words of a message, those of its calls and answers too."""
    words = []
    for part in as_objects(message.get("parts")):
        state = as_object(part.get("state"))
        words += [as_text(part.get("text")), as_text(state.get("output"))]
        if part.get("type") == "tool":
            words.append(compact_json(state.get("input")))
    return "\n".join(filter(None, words))
