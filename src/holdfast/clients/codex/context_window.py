"""When Codex compacts.

The client tells the usable window with every answer: 95 % of the model's. It compacts at 90 % of
the model's (seen on 0.166: 244,500 of 272,000 tokens did not, 245,500 did), or where the user's
`model_auto_compact_token_limit` says, if that is earlier.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from holdfast.clients.client_protocol import CompactionPoint, WindowConfig
from holdfast.clients.codex import client_paths
from holdfast.files import read

USABLE_SHARE = 0.95
COMPACTION_SHARE = 0.90
DEFAULT_WINDOW_TOKENS = 272_000
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


def read_window_config(environ: Mapping[str, str], project: str) -> WindowConfig:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    config = client_paths.config_dir(environ, home)
    document: dict[str, Any] = {}
    for folder in (config, os.path.join(project, ".codex") if project else ""):
        if folder:
            document |= read_config(os.path.join(folder, "config.toml"))
    return WindowConfig(
        window=_tokens(document.get("model_auto_compact_token_limit")),
        model_window=_tokens(document.get("model_context_window")),
    )


def compaction_point(
    chosen: WindowConfig, model: str, *, seen: int = 0, used: int = 0, requested: bool = False
) -> CompactionPoint:
    """Pure. `chosen.window` is the user's own limit; `seen` the usable window."""
    whole = round(seen / USABLE_SHARE) if seen else chosen.model_window or DEFAULT_WINDOW_TOKENS
    point = int(whole * COMPACTION_SHARE)
    if chosen.window:
        point = min(point, chosen.window)
    window = seen or int(whole * USABLE_SHARE)
    certain = bool(seen or chosen.model_window or chosen.window)
    return CompactionPoint(max(min(point, window), 1), window, is_certain=certain)


def _tokens(value: object) -> int:
    return value if type(value) is int and 0 < value < 10**9 else 0
