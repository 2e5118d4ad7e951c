"""`holdfast dev mcp`: recall for the agent, as an MCP server on standard input and output."""

from __future__ import annotations

import os

from holdfast.cli.output import CliError
from holdfast.own_copy import format_install


def mcp() -> None:
    """Serve recall to an agent over MCP: recall, show, state, note, handoff.

    Started by the client. The plugin registers it automatically; to do it by hand, run `claude mcp
    add holdfast -- holdfast dev mcp`.

    Example: `holdfast dev mcp`
    """
    try:
        from holdfast.recall.mcp_server import main
    except ModuleNotFoundError as missing:
        if os.environ.get("CLAUDE_PLUGIN_ROOT"):
            # The plugin names a server whether or not it can be had: better one without tools
            # than one that fails at every start.
            from holdfast.recall.empty_mcp_server import main
        else:
            raise CliError(
                f"The MCP server needs {missing.name}",
                f"Run `{format_install('mcp')}`.",
            ) from missing
    main()
