"""Commands are listed without their modules, and loaded when they are called."""

import inspect
import subprocess
import sys

import typer.main

from holdfast.cli.lazy_group import load_subcommands
from holdfast.cli.main import Commands, app

from .conftest import Call


def modules_loaded_by(*arguments: str) -> set[str]:
    code = (
        "import sys\nfrom holdfast.cli.main import main\n"
        f"try:\n    main({[*arguments]!r})\n"
        "except SystemExit:\n    print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


def test_help_imports_no_command() -> None:
    modules = {f"holdfast.cli.{entry.target.split(':')[0]}" for entry in
               Commands.lazy_commands.values()}  # fmt: skip
    assert modules_loaded_by("--help") & modules == set()


def test_a_command_imports_no_other_command() -> None:
    loaded = modules_loaded_by("mcp", "--help")
    assert "holdfast.cli.mcp" in loaded
    assert not loaded & {"holdfast.cli.audit", "holdfast.cli.status", "holdfast.store.sqlite.store"}


def test_every_command_loads_and_its_line_is_the_first_of_its_help() -> None:
    commands = load_subcommands(typer.main.get_command(app))
    assert list(commands) == list(Commands.lazy_commands)
    for name, command in commands.items():
        first = inspect.cleandoc(command.help).split("\n\n")[0]
        assert " ".join(first.split()) == Commands.lazy_commands[name].summary


def test_a_mistyped_command_gets_suggestions(holdfast: Call) -> None:
    ended = holdfast("statu")
    assert ended.code == 2
    assert "Did you mean 'status'" in ended.err
