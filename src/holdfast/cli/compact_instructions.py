"""`holdfast dev instructions`: the compact instructions, shown, and kept in CLAUDE.md on request.

Owns which file the block goes into; the client's installer edits the bytes.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from holdfast.cli.output import CliError, replace_control_chars


def instructions(
    write: Annotated[
        bool, typer.Option("--write", help="Write them to CLAUDE.md as a marked block.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the block again, byte for byte.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Only show them (the default).")] = False,
    file: Annotated[
        str,
        typer.Option(
            "--file", metavar="FILE", help="Use this file instead of the project's CLAUDE.md."
        ),
    ] = "",
) -> None:
    """Show the compact instructions for this project: what a summary should contain.

    Every compaction gets this text, plus the project's `.holdfast/compact.md`.

    Example: `holdfast dev instructions --write`
    """

    from holdfast import clients
    from holdfast.clients.installation import InstructionsDamaged
    from holdfast.compaction.instructions import build_project_instructions

    if write + remove + show > 1:
        raise typer.BadParameter("use one of --write, --remove and --show")
    folder = os.path.realpath(os.getcwd())
    if not write and not remove:
        typer.echo(replace_control_chars(build_project_instructions(folder)))
        return
    path = file or _memory_file(folder)
    if not file:
        _require_inside(path, folder)
    before = _read(path)
    installer = clients.default().installer
    try:
        if write:
            after: bytes | None = installer.put_instructions(
                before, build_project_instructions(folder)
            )
        else:
            after = installer.remove_instructions(before)
    except InstructionsDamaged as error:
        raise CliError(f"{path}: {error}", "Fix it by hand.") from error
    if before == after:
        typer.echo(f"Nothing to do: {path} {'is up to date' if write else 'has no such block'}.")
        return
    _write(path, before, after)
    typer.echo(f"{'Wrote the block to' if write else 'Removed the block from'} {path}.")
    if write:
        typer.echo("`holdfast dev instructions --remove` removes it again.")


def _memory_file(folder: str) -> str:
    """The one that is there; else CLAUDE.md at the project's root."""

    from holdfast import clients
    from holdfast.cli.install import find_project_root

    places = clients.default().installer.list_instructions_files(find_project_root(folder))
    return next((path for path in places if os.path.exists(path)), places[0])


def _require_inside(path: str, folder: str) -> None:
    """CLAUDE.md may be a link to another file of the project, as AGENTS.md; to none outside."""

    from holdfast.cli.install import links_outside

    if links_outside(path, folder):
        raise CliError(f"{path} is a link to a file outside the project", "Pass it with --file.")


def _read(path: str) -> bytes | None:
    from holdfast.settings import atomic_file

    try:
        return atomic_file.read(path)
    except OSError as error:
        raise CliError(f"{path}: {error.strerror or error}") from error


def _write(path: str, before: bytes | None, after: bytes | None) -> None:
    from holdfast.settings import atomic_file

    try:
        if after is None:
            atomic_file.delete(path, before or b"")
        else:
            atomic_file.replace(os.path.realpath(path), after, before)
    except atomic_file.FileChanged as error:
        raise CliError(f"{path} was changed by another program", "Try again.") from error
    except OSError as error:
        raise CliError(f"{path}: {error.strerror or error}") from error
