"""The command line: `holdfast COMMAND`. Lists the commands and catches foreseeable errors.

Each command is in a module of its own and is imported when it is called:
`holdfast --help` imports none. Exit codes: 0 done, 1 error, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, ClassVar

import typer

import holdfast
from holdfast.cli.lazy_group import LazyCommand, LazyGroup
from holdfast.cli.output import CliError, print_error

# The parts of the help, in this order.
START = "Start here"
RECALL = "What is saved"
SESSION = "Work in a session"
TEAM = "Team"
SETUP = "Settings and upkeep"
PROGRAMS = "For programs"


class Commands(LazyGroup):
    """Every command of `holdfast`, in the order of its help."""

    lazy_commands: ClassVar = {
        "try": LazyCommand(
            "demo:show_demo",
            "Demo: what Holdfast knows at the compaction of a recorded session.",
            START,
        ),
        "install": LazyCommand(
            "install:install",
            "Add Holdfast's hooks to Claude Code's settings. Safe to repeat; repairs old entries.",
            START,
        ),
        "uninstall": LazyCommand(
            "install:uninstall",
            "Remove Holdfast's hooks from Claude Code's settings and restore what was there.",
            START,
        ),
        "doctor": LazyCommand(
            "doctor:doctor",
            "Check that Holdfast works: client, hooks, store, recent compactions, other tools.",
            START,
        ),
        "audit": LazyCommand(
            "audit:audit",
            "Show what compaction has cost you so far, and what Holdfast would have kept.",
            START,
        ),
        "status": LazyCommand(
            "status:status",
            "Show what is saved of a session, and what its last compaction kept, lost and "
            "restored.",
            RECALL,
        ),
        "sessions": LazyCommand(
            "sessions:sessions", "List the stored sessions, latest first.", RECALL
        ),
        "search": LazyCommand(
            "search:search", "Search facts and messages, in all sessions or one.", RECALL
        ),
        "show": LazyCommand(
            "show:show",
            "Show a fact, a session or a row: its text, its status and where it came from.",
            RECALL,
        ),
        "compactions": LazyCommand(
            "compactions:compactions",
            "List compactions, latest first: what the summary kept and lost, and what was "
            "restored.",
            RECALL,
        ),
        "history": LazyCommand(
            "compactions:history",
            "Show a session's compactions, oldest first, with what each one lost.",
            RECALL,
        ),
        "diff": LazyCommand(
            "compactions:diff",
            "Compare what was known before a compaction with the summary and with what was "
            "restored.",
            RECALL,
        ),
        "note": LazyCommand(
            "note:note",
            "Add a note to a session. It is restored verbatim after every compaction.",
            SESSION,
        ),
        "handoff": LazyCommand(
            "handoff:handoff",
            "Write the handoff page of a session: a Markdown file to read, edit and continue from.",
            SESSION,
        ),
        "resume": LazyCommand(
            "handoff:resume",
            "Show the handoff of an earlier session and mark it as resumed.",
            SESSION,
        ),
        "tasks": LazyCommand(
            "tasks:tasks",
            "List the tasks of a session, with summaries of the finished ones.",
            SESSION,
        ),
        "command": LazyCommand(
            "active_commands:command",
            "Commands and skills whose rules stay active across compactions.",
            SESSION,
        ),
        "replay": LazyCommand(
            "replay:replay", "Show the brief of a session as of an earlier point.", SESSION
        ),
        "brief": LazyCommand(
            "brief:brief",
            "Show the brief of a session: what its agent is given after a compaction.",
            SESSION,
        ),
        "connect": LazyCommand("team:connect", "Connect to a team server.", TEAM),
        "disconnect": LazyCommand(
            "team:disconnect",
            "Stop syncing. Data already on the server or on this machine is kept.",
            TEAM,
        ),
        "sync": LazyCommand(
            "team:sync", "Sync sessions to the team server and fetch messages.", TEAM
        ),
        "send": LazyCommand(
            "team:send",
            "Send a message to one agent, to a role, or to everyone in this project.",
            TEAM,
        ),
        "serve": LazyCommand(
            "serve:serve",
            "Run the team server over HTTP, with an OpenAPI document at /openapi.json.",
            TEAM,
        ),
        "token": LazyCommand("token:token", "Manage access tokens of the server.", TEAM),
        "db": LazyCommand(
            "db:db", "Manage the database: PostgreSQL for a team, SQLite for one user.", TEAM
        ),
        "config": LazyCommand(
            "config:config",
            "Show the effective settings and where each comes from; `set` and `unset` change one.",
            SETUP,
        ),
        "ingest": LazyCommand(
            "ingest:ingest",
            "Index existing transcripts, so that `search` and `show_source` can find their "
            "contents.",
            SETUP,
        ),
        "plugin": LazyCommand(
            "plugin:plugin", "The plugin for Claude Code that came with this package.", SETUP
        ),
        "prune": LazyCommand(
            "prune:prune", "Delete old sessions, checkpoints, notes and handoffs.", SETUP
        ),
        "state": LazyCommand(
            "state:state",
            "Show the state of a transcript: rules, tasks, tests, errors, dead ends, files and "
            "more.",
            PROGRAMS,
        ),
        "mcp": LazyCommand(
            "mcp:mcp",
            "Serve recall to an agent over MCP: recall, show, state, note, handoff.",
            PROGRAMS,
        ),
        "statusline": LazyCommand(
            "install:statusline",
            "Print the status line for a payload on standard input: context left, last save, "
            "open tasks.",
            PROGRAMS,
        ),
        "instructions": LazyCommand(
            "compact_instructions:instructions",
            "Show the compact instructions for this project: what a summary should contain.",
            PROGRAMS,
        ),
    }


app = typer.Typer(
    name="holdfast",
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"holdfast {holdfast.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def set_global_options(
    ctx: typer.Context,
    home: Annotated[
        str,
        typer.Option(
            "--home",
            metavar="FOLDER",
            help="Holdfast's data folder. Default: $HOLDFAST_HOME, else "
            "$XDG_DATA_HOME/holdfast, else ~/.local/share/holdfast.",
        ),
    ] = "",
    _version_asked: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Keeps a coding agent's working state alive through context compaction.

    Start with `holdfast try`, then `holdfast install`. `holdfast` alone shows what is going on
    here and what to do next.
    """
    if home:
        os.environ["HOLDFAST_HOME"] = home
    if ctx.invoked_subcommand is None:
        import_module("holdfast.cli.overview").show_overview()  # as lazily as a command


def main(arguments: list[str] | None = None) -> None:
    """The entry point of the `holdfast` script."""
    given = sys.argv[1:] if arguments is None else arguments
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows a question mark, not a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        try:
            app(args=given, prog_name="holdfast")
        finally:
            sys.stdout.flush()  # while what goes wrong can still be told
    except CliError as trouble:
        print_error(trouble, "--json" in given)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is left to say, not even at exit.
        _discard_output()
        sys.exit(0)
    except OSError as error:
        # A full disk under the output, or a file that went wrong where nobody foresaw it.
        _discard_output()
        what = error.filename or "Write failed"
        print_error(CliError(f"{what}: {error.strerror or error}"), as_json=False)
        sys.exit(1)


def _open_closed_streams() -> None:
    """Who starts us without a place to print (`>&-`) does not want to read it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _discard_output() -> None:
    """What is still in the buffer goes nowhere, instead of failing again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
