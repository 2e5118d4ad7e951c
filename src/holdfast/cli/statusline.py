"""`holdfast statusline`: the line itself, from the client's payload on standard input.

The installed status line runs `holdfast/hooks/main.py statusline` instead, which starts ten times
faster; this is for trying it, and for chaining it by hand.
"""

from __future__ import annotations

import os
import sys
import time

import typer


def statusline() -> None:
    """Print the status line for a payload on standard input: context left, last save, open tasks.

    `holdfast install --statusline` adds it to Claude Code, wrapping the one you have.

    Example: `holdfast statusline < payload.json`
    """
    from holdfast.hooks.statusline import format_statusline, parse_payload

    raw = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    shown = format_statusline(parse_payload(raw), os.environ, time.time())
    if shown:
        typer.echo(shown)
