"""The yes that every deleting command needs: typed at a terminal, or given with `--yes`.

A command shows what would go before it asks. Must not delete anything itself.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from holdfast.cli.output import CliError, make_console

YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Delete without asking; required in scripts.")
]


def confirm_deletion(yes: bool, *, as_json: bool) -> None:
    """Returns when the user said yes; ends the command otherwise."""
    if yes:
        return
    if as_json or not _can_ask():
        raise CliError(
            "Nothing was deleted: not confirmed",
            "Check with --dry-run, then pass --yes.",
        )
    if not typer.confirm("Delete this permanently?", default=False):
        make_console().print("Nothing was deleted.")
        raise typer.Exit(1)


def _can_ask() -> bool:
    return all(
        stream is not None and not stream.closed and stream.isatty()
        for stream in (sys.stdin, sys.stdout)
    )
