"""What the hooks ask GitHub Copilot CLI: payloads, output, whose call it is.

As seen on 1.0.102: a hook whose event is written as Claude Code writes it gets Claude Code's
fields, but for the session's file, which few events name; the answer is the client's own, one
field. What a prompt's or a tool's hook says stays in the conversation. A compaction runs beside the
work, and no hook learns when it is done; nothing that PreCompact prints reaches the summary.
Imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.clients.hook_base import HookClient
from holdfast.fastpath.hook_json import HookPayload, read_text, strip_terminal_codes
from holdfast.fastpath.session_dir import encode_json_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

COMPACTION = b'{"type":"session.compaction_complete","data":{"success":true'
NOTIFICATION = "<system_notification>"  # the client's own words, in the place of a prompt
_KINDS = (
    b"hook. system.message session.usage_ session.compaction_start session.shutdown assistant.turn_"
)


class CopilotHooks(HookClient):
    NAME = "copilot"
    NAMES_TRANSCRIPT = False
    STARTS_WITH_CONTEXT = False
    REMINDS_AFTER_TOOLS = True
    COMPACTION_MARK = COMPACTION
    BOOKKEEPING = tuple(b'{"type":"%s' % kind for kind in _KINDS.split())

    def find_transcript(self, payload: HookPayload, environ: Mapping[str, str]) -> str:
        home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        config = environ.get("COPILOT_HOME") or f"{home}/.copilot"
        is_name = not {"/", "\\"}.intersection(payload.session_id)
        place = f"{config}/session-state/{payload.session_id}/events.jsonl" if is_name else ""
        return payload.transcript_path or place

    def fill_payload(self, payload: HookPayload, fields: dict[str, Any]) -> None:
        payload.source = "startup" if payload.source == "new" else payload.source
        if payload.prompt.startswith(NOTIFICATION):
            payload.prompt = payload.query = ""
        result = fields.get("tool_result")
        if type(result) is dict:
            payload.tool_output = read_text(result, "text_result_for_llm")

    def format_context(self, event: str, text: str, message: str = "") -> str:
        text = strip_terminal_codes(text)
        return '{"additionalContext":' + encode_json_string(text) + "}" if text else ""


HOOKS = CopilotHooks()
