"""What hooks are given and what they print, for code that is not on the fast path.

The code is in `fastpath`, which the fast hooks import module by module.
"""

from __future__ import annotations

from holdfast.clients.claude_code.fastpath.hook_output import (
    check_output,
    format_context,
    format_instructions,
)
from holdfast.clients.claude_code.fastpath.hook_payload import extract_summary

COMPACT_COMMAND = "/compact "
SHOWS_STEERING = True
STEERS = True  # PreCompact's output is added to the summariser's instructions

__all__ = [
    "COMPACT_COMMAND",
    "SHOWS_STEERING",
    "STEERS",
    "check_output",
    "extract_summary",
    "format_context",
    "format_instructions",
]
