"""The command line: `holdfast COMMAND`. Registers the commands and catches foreseeable errors.

Each command is in a module of its own and imports what is heavy when it runs, so that
`holdfast --help` stays quick. Exit codes: 0 done, 1 error, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

import holdfast
from holdfast.cli.active_commands import command
from holdfast.cli.audit import audit
from holdfast.cli.brief import brief
from holdfast.cli.compact_instructions import instructions
from holdfast.cli.compactions import compactions, diff, history
from holdfast.cli.config import config
from holdfast.cli.db import db
from holdfast.cli.demo import show_demo
from holdfast.cli.doctor import doctor
from holdfast.cli.handoff import handoff, resume
from holdfast.cli.ingest import ingest
from holdfast.cli.install import install, statusline, uninstall
from holdfast.cli.mcp import mcp
from holdfast.cli.note import note
from holdfast.cli.output import CliError, print_error
from holdfast.cli.prune import prune
from holdfast.cli.replay import replay
from holdfast.cli.search import search
from holdfast.cli.serve import serve
from holdfast.cli.sessions import sessions
from holdfast.cli.show import show
from holdfast.cli.state import state
from holdfast.cli.status import status
from holdfast.cli.tasks import tasks
from holdfast.cli.team import carry, connect, disconnect, send
from holdfast.cli.token import token

app = typer.Typer(
    name="holdfast",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"holdfast {holdfast.__version__}")
        raise typer.Exit


@app.callback()
def set_global_options(
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

    Start with `holdfast try`, then `holdfast install`.
    """
    if home:
        os.environ["HOLDFAST_HOME"] = home


app.command("try")(show_demo)
app.command()(install)
app.command()(uninstall)
app.command()(doctor)
app.command()(status)
app.add_typer(config)
app.add_typer(command)
app.command()(instructions)
app.command()(statusline)
app.command()(note)
app.command()(handoff)
app.command()(resume)
app.command()(tasks)
app.command()(compactions)
app.command()(history)
app.command()(diff)
app.command()(brief)
app.command()(replay)
app.command()(state)
app.command()(ingest)
app.command()(sessions)
app.command()(show)
app.command()(search)
app.command()(prune)
app.command()(mcp)
app.add_typer(db)
app.command()(serve)
app.command()(connect)
app.command()(disconnect)
app.command()(carry)
app.command()(send)
app.add_typer(token)
app.command()(audit)


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
