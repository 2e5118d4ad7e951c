"""What the plugin is answered, for whoever is not on the fast path.

The code is in `fastpath`, which the fast hooks import module by module.
"""

from __future__ import annotations

from holdfast.clients.opencode.fastpath.hook_output import (
    STEERS,
    check_output,
    extract_summary,
    format_context,
    format_instructions,
)

COMPACT_COMMAND = "/compact "
SHOWS_STEERING = False

__all__ = [
    "COMPACT_COMMAND",
    "SHOWS_STEERING",
    "STEERS",
    "check_output",
    "extract_summary",
    "format_context",
    "format_instructions",
]
