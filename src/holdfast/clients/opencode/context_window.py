"""When OpenCode compacts.

The plugin tells with every answer how many tokens the client lets stand before it compacts, by the
client's own rule: the model's context without the room for an answer (seen on 1.18: 20,000 and
4,000 compact at 16,000). `compaction.auto: false` in its configuration turns that off.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from holdfast.clients.client_protocol import CompactionPoint, WindowConfig
from holdfast.clients.json_fields import as_object
from holdfast.clients.opencode import client_paths
from holdfast.files import read

DEFAULT_WINDOW_TOKENS = 168_000  # of 200,000
MAX_CONFIG_BYTES = 4 * 1024 * 1024
CONFIG_FILES = ("config.json", "opencode.json", "opencode.jsonc")  # a later one wins
_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def read_config(path: str) -> dict[str, Any]:
    """A configuration file with comments; {} where it is not there or cannot be read."""
    content = read(path, most=MAX_CONFIG_BYTES)
    if not content:
        return {}
    text = content.decode("utf-8-sig", "replace")
    for noise in (_COMMENTS, _LAST_COMMA):
        text = noise.sub(lambda found: found[1] or "", text)
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def read_window_config(environ: Mapping[str, str], project: str) -> WindowConfig:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    chosen: dict[str, Any] = {}
    for folder in (client_paths.config_dir(environ, home), project):
        for name in CONFIG_FILES if folder else ():
            chosen |= as_object(read_config(os.path.join(folder, name)).get("compaction"))
    off = environ.get("OPENCODE_DISABLE_AUTOCOMPACT", "").lower() in ("1", "true")
    return WindowConfig(auto_compact=chosen.get("auto") is not False and not off)


def compaction_point(
    chosen: WindowConfig, model: str, *, seen: int = 0, used: int = 0, requested: bool = False
) -> CompactionPoint:
    """Pure. `seen` is what the client lets stand before it compacts."""
    point = max(seen or DEFAULT_WINDOW_TOKENS, 1)
    return CompactionPoint(point, point, chosen.auto_compact, is_certain=bool(seen))
