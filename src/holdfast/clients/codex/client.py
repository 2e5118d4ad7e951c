"""Where Codex keeps things on disk, and when it compacts.

Owns the layout below the client's folder and the variable that moves it; the environment is handed
in. Opens a rollout for its first bytes alone: its name does not show a subagent's.

The client reports the usable window with every answer: 95 % of the model's. It compacts at 90 % of
the model's (seen on 0.166: 244,500 of 272,000 tokens did not, 245,500 did), or where the user's
`model_auto_compact_token_limit` says, if that is earlier.
"""

import os
from collections.abc import Mapping

from holdfast.clients.client_protocol import (
    Client,
    ClientPaths,
    CompactionPoint,
    ContextWindow,
    RunningModel,
    SourceCursor,
    WindowConfig,
)
from holdfast.clients.codex import rollout_files
from holdfast.clients.json_fields import as_object
from holdfast.files import read, read_from
from holdfast.paths import home_from
from holdfast.records import Any
from holdfast.transcript.file_chain import START, ChainCursor, ChainReader

# Where a rollout says whose it is; the model's instructions come behind it.
_HEAD_BYTES = 2048
_SUBAGENT_MARKS = (b'"thread_source":"subagent"', b'"source":{"subagent"')


class CodexPaths(ClientPaths):
    FOLDER, FOLDER_VARIABLE = ".codex", "CODEX_HOME"
    SESSION_VARIABLE = "CODEX_THREAD_ID"
    SESSIONS = rollout_files.SESSION_FOLDERS[0]

    def find_transcript(self, config: str, session: str, data: str) -> str | None:
        """The newest file of a thread, wherever it was put."""
        found = [
            (name.file, path)
            for folder in rollout_files.SESSION_FOLDERS
            for path in rollout_files.iterate_rollouts(os.path.join(config, folder))
            if (name := rollout_files.parse_name(path)) and name.thread == session
        ]
        return max(found)[1] if found else None

    def has_own_name(self, path: str) -> bool:
        return rollout_files.parse_name(path) is not None

    def is_transcript(self, path: str) -> bool:
        head = read_from(path, 0, _HEAD_BYTES) if self.has_own_name(path) else _SUBAGENT_MARKS[0]
        return not any(mark in head for mark in _SUBAGENT_MARKS)

    def transcript_session_id(self, transcript: str) -> str:
        """The thread that a rollout's name gives."""
        name = rollout_files.parse_name(transcript)
        return name.thread if name else super().transcript_session_id(transcript)


USABLE_SHARE = 0.95
COMPACTION_SHARE = 0.90
DEFAULT_WINDOW_TOKENS = 272_000
WINDOWS_FEATURE = "token_budget"  # under [features]: a fresh window where others summarise
MAX_CONFIG_BYTES = 4 * 1024 * 1024


def read_config(path: str) -> dict[str, Any]:
    """A config.toml; {} where it is not there or cannot be read."""
    content = read(path, most=MAX_CONFIG_BYTES)
    if not content or b"=" not in content:
        return {}
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}


class CodexWindow(ContextWindow):
    def read_window_config(self, environ: Mapping[str, str], project: str) -> WindowConfig:
        config = self._paths.config_dir(environ, home_from(environ))
        document: dict[str, Any] = {}
        for folder in (config, os.path.join(project, ".codex") if project else ""):
            if folder:
                document |= read_config(os.path.join(folder, "config.toml"))
        return WindowConfig(
            window=_parse_tokens(document.get("model_auto_compact_token_limit")),
            model_window=_parse_tokens(document.get("model_context_window")),
            summarises=as_object(document.get("features")).get(WINDOWS_FEATURE) is not True,
        )

    def compaction_point(self, chosen: WindowConfig, model: RunningModel) -> CompactionPoint:
        """`chosen.window` is the user's own limit; the client names the usable window."""
        seen, own = model.window, chosen.model_window or DEFAULT_WINDOW_TOKENS
        whole = round(seen / USABLE_SHARE) if seen else own
        point = int(whole * COMPACTION_SHARE)
        if chosen.window:
            point = min(point, chosen.window)
        window = seen or int(whole * USABLE_SHARE)
        certain = bool(seen or chosen.model_window or chosen.window)
        return CompactionPoint(max(min(point, window), 1), window, is_certain=certain)


def _parse_tokens(value: object) -> int:
    return value if type(value) is int and 0 < value < 10**9 else 0


class CodexClient(Client):
    name = "codex"
    title = "Codex"
    paths = CodexPaths()
    context_window = CodexWindow(paths)
    installer = "holdfast.install.codex:INSTALLER"

    # A rollout begins with the row that says where it runs.
    opening, opening_holds = b'{"timestamp":', b'"type":"session_meta"'

    def open_transcript(
        self, path: str, cursor: SourceCursor | None = None, **reading: Any
    ) -> ChainReader:
        """The rollout, behind those that it goes on from; positions count their bytes."""
        start = cursor if isinstance(cursor, ChainCursor) else START
        return ChainReader(rollout_files.list_chain(path), start, **reading)

    def load_cursor(self, saved: object) -> ChainCursor:
        return ChainCursor.from_json(saved)

    def cursor_at(self, position: int) -> ChainCursor:
        return ChainCursor.at_position(position)


CLIENT = CodexClient()
