"""OpenCode as a `Client`: which module of this folder is which part of the protocol.

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


class OpenCodeClient(SingleFileSessions):
    name = "opencode"
    title = "OpenCode"

    def recognises(self, head: bytes) -> bool:
        return head.startswith(b'{"opencode":')

    def adapter(self, parser_state: object = None, *, newest: str = "") -> Adapter:
        from holdfast.clients.opencode.transcript.adapter import OpenCodeAdapter

        return OpenCodeAdapter(parser_state, newest=newest)

    def recent_prompt_ids(self, parser_state: object) -> frozenset[str]:
        """Prompts are in the file before a hook is asked: none is known by its payload alone."""
        return frozenset()

    def row_filter(self, loads: Loads) -> Loads:
        """We write no row that tells nothing."""
        return loads

    def read_messages(self, rows: Iterable[Row]) -> list[TranscriptMessage]:
        from holdfast.clients.opencode.transcript.messages import read_messages

        return read_messages(rows)

    def last_compaction(self, path: str) -> LeftInContext | None:
        from holdfast.clients.opencode.transcript.messages import read_last_compaction

        return read_last_compaction(path)

    @property
    def row_probe(self) -> RowProbe:
        from holdfast.clients.opencode.transcript import row_probe

        return row_probe

    @property
    def user_text(self) -> UserText:
        from holdfast.clients.opencode.transcript import user_text

        return user_text

    @property
    def paths(self) -> ClientPaths:
        from holdfast.clients.opencode import client_paths

        return client_paths

    @property
    def context_window(self) -> ContextWindow:
        from holdfast.clients.opencode import context_window

        return context_window

    @property
    def hook_io(self) -> HookIO:
        from holdfast.clients.opencode import hook_io

        return hook_io

    @property
    def installer(self) -> Installer:
        from holdfast.clients.opencode import installer

        return installer


CLIENT: Client = OpenCodeClient()
