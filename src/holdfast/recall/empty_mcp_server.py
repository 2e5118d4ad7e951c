"""Stands in for the recall server where the package is not installed: a server with no tools.

The plugin names its server in a file that cannot have conditions. A command that is not there
would show as a failed server at every start; this one answers politely and offers nothing, and
the plugin's skill recalls through the shell.
"""

import json
import sys

METHOD_NOT_FOUND = -32601


def handle_request(request: dict[str, object]) -> dict[str, object] | None:
    """None for a notification."""
    if "id" not in request:
        return None
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": request["id"]}
    method, params = request.get("method"), request.get("params")
    if method == "initialize":
        version = params.get("protocolVersion") if isinstance(params, dict) else None
        reply["result"] = {
            "protocolVersion": version if isinstance(version, str) else "2025-06-18",
            "capabilities": {},
            "serverInfo": {"name": "holdfast", "version": "0"},
        }
    elif method == "ping":
        reply["result"] = {}
    elif method == "tools/list":
        reply["result"] = {"tools": []}
    else:
        reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"no method {method}"}
    return reply


def main() -> None:
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        reply = handle_request(request) if isinstance(request, dict) else None
        if reply is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
