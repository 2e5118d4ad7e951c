"""Codex CLI as a `Client`: which module of this folder is which part of the protocol.

Must not hold behaviour of its own. Parts are imported when they are asked for: a hook that reads
rows never loads the installer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from holdfast.transcript.file_chain import START, ChainCursor, ChainReader

if TYPE_CHECKING:
    from holdfast.clients.client_protocol import (
        Adapter,
        Client,
        ClientPaths,
        ContextWindow,
        HookIO,
        LeftInContext,
        RowProbe,
        SourceCursor,
        TranscriptMessage,
        UserText,
    )
    from holdfast.clients.installation import Installer
    from holdfast.transcript.reader import Loads, Row


class CodexClient:
    name = "codex"
    title = "Codex"

    def recognises(self, head: bytes) -> bool:
        """A rollout begins with the row that says where it runs."""
        line = head.partition(b"\n")[0]
        return line.startswith(b'{"timestamp":') and b'"type":"session_meta"' in line[:200]

    def open_transcript(
        self,
        path: str,
        cursor: SourceCursor | None = None,
        *,
        loads: Loads | None = None,
        limit: int | None = None,
        stop: Callable[[], bool] | None = None,
        final: bool = False,
    ) -> ChainReader:
        """The rollout, behind those that it goes on from; positions count their bytes."""
        from holdfast.clients.codex.rollout_files import list_chain

        start = cursor if isinstance(cursor, ChainCursor) else START
        files = list_chain(path)
        return ChainReader(files, start, loads=loads, limit=limit, stop=stop, final=final)

    def load_cursor(self, saved: object) -> ChainCursor:
        return ChainCursor.from_json(saved)

    def cursor_at(self, position: int) -> ChainCursor:
        return ChainCursor.at_position(position)

    def adapter(self, parser_state: object = None, *, newest: str = "") -> Adapter:
        from holdfast.clients.codex.transcript.adapter import CodexAdapter

        return CodexAdapter(parser_state, newest=newest)

    def recent_prompt_ids(self, parser_state: object) -> frozenset[str]:
        from holdfast.clients.codex.transcript.parser_state import recent_turn_ids

        return recent_turn_ids(parser_state)

    def row_filter(self, loads: Loads) -> Loads:
        from holdfast.clients.codex.transcript.row_probe import skipping_loads

        return skipping_loads(loads)

    def read_messages(self, rows: Iterable[Row]) -> list[TranscriptMessage]:
        from holdfast.clients.codex.transcript.messages import read_messages

        return read_messages(rows)

    def last_compaction(self, path: str) -> LeftInContext | None:
        from holdfast.clients.codex.transcript.compacted_row import read_last_compaction

        return read_last_compaction(path)

    @property
    def row_probe(self) -> RowProbe:
        from holdfast.clients.codex.transcript import row_probe

        return row_probe

    @property
    def user_text(self) -> UserText:
        from holdfast.clients.codex.transcript import user_text

        return user_text

    @property
    def paths(self) -> ClientPaths:
        from holdfast.clients.codex import client_paths

        return client_paths

    @property
    def context_window(self) -> ContextWindow:
        from holdfast.clients.codex import context_window

        return context_window

    @property
    def hook_io(self) -> HookIO:
        from holdfast.clients.codex import hook_io

        return hook_io

    @property
    def installer(self) -> Installer:
        from holdfast.clients.codex import installer

        return installer


CLIENT: Client = CodexClient()
