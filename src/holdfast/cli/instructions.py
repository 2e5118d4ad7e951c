"""`holdfast instructions`: the compact instructions, shown, and kept in CLAUDE.md on request.

Owns which file the block goes into; `clients.claude_code.memory_block` edits the bytes.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from holdfast.cli.output import Trouble, printable


def instructions(
    write: Annotated[
        bool, typer.Option("--write", help="Keep them as a marked block in CLAUDE.md.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the block out again, byte for byte.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Only show them (what happens by itself).")
    ] = False,
    file: Annotated[
        str,
        typer.Option("--file", metavar="FILE", help="Another file than the project's CLAUDE.md."),
    ] = "",
) -> None:
    """What a summary should hold, fitted to this project, for whoever compacts the conversation.

    Every compaction is given the same text. `.holdfast/compact.md` of the project is added to it.

    Example: `holdfast instructions --write`
    """
    from holdfast.clients.claude_code import memory_block
    from holdfast.lifecycle.instructions import project_instructions

    if write + remove + show > 1:
        raise typer.BadParameter("use one of --write, --remove and --show")
    folder = os.path.realpath(os.getcwd())
    if not write and not remove:
        typer.echo(printable(project_instructions(folder)))
        return
    path = file or _memory_file(folder)
    if not file:
        _require_inside(path, folder)
    before = _read(path)
    try:
        if write:
            after: bytes | None = memory_block.put(before, project_instructions(folder))
        else:
            after = memory_block.take_out(before)
    except memory_block.BlockDamaged as error:
        raise Trouble(f"{path}: {error}", "Correct it there by hand.") from error
    if before == after:
        typer.echo(f"Nothing to do: {path} {'is up to date' if write else 'has no such block'}.")
        return
    _write(path, before, after)
    typer.echo(f"{'Wrote the block into' if write else 'Took the block out of'} {path}.")
    if write:
        typer.echo("`holdfast instructions --remove` takes it out again.")


def _memory_file(folder: str) -> str:
    """The one that is there; else CLAUDE.md at the project's root."""
    from holdfast.cli.install import project_root

    root = project_root(folder)
    places = [os.path.join(root, "CLAUDE.md"), os.path.join(root, ".claude", "CLAUDE.md")]
    return next((path for path in places if os.path.exists(path)), places[0])


def _require_inside(path: str, folder: str) -> None:
    """CLAUDE.md may be a link to another file of the project, as AGENTS.md; to none outside."""
    from holdfast.cli.install import leads_out

    if leads_out(path, folder):
        raise Trouble(f"{path} is a link that leads out of the project", "Name it with --file.")


def _read(path: str) -> bytes | None:
    from holdfast.clients.claude_code import atomic_file

    try:
        return atomic_file.read(path)
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror or error}") from error


def _write(path: str, before: bytes | None, after: bytes | None) -> None:
    from holdfast.clients.claude_code import atomic_file

    try:
        if after is None:
            atomic_file.delete(path, before or b"")
        else:
            atomic_file.replace(os.path.realpath(path), after, before)
    except atomic_file.NotTheExpectedBytes as error:
        raise Trouble(f"{path} was changed meanwhile", "Try again.") from error
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror or error}") from error
