"""Where GitHub Copilot CLI keeps things on disk, and when it compacts.

The client reports its window with every answer. It was seen to summarise beside the work at 98 % of
a window of 40,000 tokens.
"""

import os

from holdfast.clients.client_protocol import Client, ClientPaths, ContextWindow


class CopilotPaths(ClientPaths):
    FOLDER, FOLDER_VARIABLE = ".copilot", "COPILOT_HOME"
    PROJECT_VARIABLE, SESSION_VARIABLE = "COPILOT_PROJECT_DIR", "COPILOT_AGENT_SESSION_ID"
    SESSIONS = "session-state"
    TRANSCRIPTS = os.path.join("SESSION", "events.jsonl")
    OWN_NAME = "events"
    IS_NAMED_BY_FOLDER = True


class CopilotWindow(ContextWindow):
    DEFAULT_TOKENS = 128_000
    SHARE = 0.8  # earlier than seen: a warning that comes too early harms less


class CopilotClient(Client):
    name = "copilot"
    title = "GitHub Copilot CLI"
    paths = CopilotPaths()
    context_window = CopilotWindow(paths)
    installer = "holdfast.install.plain_clients:COPILOT"
    opening = b'{"type":"session.start","data":{"sessionId":"'


CLIENT = CopilotClient()
