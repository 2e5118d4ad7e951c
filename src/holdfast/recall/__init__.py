"""Recall: what is known, found again. For the agent (MCP), the plugin's commands, and people.

`passages` ranks what a search found; `queries` says what each question gets, within a budget;
`notes_and_handoff` writes notes and hands work over; `stdlib_cli` is a command line of the standard
library alone, `mcp_server` the MCP server; the plugin bundles both.
"""

# What other packages may import.
__all__ = ["mcp_server", "passages", "queries"]
