"""Gemini CLI as a `Client`: which module of this folder is which part of the protocol.

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


class GeminiClient(SingleFileSessions):
    name = "gemini"
    title = "Gemini CLI"

    def recognises(self, head: bytes) -> bool:
        """A chat begins with the row that names its session and its project."""
        line = head.partition(b"\n")[0]
        return line.startswith(b'{"sessionId":"') and b'"projectHash":' in line[:400]

    def adapter(self, parser_state: object = None, *, newest: str = "") -> Adapter:
        from holdfast.clients.gemini.transcript.adapter import GeminiAdapter

        return GeminiAdapter(parser_state, newest=newest)

    def recent_prompt_ids(self, parser_state: object) -> frozenset[str]:
        """Hooks note none: a prompt's row is there before the model is asked."""
        return frozenset()

    def row_filter(self, loads: Loads) -> Loads:
        from holdfast.clients.gemini.transcript.row_probe import skipping_loads

        return skipping_loads(loads)

    def read_messages(self, rows: Iterable[Row]) -> list[TranscriptMessage]:
        from holdfast.clients.gemini.transcript.messages import read_messages

        return read_messages(rows)

    def last_compaction(self, path: str) -> LeftInContext | None:
        """Hooks are told: it stands in the request that follows."""
        return None

    @property
    def row_probe(self) -> RowProbe:
        from holdfast.clients.gemini.transcript import row_probe

        return row_probe

    @property
    def user_text(self) -> UserText:
        from holdfast.clients.gemini.transcript import user_text

        return user_text

    @property
    def paths(self) -> ClientPaths:
        from holdfast.clients.gemini import client_paths

        return client_paths

    @property
    def context_window(self) -> ContextWindow:
        from holdfast.clients.gemini import context_window

        return context_window

    @property
    def hook_io(self) -> HookIO:
        from holdfast.clients.gemini import hook_io

        return hook_io

    @property
    def installer(self) -> Installer:
        from holdfast.clients.gemini import installer

        return installer


CLIENT: Client = GeminiClient()
