"""Rows as the client writes them, without the adapter: what each is, which are skipped unread, and
how they are written as those of another session. Must not turn rows into events.
"""

import os
from collections.abc import Callable

from holdfast.clients.client_protocol import Resumable
from holdfast.clients.json_fields import as_object, as_objects, compact_json
from holdfast.records import Any
from holdfast.transcript.reader import SKIPPED_ROW

_PROGRESS = b'"type":"progress"'
# Where the type is in these rows; behind that it is another object's.
_HEAD = 400

_EDIT = b'"toolUseResult":{"filePath":"'
# Where it is in an edit's row; a shorter row is not worth the search.
_EDIT_HEAD = 4000
_NEW_TEXT = b',"newString":"'
_FILE_BEFORE = b',"originalFile":"'
_FILE_ENDS = b'","structuredPatch":'


class ClaudeCodeRows(Resumable):
    RESUME_COMMAND, OUTPUT_KEY = "claude --resume", "content"
    ID_FIELDS = ("uuid",)
    BOUNDARY_MARK = b"compact_boundary"

    def is_boundary(self, data: dict[str, Any]) -> bool:
        return (
            data.get("type") == "system"
            and data.get("subtype") == "compact_boundary"
            and not data.get("agentId")
            and not data.get("isSidechain")
        )

    def compaction_seconds(self, boundary: dict[str, Any]) -> float | None:
        """Said since 2.1.8x."""
        taken: Any = as_object(boundary.get("compactMetadata")).get("durationMs")
        return taken / 1000 if type(taken) in (int, float) and taken >= 0 else None

    def row_filter(self, loads: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        """Passes over progress reports, and over files as they were before edits: two fifths of a
        transcript's bytes. Must not be used where rows are shown.
        """

        def read(line: bytes) -> Any:
            at = line.find(_PROGRESS, 0, _HEAD)
            # A brace before it would mean that this is the type of something inside.
            if at > 0 and line.find(b"{", 1, at) < 0 and line.endswith((b"}\n", b"}")):
                return SKIPPED_ROW
            if len(line) > _EDIT_HEAD:
                line = _without_file_before(line)
            return loads(line)

        return read

    def name_file(self, transcript: str, old: str, new: str) -> str:
        return os.path.join(os.path.dirname(transcript), f"{new}.jsonl")

    def rename_session(self, line: bytes, old: str, new: str) -> bytes:
        return line.replace(f'"sessionId":"{old}"'.encode(), f'"sessionId":"{new}"'.encode())

    def list_outputs(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        if row.get("isSidechain"):
            return []
        blocks = as_objects(as_object(row.get("message")).get("content"))
        return [block for block in blocks if block.get("type") == "tool_result"]

    def title_row(self, session: str, title: str) -> bytes:
        fields = {"type": "custom-title", "customTitle": title, "sessionId": session}
        return compact_json(fields).encode()


ROW_PROBE = ClaudeCodeRows()


def _without_file_before(line: bytes) -> bytes:
    """An edit's row without the whole file as it was before.

    The marks have a quote right behind a comma or a colon; inside a string a backslash would
    stand between them, so each is where it seems to be. What is read of an edit stands before
    that file or behind it, in the order in which the client writes; in another, all is parsed.
    """
    edit = line.find(_EDIT, 0, _EDIT_HEAD)
    if edit < 0:
        return line
    start = line.find(_FILE_BEFORE, edit)
    if start < 0 or line.find(_NEW_TEXT, edit, start) < 0:
        return line
    end = line.find(_FILE_ENDS, start + len(_FILE_BEFORE))
    return line if end < 0 else line[:start] + line[end + 1 :]
