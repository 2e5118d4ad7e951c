"""Commands are listed without their modules, and loaded when they are called."""

import inspect
import os
import subprocess
import sys

import pytest
import typer.main

from holdfast.cli.lazy_group import load_subcommands
from holdfast.cli.main import RECALL, SESSION, SETUP, START, TEAM, Commands, app

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


def test_help_is_in_groups_and_says_no_type_after_a_switch(holdfast: Call) -> None:
    shown = holdfast("--help").out
    places = [shown.index(f"─ {panel} ─") for panel in (START, RECALL, SESSION, TEAM, SETUP)]
    assert places == sorted(places)
    for arguments in ([], ["doctor"], ["config"], ["config", "set"], ["db", "prune"]):
        assert "bool" not in holdfast(*arguments, "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_their_options_are_completed(shell: str) -> None:
    assert "statusline" in complete(shell, "holdfast stat")
    assert "--limit" in complete(shell, "holdfast search --li")
    assert "unset" in complete(shell, "holdfast config un")
    script = run_completion({"_HOLDFAST_COMPLETE": f"source_{shell}"})
    assert f"_HOLDFAST_COMPLETE=complete_{shell}" in script


def complete(shell: str, line: str) -> str:
    return run_completion(
        {
            "_HOLDFAST_COMPLETE": f"complete_{shell}",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
    )


def run_completion(variables: dict[str, str]) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "holdfast"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    return ended.stdout
