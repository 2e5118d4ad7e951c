"""What the hooks ask Gemini CLI: payloads, output, whose call it is.

As seen on 0.61: the client takes 40,000 characters, keeps them in the conversation with `<` and
`>` escaped, and nothing that a hook prints reaches the summary. Imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.clients.gemini import model_request
from holdfast.clients.hook_base import HookClient
from holdfast.fastpath.hook_json import HookPayload
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import append, exists, file_size, make_private_dir, remove, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SUBAGENT_TOOL = "invoke_agent"
# In the session's directory, a byte for each subagent at work.
_SUBAGENTS_FILE = "subagents"
_MAX_SUBAGENTS = 100


class GeminiHooks(HookClient):
    NAME = "gemini"
    # Without a terminal it puts SessionStart's context before the first prompt, and drops a message
    # that begins so when the session is resumed: with it the user's own words. And the file that it
    # names when it resumes is an empty one, which it leaves behind (both seen on 0.61).
    STARTS_WITH_CONTEXT = False
    REMINDS_AFTER_TOOLS = True
    COMPACT_COMMAND = "/compress"  # takes no words
    EVENTS = {
        "SessionStart": "SessionStart",
        "BeforeAgent": "UserPromptSubmit",
        "BeforeModel": "ModelRequest",
        "BeforeTool": "SubagentStart",  # asked for the one tool that starts them
        "AfterTool": "PostToolUse",
        "AfterAgent": "Stop",
        "SessionEnd": "SessionEnd",
    }

    def parse_payload(self, raw: bytes, event: str) -> HookPayload | None:
        """A request whose history was never compressed is ignored."""
        if event != "BeforeModel":
            return super().parse_payload(raw, event)
        if not model_request.is_compressed(raw) or not model_request.is_main_thread(raw):
            return None
        payload = super().parse_payload(model_request.read_head(raw), event)
        if payload is not None:
            payload.request, payload.compaction_key = raw, model_request.compute_key(raw)
        return payload

    def fill_payload(self, payload: HookPayload, fields: dict[str, Any]) -> None:
        # Its row is written before the model is asked: there is no need to note it as well.
        payload.query, payload.prompt = payload.prompt, ""

    def is_subagents_own(self, payload: HookPayload, data: str) -> bool:
        """Whether a subagent is at work, so that what a tool's hook says would be said to it.

        Its calls come with the main thread's session and no name. The client says when the tool
        begins and ends that runs one; a new prompt and the end of a turn are the main thread's.
        """
        folder = SessionDir(data, payload.session_id).path
        marks = f"{folder}/{_SUBAGENTS_FILE}"
        if payload.event == "SubagentStart":
            if payload.tool == SUBAGENT_TOOL:
                make_private_dir(folder)
                append(marks, b".", most=_MAX_SUBAGENTS)
            return True
        if payload.event != "PostToolUse":
            remove(marks)
            return False
        if payload.tool == SUBAGENT_TOOL:
            left = file_size(marks) - 1
            if left > 0:
                write_atomic(marks, b"." * left)
            else:
                remove(marks)
        return exists(marks)

    def read_request(self, request: bytes, /) -> tuple[str, str] | None:
        return model_request.read_request(request)

    def format_request(self, request: bytes, text: str, /) -> str:
        return model_request.format_request(request, text)

    def is_bookkeeping_row(self, row: bytes) -> bool:
        if row.startswith(b'{"$set":'):
            return b'"messages":' not in row
        # What tools gave, as it went to the model: it is in the row before, too.
        results = b'"type":"user","content":[{"functionResponse":'
        return results in row[:160] and b'{"text":' not in row


HOOKS = GeminiHooks()
