"""Starts the command line: the `holdfast` script, and `python -m holdfast`.

Loads the commands where an interruption is already met in peace. Imports nothing else: every
worker process begins by importing this. The recall server is started without them: a client does
not wait for it.
"""

import sys


def main() -> None:
    try:
        if sys.argv[1:] == ["dev", "mcp"]:
            from holdfast.recall.mcp_server import main as run
        else:
            from holdfast.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
