"""When this client compacts: the settings and variables in effect, in words.

Owns the names of those settings and the client's arithmetic. Judges nothing as broken: when to
compact is the user's choice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.doctor.surroundings import Surroundings, settings_sources
from holdfast.doctor.wiring import environment_in, setting

CHECK = "auto-compact"
# The client keeps this much for its answer, and this much in reserve.
ANSWER_TOKENS = 20_000
RESERVE_TOKENS = 13_000

_NAMES = (
    "DISABLE_COMPACT",
    "DISABLE_AUTO_COMPACT",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
)
_FALSE = ("", "0", "false", "no", "off")


def check_compacting(around: Surroundings) -> list[Finding]:
    effective: dict[str, Any] = {name: around.environ.get(name, "") for name in _NAMES}
    options: dict[str, Any] = {"autoCompactEnabled": _remembered(around)}
    for source in settings_sources(around):
        if not source.usable:
            continue
        inside = environment_in(source)
        effective |= {name: str(inside[name]) for name in _NAMES if name in inside}
        for name in ("autoCompactEnabled", "autoCompactWindow"):
            value = setting(source, name)
            if value is not None:
                options[name] = value
    return [told(effective, options)]


def told(effective: Mapping[str, str], options: Mapping[str, Any]) -> Finding:
    """Pure: what these values make the client do."""
    if _on(effective.get("DISABLE_COMPACT", "")):
        return Finding(CHECK, WARN, "DISABLE_COMPACT is set: this client never compacts")
    if _on(effective.get("DISABLE_AUTO_COMPACT", "")):
        return Finding(CHECK, OK, "off by DISABLE_AUTO_COMPACT: only /compact compacts")
    if options.get("autoCompactEnabled") is False:
        return Finding(CHECK, OK, "off in the settings: only /compact compacts")
    window = _tokens(effective.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", ""))
    window = window or _tokens(str(options.get("autoCompactWindow") or ""))
    percent = effective.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    if not window:
        lowered = f", at {percent} % of its window at the latest" if percent else ""
        return Finding(CHECK, OK, f"on, when the client's own window is full{lowered}")
    room = window - ANSWER_TOKENS
    threshold = room - RESERVE_TOKENS
    if percent.isdecimal():
        threshold = min(threshold, room * int(percent) // 100)
    return Finding(CHECK, OK, f"on, at about {threshold:,} tokens (window {window:,})")


def _on(value: str) -> bool:
    return value.strip().lower() not in _FALSE


def _tokens(text: str) -> int:
    """`200000`, and `200k` as newer clients have it."""
    text = text.strip().lower()
    scale = 1000 if text.endswith("k") else 1
    number = text.removesuffix("k")
    return int(number) * scale if number.isdecimal() else 0


def _remembered(around: Surroundings) -> Any:
    """Older clients keep the switch in their own file beside the settings."""
    configured = around.environ.get("CLAUDE_CONFIG_DIR") or around.home
    try:
        with open(os.path.join(configured, ".claude.json"), encoding="utf-8") as file:
            remembered = json.load(file)
    except (OSError, ValueError):
        return None
    return remembered.get("autoCompactEnabled") if isinstance(remembered, dict) else None
