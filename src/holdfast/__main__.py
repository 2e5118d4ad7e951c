"""Starts the command line: the `holdfast` script, and `python -m holdfast`.

Loads the commands where an interruption is already met in peace. Imports nothing else: every
worker process begins by importing this.
"""

import sys


def main() -> None:
    try:
        from holdfast.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
