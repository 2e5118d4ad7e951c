"""`holdfast mcp`: recall for the agent, as an MCP server on standard input and output."""

from __future__ import annotations

import os

from holdfast.cli.output import Trouble


def mcp() -> None:
    """Serve recall to an agent over MCP: recall, show, state, note, handoff.

    The client starts it; the plugin does so by itself, and by hand it is
    `claude mcp add holdfast -- holdfast mcp`.

    Example: `holdfast mcp`
    """
    try:
        from holdfast.recall.server import main
    except ModuleNotFoundError as missing:
        if os.environ.get("CLAUDE_PLUGIN_ROOT"):
            # The plugin names a server whether or not it can be had: better one without tools
            # than one that fails at every start.
            from holdfast.recall.absent import main
        else:
            raise Trouble(
                f"The MCP server needs {missing.name}",
                "In the checkout, `pip install '.[mcp]'` brings it.",
            ) from missing
    main()
