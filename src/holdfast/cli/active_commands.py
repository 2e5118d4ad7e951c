"""`holdfast session commands`: commands and skills in force, by hand, and their files checked.

The hooks register what runs by themselves. Owns which session is meant and what is shown.
"""

import os
from typing import Annotated, Any

import typer

from holdfast.cli import output
from holdfast.cli.screen import Screen, make_table
from holdfast.cli.store_access import SessionOption, open_user_store, resolve_session
from holdfast.clock import read_clock
from holdfast.compaction.active_commands import command_finder, registry
from holdfast.compaction.active_commands.command_file import find_problems, parse_command_file
from holdfast.fastpath.pending_texts import MAX_RULES_CHARS, RULES
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import File
from holdfast.paths import data_dir, store_path
from holdfast.session.context import SessionContext, SessionRef, get_agent_session_id, load_config
from holdfast.session.update import load_stored
from holdfast.state import EMPTY_STATE, State
from holdfast.text import pluralize

commands = typer.Typer(
    name="commands",
    no_args_is_help=True,
    help="Commands and skills whose rules stay active across compactions.\n\n"
    "Example: `holdfast session commands list`",
)


@commands.command()
def activate(name: str, arguments: str = "", session: SessionOption = "") -> None:
    """Activate a command by hand. The hooks do this automatically when a command runs.

    NAME: Name of the command or skill, with or without the slash.
    --arguments TEXT: Arguments it was started with.

    Example: `holdfast session commands activate babysit`
    """
    plain = name.strip().lstrip("/")
    ctx, _ = _load_session(session)
    found = command_finder.make_finder(ctx.session.cwd, ctx.config)(plain)
    if found is None:
        raise output.CliError(
            f"No file found for command or skill {plain!r}",
            "`holdfast session commands lint` lists the files that are found; see `command_paths`.",
        )
    _append_activation(ctx, registry.ACTIVATED, plain, arguments)
    output.print_line(f"/{plain} is active in session {ctx.session.id[:8]} ({found.path}).")


@commands.command()
def deactivate(name: str, session: SessionOption = "") -> None:
    """Deactivate a command; its rules are no longer restored after a compaction.

    NAME: Name of the command or skill, with or without the slash.

    Example: `holdfast session commands deactivate babysit`
    """
    plain = name.strip().lstrip("/")
    ctx, state = _load_session(session)
    meant = registry.find_active(ctx, state, plain)
    if meant is None:
        raise output.CliError(f"/{plain} is not active in session {ctx.session.id[:8]}")
    _append_activation(ctx, registry.DEACTIVATED, meant.name, "")
    output.print_line(f"/{meant.name} is no longer active in session {ctx.session.id[:8]}.")


def _append_activation(ctx: SessionContext, sign: str, name: str, arguments: str) -> None:
    with output.explain_os_error(f"Could not write to {ctx.session_dir.path}"):
        registry.append_manual_entry(ctx.session_dir, sign, name, arguments, ctx.now.text)


@commands.command("list")
def show(session: SessionOption = "", as_json: output.JsonOption = False) -> None:
    """List the active commands of a session and what is kept of each.

    Example: `holdfast session commands list`
    """
    ctx, state = _load_session(session)
    rows: list[dict[str, Any]] = [
        {
            "name": found.active.name,
            "by": found.active.started_by,
            "since": found.active.time,
            "arguments": found.active.arguments,
            "file": found.path,
            "priority": found.file.priority,
            "kept": _describe_kept(found),
        }
        for found in registry.resolve_active(ctx, state)
    ]
    if as_json:
        output.print_json({"session": ctx.session.id, "commands": rows})
    elif not rows:
        output.print_line(f"No active commands in session {ctx.session.id[:8]}.")
    else:
        table = make_table("command", "by", "kept", "file")
        for column in table.columns:
            column.overflow = "fold"
        for row in rows:
            said = output.format_one_line(f"/{row['name']} {row['arguments']}".strip(), 60)
            table.add_row(
                said, row["by"], row["kept"], output.replace_control_chars(row["file"] or "-")
            )
        Screen().print(table)


def _describe_kept(found: Any) -> str:
    if not found.path:
        return "nothing (no file)"
    if found.file.one_shot:
        return "nothing: one-shot"
    if found.file.rules or found.file.preserved:
        return f"{sum(map(len, (*found.file.rules, *found.file.preserved)))} characters of rules"
    return "description and file"


@commands.command()
def lint(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE")] = None,
    as_json: output.JsonOption = False,
) -> None:
    """Find unclosed, empty or oversized blocks and invalid front matter.

    Exits with 1 if there is something to fix.

    FILE: Default: all files on the search path.

    Example: `holdfast session commands lint`
    """
    ctx = _build_context(SessionRef("", "", os.path.realpath(os.getcwd())))
    # What has no room right after a compaction follows.
    largest = ctx.config.settings.number("command_rules_chars") + len(RULES) * MAX_RULES_CHARS
    looked_at = [File(name) for name in files or ()] or list(
        command_finder.list_command_files(ctx.session.cwd, ctx.config)
    )
    found = []
    kept = 0
    for one in looked_at:
        path = one.path
        if files and not os.path.isfile(path):
            what = "not a regular file" if os.path.exists(path) else "no such file"
            raise output.CliError(f"{path}: {what}", "Check the path.")
        text = one.text(command_finder.MAX_FILE_BYTES)
        file = parse_command_file(text)
        kept += bool(file.rules or file.preserved)
        found += [(path, fault.line, fault.message) for fault in find_problems(text, largest)]
    if as_json:
        faulty = [{"file": path, "line": line, "fault": what} for path, line, what in found]
        output.print_json({"files": len(looked_at), "with_rules": kept, "faults": faulty})
    else:
        for path, line, what in found:
            output.print_line(f"{path}:{line}: {what}")
        output.print_line(
            f"{pluralize(len(looked_at), 'file')}, {kept} with rules, {len(found)} to fix."
        )
    if found:
        raise typer.Exit(1)


def _load_session(named: str) -> tuple[SessionContext, State]:
    """The session that is meant; one that nothing was saved of yet has an empty state."""
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
        return _build_context(ref), load_stored(store, ref).followed.state


def _build_context(ref: SessionRef) -> SessionContext:
    """With the settings of the folder in which the command runs."""
    data = data_dir()
    config = load_config(os.environ, data, os.path.realpath(os.getcwd()))
    return SessionContext(ref, SessionDir(data, ref.id), read_clock(), config=config)
