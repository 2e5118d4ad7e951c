"""`holdfast command`: commands and skills in force in a session; by hand, and their files checked.

The hooks register what runs by themselves. Owns which session is meant and what is shown.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console, one_line, printable

if TYPE_CHECKING:
    from holdfast.lifecycle.keep import Scene
    from holdfast.lifecycle.tray import Tray
    from holdfast.state import State

command = typer.Typer(
    name="command",
    no_args_is_help=True,
    help="Commands and skills whose rules stay in force across compactions.",
)

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="The command or skill, with or without the slash.")
]
SessionOption = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="SESSION",
        help="The beginning of its id. Default: the session this runs in, else the latest of "
        "this folder's project.",
    ),
]


@command.command()
def activate(
    name: NameArgument,
    arguments: Annotated[
        str, typer.Option("--arguments", metavar="TEXT", help="What it was started with.")
    ] = "",
    session: SessionOption = "",
) -> None:
    """Put a command in force by hand. The hooks do so by themselves when one is run.

    Example: `holdfast command activate babysit`
    """
    from holdfast.lifecycle.active import ON
    from holdfast.lifecycle.command_files import find

    plain = name.strip().lstrip("/")
    scene, tray, _ = _session(session)
    found = find(plain, scene.cwd, scene.terms)
    if found is None:
        raise Trouble(
            f"No file of a command or skill {plain!r} was found",
            "`holdfast command lint` lists where they are looked for; see `command_search`.",
        )
    _say(tray, ON, plain, arguments)
    typer.echo(printable(f"/{plain} is in force in session {scene.session_id[:8]} ({found.path})."))


@command.command()
def deactivate(name: NameArgument, session: SessionOption = "") -> None:
    """Take a command out of force; its rules no longer come back after a compaction.

    Example: `holdfast command deactivate babysit`
    """
    from holdfast.lifecycle.active import OFF, named

    plain = name.strip().lstrip("/")
    scene, tray, state = _session(session)
    meant = named(plain, state, tray, scene)
    if meant is None:
        raise Trouble(f"/{plain} is not in force in session {scene.session_id[:8]}")
    _say(tray, OFF, meant.name, "")
    said = f"/{meant.name} is no longer in force in session {scene.session_id[:8]}."
    typer.echo(printable(said))


@command.command("list")
def show(session: SessionOption = "", as_json: JsonOption = False) -> None:
    """List the commands in force in a session, and what is kept of each.

    Example: `holdfast command list`
    """
    from holdfast.lifecycle.active import known

    scene, tray, state = _session(session)
    rows = [
        {
            "name": found.active.name,
            "by": found.active.by,
            "since": found.active.time,
            "arguments": found.active.arguments,
            "file": found.path,
            "priority": found.file.priority,
            "kept": _kept(found),
        }
        for found in known(state, tray, scene)
    ]
    if as_json:
        answer({"session": scene.session_id, "commands": rows})
        return
    _show(scene.session_id, rows)


@command.command()
def lint(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Default: every file that would be found."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find blocks that are not closed, empty or too long, and heads that say something else.

    Ends with 1 when there is something to correct.

    Example: `holdfast command lint`
    """
    from holdfast.active.command_file import faults, understood
    from holdfast.cli.past import counted
    from holdfast.files import File
    from holdfast.lifecycle.command_files import LARGEST, everything

    scene = _here()
    largest = scene.terms.settings.number("command_rules_chars")
    looked_at = [File(name) for name in files or ()] or list(everything(scene.cwd, scene.terms))
    found = []
    kept = 0
    for one in looked_at:
        path = one.path
        if files and not os.path.isfile(path):
            what = "not a regular file" if os.path.exists(path) else "no such file"
            raise Trouble(f"{path}: {what}", "Check the path.")
        text = one.text(LARGEST)
        file = understood(text)
        kept += bool(file.rules or file.preserved)
        found += [(path, fault.line, fault.what) for fault in faults(text, largest)]
    if as_json:
        faulty = [{"file": path, "line": line, "fault": what} for path, line, what in found]
        answer({"files": len(looked_at), "with_rules": kept, "faults": faulty})
    else:
        for path, line, what in found:
            typer.echo(printable(f"{path}:{line}: {what}"))
        typer.echo(
            f"{counted(len(looked_at), 'file')}, {kept} with rules, {len(found)} to correct."
        )
    if found:
        raise typer.Exit(1)


def _say(tray: Tray, sign: str, name: str, arguments: str) -> None:
    from holdfast.lifecycle.active import say

    try:
        say(tray, sign, name, arguments, _now())
    except OSError as error:
        raise Trouble(
            f"It could not be kept in {tray.folder}: {error.strerror or error}"
        ) from error


def _kept(found: Any) -> str:
    if not found.path:
        return "nothing: no file"
    if found.file.one_shot:
        return "nothing: one-shot"
    if found.file.rules or found.file.preserved:
        return f"{sum(map(len, (*found.file.rules, *found.file.preserved)))} characters of rules"
    return "description and file"


def _show(session_id: str, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    if not rows:
        typer.echo(f"No command is in force in session {session_id[:8]}.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("command", "by", "kept", "file"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        said = f"/{row['name']} {row['arguments']}".strip()
        cells = (one_line(said, 60), row["by"], row["kept"], row["file"] or "-")
        table.add_row(*(Text(printable(cell)) for cell in cells))
    console().print(table)


def _session(named: str) -> tuple[Scene, Tray, State]:
    """The session that is meant; one that nothing was saved of yet has an empty state."""
    from holdfast.cli.opening import opened_store, session_named
    from holdfast.cli.status import current_session
    from holdfast.lifecycle.keep import Scene, load
    from holdfast.lifecycle.places import data_folder, store_path
    from holdfast.lifecycle.tray import Tray
    from holdfast.state import EMPTY

    here = _here()
    running = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not named and running and not os.path.exists(store_path()):
        return here._replace(session_id=running), Tray(data_folder(), running), EMPTY
    with opened_store() as store:
        if not named and running and store.session(running) is None:
            return here._replace(session_id=running), Tray(data_folder(), running), EMPTY
        session = session_named(store, named) if named else current_session(store)
        cwd = session.cwd or here.cwd
        scene = Scene(session.id, session.transcript, cwd, here.terms)
        state = load(store, scene).tracked.state
    return scene, Tray(data_folder(), session.id), state


def _here() -> Scene:
    from holdfast.lifecycle.keep import Scene
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.terms import terms_for

    cwd = os.path.realpath(os.getcwd())
    return Scene("", "", cwd, terms_for(os.environ, data_folder(), cwd))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
