"""Which agent the main thread runs as: `claude --agent NAME` leaves a row that says so."""

from __future__ import annotations

from typing import Any

# Stands in every such row, and by chance in few others: what is asked before parsing.
AGENT_SETTING_MARK = b'"agent-setting"'


def agent_type_in_row(data: Any) -> str | None:
    """The agent's type, "" where it was unset; None for a row that does not speak of it."""
    if not isinstance(data, dict) or data.get("type") != "agent-setting":
        return None
    name = data.get("agentSetting")
    return name[:200] if isinstance(name, str) else ""
