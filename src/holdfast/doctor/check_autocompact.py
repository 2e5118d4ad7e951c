"""When this client compacts: the settings and variables in effect, in words.

Owns the words; the client's arithmetic is in `clients.claude_code.context_window`. Judges nothing
as broken: when to compact is the user's choice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from holdfast.clients.claude_code.context_window import (
    MAX_WINDOW_TOKENS,
    build_window_config,
    compaction_point,
)
from holdfast.doctor.check_hooks import read_setting, read_settings_env
from holdfast.doctor.environment import Environment, read_settings_sources
from holdfast.doctor.finding import OK, WARN, Finding

CHECK = "auto-compact"

_NAMES = (
    "DISABLE_COMPACT",
    "DISABLE_AUTO_COMPACT",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
)
_FALSE = ("", "0", "false", "no", "off")


def check_autocompact(around: Environment) -> list[Finding]:
    effective: dict[str, Any] = {name: around.environ.get(name, "") for name in _NAMES}
    options: dict[str, Any] = {"autoCompactEnabled": _read_client_config(around)}
    for source in read_settings_sources(around):
        if not source.usable:
            continue
        inside = read_settings_env(source)
        effective |= {name: str(inside[name]) for name in _NAMES if name in inside}
        for name in ("autoCompactEnabled", "autoCompactWindow"):
            value = read_setting(source, name)
            if value is not None:
                options[name] = value
    return [describe_autocompact(effective, options)]


def describe_autocompact(effective: Mapping[str, str], options: Mapping[str, Any]) -> Finding:
    """Pure: what these values make the client do."""
    if _is_on(effective.get("DISABLE_COMPACT", "")):
        return Finding(CHECK, WARN, "DISABLE_COMPACT is set: this client never compacts")
    if _is_on(effective.get("DISABLE_AUTO_COMPACT", "")):
        return Finding(CHECK, OK, "disabled by DISABLE_AUTO_COMPACT: only /compact compacts")
    if options.get("autoCompactEnabled") is False:
        return Finding(CHECK, OK, "disabled in the settings: only /compact compacts")
    chosen = build_window_config(effective, [options])
    if not chosen.window:
        percent = f"{chosen.percent:g}"
        lowered = f", at no more than {percent} % of its window" if chosen.percent else ""
        return Finding(CHECK, OK, f"on, when the client's own window is full{lowered}")
    point = compaction_point(chosen, "", seen=MAX_WINDOW_TOKENS)
    return Finding(CHECK, OK, f"on, at about {point.tokens:,} tokens (window {point.window:,})")


def _is_on(value: str) -> bool:
    return value.strip().lower() not in _FALSE


def _read_client_config(around: Environment) -> Any:
    """Older clients keep the switch in their own file beside the settings."""
    configured = around.environ.get("CLAUDE_CONFIG_DIR") or around.home
    try:
        with open(os.path.join(configured, ".claude.json"), encoding="utf-8") as file:
            remembered = json.load(file)
    except (OSError, ValueError):
        return None
    return remembered.get("autoCompactEnabled") if isinstance(remembered, dict) else None
