"""Whether the user trusts a folder, by the file that Gemini CLI keeps of it.

The client asks at its first start in a folder. Must not write: trust is the user's to give.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from holdfast.clients.gemini import client_paths
from holdfast.clients.gemini.client_settings import find_value, read_settings
from holdfast.path_spelling import is_inside

_FILE = "trustedFolders.json"


def is_trusted(environ: Mapping[str, str], home: str, folder: str) -> bool | None:
    """None where the user was not asked yet."""
    enabled, _ = find_value(environ, home, "", "security.folderTrust.enabled")
    if enabled is False:
        return True
    path = environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or os.path.join(
        client_paths.config_dir(environ, home), _FILE
    )
    folder = os.path.realpath(folder)
    best, answer = -1, None
    for named, level in read_settings(path).items():
        root = os.path.realpath(os.path.dirname(named) if level == "TRUST_PARENT" else named)
        if (folder == root or is_inside(folder, root)) and len(root) > best:
            best, answer = len(root), level != "DO_NOT_TRUST"
    return answer
