"""The command line: `holdfast COMMAND`. Global options, and foreseeable errors in one line.

Each command is in a module of its own and is imported when it is called (`cli.command_tree`):
`holdfast --help` imports none. Exit codes: 0 done, 1 error, 2 wrong usage, 130 interrupted.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, ClassVar

import typer

import holdfast
from holdfast.cli.command_tree import TREE
from holdfast.cli.lazy_group import LazyGroup
from holdfast.cli.output import GRANT_ACCESS, READ_ONLY_ERRORS, CliError, print_error
from holdfast.cli.store_access import explain, list_foreseeable


class Commands(LazyGroup):
    """Every command of `holdfast`."""

    tree: ClassVar = TREE


app = typer.Typer(
    name="holdfast",
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
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
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Keeps a coding agent's working state alive through context compaction.

    Start with `holdfast try`, then `holdfast install`. `holdfast` alone shows what is going on
    here and what to do next.
    """
    if home:
        os.environ["HOLDFAST_HOME"] = home
    if ctx.invoked_subcommand is None:
        import_module("holdfast.cli.status").show_overview()  # as lazily as a command


def main(arguments: list[str] | None = None) -> None:
    """The entry point of the `holdfast` script."""
    given = sys.argv[1:] if arguments is None else arguments
    # Who starts us without a place to print (`>&-`) does not want to read it.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows a question mark, not a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        try:
            app(args=given, prog_name="holdfast")
        finally:
            sys.stdout.flush()  # while errors can still be printed
    except SystemExit:
        raise
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is left to say, not even at exit.
        _discard_output()
        sys.exit(0)
    except list_foreseeable() as error:  # their modules are imported when something went wrong
        sys.exit(print_error(explain(error), "--json" in given))
    except OSError as error:
        # A full disk under the output, or a file that failed where no command expects it.
        _discard_output()
        what = f"{error.filename or 'Write failed'}: {error.strerror or error}"
        step = GRANT_ACCESS if error.errno in READ_ONLY_ERRORS and error.filename else ""
        print_error(CliError(what, step), as_json=False)
        sys.exit(1)


def _discard_output() -> None:
    """What is still in the buffer goes nowhere, instead of failing again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
