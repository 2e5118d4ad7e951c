"""Where Qwen Code keeps things on disk, and when it compacts.

The client reports its window with every answer. It compacts before a request, at 85 % of that
window or where `context.autoCompactThreshold` says, and earlier where the rest would not hold the
summary (read in 0.24.4).
"""

import os

from holdfast.clients import client_protocol

SUMMARY_TOKENS, BUFFER_TOKENS = 20_000, 13_000


class QwenPaths(client_protocol.ClientPaths):
    FOLDER, FOLDER_VARIABLE = ".qwen", "QWEN_HOME"
    PROJECT_VARIABLE, SESSION_VARIABLE = "QWEN_PROJECT_DIR", "QWEN_CODE_SESSION_ID"
    SESSIONS = "projects"
    TRANSCRIPTS = os.path.join("*", "chats", "SESSION.jsonl")
    OWN_NAME = r"chats/[0-9a-zA-Z-]{8,100}"


class QwenWindow(client_protocol.ContextWindow):
    DEFAULT_TOKENS, SHARE = 131_072, 0.85
    SHARE_SETTING = "context.autoCompactThreshold"

    def compaction_point(
        self, chosen: client_protocol.WindowConfig, model: client_protocol.RunningModel
    ) -> client_protocol.CompactionPoint:
        point = super().compaction_point(chosen, model)
        room = point.window - SUMMARY_TOKENS - BUFFER_TOKENS
        return point._replace(tokens=min(point.tokens, room)) if room > 0 else point


class QwenClient(client_protocol.Client):
    name = "qwen"
    title = "Qwen Code"
    paths = QwenPaths()
    context_window = QwenWindow(paths)
    installer = "holdfast.install.plain_clients:QWEN"
    opening, opening_holds = b'{"uuid":"', b'"parentUuid":'


CLIENT = QwenClient()
