"""Where OpenCode keeps its configuration and we its sessions, and when it compacts.

Owns both layouts; the environment is handed in. The client's own sessions are in a database that is
never opened here. A fork has the same layout under a name of its own.

The plugin reports with every answer how many tokens the client allows before it compacts, by the
client's own rule: the model's context without the room for an answer (seen on 1.18: 20,000 and
4,000 compact at 16,000). `compaction.auto: false` in its configuration turns that off.
"""

import os
from collections.abc import Mapping

from holdfast.clients.client_protocol import Client, ClientPaths, ContextWindow, WindowConfig
from holdfast.clients.json_fields import as_object, read_settings
from holdfast.fastpath.session_dir import SessionDir
from holdfast.paths import home_from
from holdfast.records import Any, ClassVar


class OpenCodePaths(ClientPaths):
    # The plugin puts it into the environment of the agent's commands.
    SESSION_VARIABLE = "HOLDFAST_OPENCODE_SESSION"
    OWN_NAME = "opencode"  # which is the client's, and that of its folder
    IS_NAMED_BY_FOLDER = True

    def config_dir(self, environ: Mapping[str, str], home: str) -> str:
        shared = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
        return os.path.join(shared, self.OWN_NAME) if shared else ""

    def sessions_dir(self, config: str, data: str) -> str:
        return os.path.join(data, "sessions")

    def find_transcript(self, config: str, session: str, data: str) -> str | None:
        path = f"{SessionDir(data, session).path}/{self.OWN_NAME}.jsonl"
        return path if session and os.path.isfile(path) else None


class KiloPaths(OpenCodePaths):
    SESSION_VARIABLE = "HOLDFAST_KILO_SESSION"
    OWN_NAME = "kilo"


class OpenCodeWindow(ContextWindow):
    DEFAULT_TOKENS = 168_000  # of 200,000: the plugin names what the client allows
    # A later one wins.
    FILES: ClassVar[tuple[str, ...]] = ("config.json", "opencode.json", "opencode.jsonc")

    def read_window_config(self, environ: Mapping[str, str], project: str) -> WindowConfig:
        chosen: dict[str, Any] = {}
        for folder in (self._paths.config_dir(environ, home_from(environ)), project):
            for name in self.FILES if folder else ():
                chosen |= as_object(read_settings(os.path.join(folder, name)).get("compaction"))
        variable = f"{self._paths.OWN_NAME.upper()}_DISABLE_AUTOCOMPACT"
        off = environ.get(variable, "").lower() in ("1", "true")
        return WindowConfig(auto_compact=chosen.get("auto") is not False and not off)


class KiloWindow(OpenCodeWindow):
    """It reads OpenCode's configuration beside files of its own."""

    FILES = (*OpenCodeWindow.FILES, "kilo.json", "kilo.jsonc")


class OpenCodeClient(Client):
    name = "opencode"
    title = "OpenCode"
    paths: ClientPaths = OpenCodePaths()
    context_window: ContextWindow = OpenCodeWindow(paths)
    installer = "holdfast.install.opencode:INSTALLER"
    opening = b'{"opencode":'


class KiloClient(OpenCodeClient):
    """OpenCode under another name, with configuration files of its own."""

    name = "kilo"
    title = "Kilo CLI"
    installer = "holdfast.install.opencode:KILO"
    opening = b'{"kilo":'
    prefix = "KILO_"
    paths = KiloPaths()
    context_window = KiloWindow(paths)


CLIENT = OpenCodeClient()
KILO_CLIENT = KiloClient()
