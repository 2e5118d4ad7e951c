"""Claude Code as a `Client`: which module of this folder is which part of the protocol.

Must not hold behaviour of its own. Parts are imported when they are asked for: a hook that reads
rows never loads the installer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from holdfast.clients.single_file import SingleFileSessions

if TYPE_CHECKING:
    from holdfast.clients.client_protocol import (
        Adapter,
        Client,
        ClientPaths,
        ContextWindow,
        HookIO,
        LeftInContext,
        RowProbe,
        TranscriptMessage,
        UserText,
    )
    from holdfast.clients.installation import Installer
    from holdfast.transcript.reader import Loads, Row


class ClaudeCodeClient(SingleFileSessions):
    name = "claude-code"
    title = "Claude Code"

    def recognises(self, head: bytes) -> bool:
        """Rows of many kinds come first; what they share is that each names its session."""
        return b'"sessionId":' in head or b'"leafUuid":' in head

    def adapter(self, parser_state: object = None, *, newest: str = "") -> Adapter:
        from holdfast.clients.claude_code.transcript.adapter import ClaudeCodeAdapter

        return ClaudeCodeAdapter(parser_state, newest=newest)

    def recent_prompt_ids(self, parser_state: object) -> frozenset[str]:
        from holdfast.clients.claude_code.transcript.parser_state import recent_prompt_ids

        return recent_prompt_ids(parser_state)

    def row_filter(self, loads: Loads) -> Loads:
        from holdfast.clients.claude_code.transcript.rows import skipping_loads

        return skipping_loads(loads)

    def read_messages(self, rows: Iterable[Row]) -> list[TranscriptMessage]:
        from holdfast.clients.claude_code.transcript.messages import read_messages

        return read_messages(rows)

    def last_compaction(self, path: str) -> LeftInContext | None:
        """The summary's row is written after SessionStart; the hooks are told it."""
        return None

    @property
    def row_probe(self) -> RowProbe:
        from holdfast.clients.claude_code.transcript import rows

        return rows

    @property
    def user_text(self) -> UserText:
        from holdfast.clients.claude_code.transcript import user_text

        return user_text

    @property
    def paths(self) -> ClientPaths:
        from holdfast.clients.claude_code import client_paths

        return client_paths

    @property
    def context_window(self) -> ContextWindow:
        from holdfast.clients.claude_code import context_window

        return context_window

    @property
    def hook_io(self) -> HookIO:
        from holdfast.clients.claude_code import hook_io

        return hook_io

    @property
    def installer(self) -> Installer:
        from holdfast.clients.claude_code import installer

        return installer


CLIENT: Client = ClaudeCodeClient()
