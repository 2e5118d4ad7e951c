"""Recall: what is known, found again. For the agent (MCP), the plugin's commands, and people.

`queries` says what each question gets, within a budget, and what was saved and restored;
`notes_and_handoff` writes notes and hands work over; `stdlib_cli` is a command line of the standard
library alone, which the plugin bundles; `mcp_server` is the MCP server, with the official SDK.
"""

# What other packages may import.
__all__ = ["empty_mcp_server", "mcp_server", "queries"]
