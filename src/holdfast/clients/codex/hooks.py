"""What the hooks ask Codex: payloads, output, whose call it is.

As seen on 0.166: one key beyond the output contract and the client drops the whole answer without
a word. With `additionalContextLimit: 0` on the entry it takes 40,000 characters whole, and nothing
that PreCompact prints reaches the summary. Imported by the lightest hooks.
"""

from __future__ import annotations

import os

from holdfast.clients.hook_base import HookClient
from holdfast.fastpath.hook_json import HookPayload, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# What the client writes around a turn, by how the row goes on behind its time and number.
_EVENTS = b"task_started task_complete token_count thread_settings_applied"
_BOOKKEEPING = (
    *(b'"type":"%s"' % kind for kind in (b"turn_context", b"world_state", b"token_usage_record")),
    *(b'"type":"event_msg","payload":{"type":"%s"' % kind for kind in _EVENTS.split()),
)


class CodexHooks(HookClient):
    NAME = "codex"
    REMINDS_AFTER_TOOLS = True

    def leaves_to_others(self, environ: Mapping[str, str]) -> bool:
        """The plugin's hooks are silent where those of `holdfast install` run, so that nothing is
        told twice.

        The client skips what the user has not trusted, so an install that was never trusted does
        not count. Whether the trust still holds is not looked at; `holdfast doctor` does.
        """
        if not environ.get("PLUGIN_ROOT"):
            return False
        from holdfast.fastpath.installed_hooks import names_holdfast, read_settings

        home = environ.get("HOME") or ""
        config = environ.get("CODEX_HOME") or f"{home}/.codex"
        files = (f"{config}/hooks.json", f"{os.getcwd()}/.codex/hooks.json")
        trusted = read_settings(f"{config}/config.toml")
        return any(
            (f'"{os.path.realpath(path)}:' in trusted or f'"{path}:' in trusted)
            # The client gives the command to a shell: a path with odd letters is in its quotes.
            and names_holdfast(path, "\"'")
            for path in files
        )

    def fill_payload(self, payload: HookPayload, fields: dict[str, Any]) -> None:
        payload.prompt_id = read_text(fields, "turn_id")

    def is_subagents_own(self, payload: HookPayload, data: str) -> bool:
        """A subagent's events carry its parent's session id, and as often its own rollout.

        What it did is there; none of it is the main thread's, and its task is not the user's
        words.
        """
        name = payload.transcript_path.replace("\\", "/").rpartition("/")[2]
        return bool(payload.agent_id) or payload.session_id not in name

    def is_bookkeeping_row(self, row: bytes) -> bool:
        at = row.find(b'"type":', 0, 120)
        return at > 0 and row.startswith(_BOOKKEEPING, at)


HOOKS = CodexHooks()
