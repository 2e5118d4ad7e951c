"""Rows of a rollout without the adapter: what each is, whose words it holds, and what is in
context.

Rows say whose words they are (`provenance`, finished items); telling them by their text is for
those that come without a row: prompts in payloads, kept messages of a compaction.

The `compacted` row has the summary and the messages that stay beside it. With OpenAI's own service
the summary is encrypted and `message` is empty; the user's messages, the newest 20,000 tokens of
them, stay readable either way. A window that is reset (`features.token_budget`) has neither. Must
not turn rows into events.
"""

import os
import re

from holdfast.clients.client_protocol import LeftInContext, Resumable, UserText
from holdfast.clients.codex.tools import read_content
from holdfast.clients.json_fields import as_object, as_objects, as_text
from holdfast.clients.session_rows import read_last_row
from holdfast.records import Any

SUMMARY_OPENING = "Another language model started to solve this problem and produced a summary"
_SUMMARY_BEGINS = "use the information in this summary to assist with your own analysis:\n"
# What an editor puts before the prompt; the prompt stands behind the last of these.
_EDITOR_OPENING = "# Context from my IDE setup:"
_EDITOR_PROMPT = "## My request for Codex:"


class CodexText(UserText):
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
