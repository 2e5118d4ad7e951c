"""`holdfast plugin path`: where the plugin is that came with this package."""

from __future__ import annotations

import typer

from holdfast import own_copy
from holdfast.cli.output import CliError
from holdfast.paths import plugin_dir

plugin = typer.Typer(
    no_args_is_help=True,
    help="The plugin for Claude Code that came with this package.\n\n"
    "Example: `holdfast dev plugin path`",
)


@plugin.command("path")
def show_path() -> None:
    """Print the plugin's folder: `claude --plugin-dir "$(holdfast plugin path)"`, or the Agent SDK.

    Example: `holdfast dev plugin path`
    """
    folder = plugin_dir()
    if not folder:
        raise CliError("This copy of Holdfast has no plugin", "Install Holdfast again.")
    typer.echo(folder)
    if own_copy.is_temporary():
        typer.echo(
            f"This folder is in a cache that may be emptied: `{own_copy.format_install()}` first.",
            err=True,
        )


@plugin.callback()
def group() -> None:
    """The plugin for Claude Code that came with this package."""
