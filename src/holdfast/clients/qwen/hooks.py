"""What the hooks ask Qwen Code: payloads, output, whose call it is.

As seen on 0.24.4: names and output are Claude Code's. What SessionStart prints goes into the system
prompt, is not kept when the session is resumed, and after a compaction comes too late for the
request that follows; what a prompt's or a tool's hook prints stays in the conversation, with `<`
and `>` escaped. The prompt's hook runs before every other request as well, then without a prompt.
Of what PreCompact prints 4,000 characters reach the summariser. Imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.clients.hook_base import HookClient
from holdfast.fastpath.hook_json import HookPayload, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMPACTION = b'"subtype":"chat_compression"'
_BOOKKEEPING = tuple(
    b'"subtype":"%s"' % name
    for name in (b"ui_telemetry", b"attribution_snapshot", b"file_history_snapshot")
)
_HEAD = 8192  # of a row, in which a path comes before its kind


class QwenHooks(HookClient):
    NAME = "qwen"
    STARTS_WITH_CONTEXT = False
    STEERS = True
    REMINDS_AFTER_TOOLS = True
    COMPACT_COMMAND = "/compress "
    COMPACTION_MARK = COMPACTION

    def parse_payload(self, raw: bytes, event: str) -> HookPayload | None:
        payload = super().parse_payload(raw, event)
        return None if payload is not None and payload.source == "compact" else payload

    def fill_payload(self, payload: HookPayload, fields: dict[str, Any]) -> None:
        payload.prompt_id = read_text(fields, "prompt_id")

    def is_bookkeeping_row(self, row: bytes) -> bool:
        at = row.find(b'"type":"system"', 0, _HEAD)
        return at > 0 and any(row.find(kind, at, _HEAD) > 0 for kind in _BOOKKEEPING)


HOOKS = QwenHooks()
