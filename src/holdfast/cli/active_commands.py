"""`holdfast session commands`: commands and skills in force, by hand, and their files checked.

The hooks register what runs by themselves. Owns which session is meant and what is shown.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    CliError,
    JsonOption,
    format_one_line,
    make_console,
    pluralize,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import open_user_store, resolve_session
from holdfast.clock import read_clock
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import File
from holdfast.paths import data_dir, store_path

if TYPE_CHECKING:
    from holdfast.session.context import SessionContext, SessionRef
    from holdfast.state import State


commands = typer.Typer(
    name="commands",
    no_args_is_help=True,
    help="Commands and skills whose rules stay active across compactions.\n\n"
    "Example: `holdfast session commands list`",
)

NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the command or skill, with or without the slash."),
]
SessionOption = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="SESSION",
        help="Session id or a prefix of it. Default: the current session, else the latest one of "
        "this worktree, else of this project.",
    ),
]


@commands.command()
def activate(
    name: NameArgument,
    arguments: Annotated[
        str, typer.Option("--arguments", metavar="TEXT", help="Arguments it was started with.")
    ] = "",
    session: SessionOption = "",
) -> None:
    """Activate a command by hand. The hooks do this automatically when a command runs.

    Example: `holdfast session commands activate babysit`
    """

    from holdfast.compaction.active_commands.command_finder import find_command_file
    from holdfast.compaction.active_commands.registry import ACTIVATED

    plain = name.strip().lstrip("/")
    ctx, _ = _session(session)
    found = find_command_file(plain, ctx.session.cwd, ctx.config)
    if found is None:
        raise CliError(
            f"No file found for command or skill {plain!r}",
            "`holdfast session commands lint` lists the files that are found; see `command_paths`.",
        )
    _append_activation(ctx, ACTIVATED, plain, arguments)
    typer.echo(
        replace_control_chars(f"/{plain} is active in session {ctx.session.id[:8]} ({found.path}).")
    )


@commands.command()
def deactivate(name: NameArgument, session: SessionOption = "") -> None:
    """Deactivate a command; its rules are no longer restored after a compaction.

    Example: `holdfast session commands deactivate babysit`
    """

    from holdfast.compaction.active_commands.registry import DEACTIVATED, find_active

    plain = name.strip().lstrip("/")
    ctx, state = _session(session)
    meant = find_active(ctx, state, plain)
    if meant is None:
        raise CliError(f"/{plain} is not active in session {ctx.session.id[:8]}")
    _append_activation(ctx, DEACTIVATED, meant.name, "")
    said = f"/{meant.name} is no longer active in session {ctx.session.id[:8]}."
    typer.echo(replace_control_chars(said))


@commands.command("list")
def show(session: SessionOption = "", as_json: JsonOption = False) -> None:
    """List the active commands of a session and what is kept of each.

    Example: `holdfast session commands list`
    """

    from holdfast.compaction.active_commands.registry import resolve_active

    ctx, state = _session(session)
    rows = [
        {
            "name": found.active.name,
            "by": found.active.started_by,
            "since": found.active.time,
            "arguments": found.active.arguments,
            "file": found.path,
            "priority": found.file.priority,
            "kept": _describe_kept(found),
        }
        for found in resolve_active(ctx, state)
    ]
    if as_json:
        print_json({"session": ctx.session.id, "commands": rows})
        return
    _show(ctx.session.id, rows)


@commands.command()
def lint(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Default: all files on the search path."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find unclosed, empty or oversized blocks and invalid front matter.

    Exits with 1 if there is something to fix.

    Example: `holdfast session commands lint`
    """

    from holdfast.compaction.active_commands.command_file import find_problems, parse_command_file
    from holdfast.compaction.active_commands.command_finder import (
        MAX_FILE_BYTES,
        list_command_files,
    )
    from holdfast.session.context import SessionRef

    ctx = _build_context(SessionRef("", "", os.path.realpath(os.getcwd())))
    largest = ctx.config.settings.number("command_rules_chars")
    looked_at = [File(name) for name in files or ()] or list(
        list_command_files(ctx.session.cwd, ctx.config)
    )
    found = []
    kept = 0
    for one in looked_at:
        path = one.path
        if files and not os.path.isfile(path):
            what = "not a regular file" if os.path.exists(path) else "no such file"
            raise CliError(f"{path}: {what}", "Check the path.")
        text = one.text(MAX_FILE_BYTES)
        file = parse_command_file(text)
        kept += bool(file.rules or file.preserved)
        found += [(path, fault.line, fault.message) for fault in find_problems(text, largest)]
    if as_json:
        faulty = [{"file": path, "line": line, "fault": what} for path, line, what in found]
        print_json({"files": len(looked_at), "with_rules": kept, "faults": faulty})
    else:
        for path, line, what in found:
            typer.echo(replace_control_chars(f"{path}:{line}: {what}"))
        typer.echo(f"{pluralize(len(looked_at), 'file')}, {kept} with rules, {len(found)} to fix.")
    if found:
        raise typer.Exit(1)


def _append_activation(ctx: SessionContext, sign: str, name: str, arguments: str) -> None:
    from holdfast.compaction.active_commands.registry import append_manual_entry

    try:
        append_manual_entry(ctx.session_dir, sign, name, arguments, ctx.now.text)
    except OSError as error:
        raise CliError(
            f"Could not write to {ctx.session_dir.path}: {error.strerror or error}"
        ) from error


def _describe_kept(found: Any) -> str:
    if not found.path:
        return "nothing (no file)"
    if found.file.one_shot:
        return "nothing: one-shot"
    if found.file.rules or found.file.preserved:
        return f"{sum(map(len, (*found.file.rules, *found.file.preserved)))} characters of rules"
    return "description and file"


def _show(session_id: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        typer.echo(f"No active commands in session {session_id[:8]}.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("command", "by", "kept", "file"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        said = f"/{row['name']} {row['arguments']}".strip()
        cells = (format_one_line(said, 60), row["by"], row["kept"], row["file"] or "-")
        table.add_row(*(Text(replace_control_chars(cell)) for cell in cells))
    make_console().print(table)


def _session(named: str) -> tuple[SessionContext, State]:
    """The session that is meant; one that nothing was saved of yet has an empty state."""

    from holdfast.session.context import SessionRef, get_agent_session_id
    from holdfast.session.update import load_snapshot
    from holdfast.state import EMPTY_STATE

    here = os.path.realpath(os.getcwd())
    running = get_agent_session_id(os.environ)
    unsaved = SessionRef(running, "", here)
    if not named and running and not os.path.exists(store_path()):
        return _build_context(unsaved), EMPTY_STATE
    with open_user_store() as store:
        if not named and running and store.session(running) is None:
            return _build_context(unsaved), EMPTY_STATE
        session = resolve_session(store, named)
        ref = SessionRef(session.id, session.transcript, session.cwd or here)
        return _build_context(ref), load_snapshot(store, ref).followed.state


def _build_context(ref: SessionRef) -> SessionContext:
    """With the settings of the folder in which the command runs."""

    from holdfast.session.context import SessionContext, load_config

    data = data_dir()
    config = load_config(os.environ, data, os.path.realpath(os.getcwd()))
    return SessionContext(ref, SessionDir(data, ref.id), read_clock(), config=config)
