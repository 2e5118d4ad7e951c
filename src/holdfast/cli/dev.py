"""`holdfast dev`: small commands for programs: MCP, the plugin's folder, the status line, and the
compact instructions, shown and kept in CLAUDE.md on request.

Owns which file the instructions go into; the client's installer edits the bytes.
"""

import os
import sys
import time

import typer

from holdfast import own_copy
from holdfast.cli.output import CliError, print_line
from holdfast.fastpath.project import locate_project
from holdfast.paths import plugin_dir

plugin = typer.Typer(
    no_args_is_help=True,
    help="The plugin for Claude Code that came with this package.\n\n"
    "Example: `holdfast dev plugin path`",
)


@plugin.callback()
def group() -> None:
    """The plugin for Claude Code that came with this package."""


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


def mcp() -> None:
    """Serve recall to an agent over MCP: recall, show, state, note, handoff.

    Started by the client. The plugin registers it automatically; to do it by hand, run `claude mcp
    add holdfast -- holdfast dev mcp`.

    Example: `holdfast dev mcp`
    """
    from holdfast.paths import forget_project_variables
    from holdfast.recall.mcp_server import main

    forget_project_variables()
    main()


def statusline() -> None:
    """Print the status line for a payload on standard input: context left, last save, open tasks.

    `holdfast install --statusline` adds it to Claude Code, wrapping the one you have.

    Example: `holdfast dev statusline < payload.json`
    """
    from holdfast.hooks.statusline import format_statusline, parse_payload

    raw = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    if shown := format_statusline(parse_payload(raw), os.environ, time.time()):
        typer.echo(shown)


def instructions(write: bool = False, remove: bool = False, file: str = "") -> None:
    """Show the compact instructions for this project: what a summary should contain.

    Every compaction gets this text, plus the project's `.holdfast/compact.md`.

    --write: Write them to CLAUDE.md as a marked block.
    --remove: Remove the block again, byte for byte.
    --file FILE: Use this file instead of the project's CLAUDE.md.

    Example: `holdfast dev instructions --write`
    """
    from holdfast.cli.install import links_outside
    from holdfast.compaction.instructions import build_project_instructions
    from holdfast.install.claude_code import put_instructions, remove_instructions
    from holdfast.install.installation import InstructionsDamaged
    from holdfast.settings import atomic_file

    if write and remove:
        raise typer.BadParameter("use one of --write and --remove")
    folder = os.path.realpath(os.getcwd())
    text = build_project_instructions(folder)
    if not write and not remove:
        print_line(text)
        return
    path = file or _find_memory_file(folder)
    # CLAUDE.md may be a link to another file of the project, as AGENTS.md; to none outside.
    if not file and links_outside(path, folder):
        raise CliError(f"{path} is a link to a file outside the project", "Pass it with --file.")
    try:
        before = atomic_file.read(path)
        after = remove_instructions(before)
        if write:
            after = put_instructions(before, text)
        if before == after:
            what = "is up to date" if write else "has no such block"
            typer.echo(f"Nothing to do: {path} {what}.")
            return
        if after is None:
            atomic_file.delete(path, before or b"")
        else:
            atomic_file.replace(os.path.realpath(path), after, before)
    except InstructionsDamaged as error:
        raise CliError(f"{path}: {error}", "Fix it by hand.") from error
    except atomic_file.FileChanged as error:
        raise CliError(f"{path} was changed by another program", "Try again.") from error
    except OSError as error:
        raise CliError(f"{path}: {error.strerror or error}") from error
    typer.echo(f"{'Wrote the block to' if write else 'Removed the block from'} {path}.")
    if write:
        typer.echo("`holdfast dev instructions --remove` removes it again.")


def _find_memory_file(folder: str) -> str:
    """The one that is there; else CLAUDE.md at the project's root."""
    names = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"))
    places = [os.path.join(locate_project(folder)[1], name) for name in names]
    return next((path for path in places if os.path.exists(path)), places[0])
