"""Commands are listed without their modules, and loaded when they are called."""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import typer.main

from holdfast.cli.command_tree import GROUPS, RECALL, START, TREE
from holdfast.cli.lazy_group import CommandGroup, LazyCommand, load_subcommands
from holdfast.cli.main import app
from holdfast.samples import SESSION_FILE

from .conftest import Call


def flatten(tree: Mapping[str, LazyCommand | CommandGroup]) -> dict[str, LazyCommand]:
    found: dict[str, LazyCommand] = {}
    for name, entry in tree.items():
        if isinstance(entry, CommandGroup):
            found |= {f"{name} {inner}": one for inner, one in flatten(entry.commands).items()}
        else:
            found[name] = entry
    return found


def modules_loaded_by(*arguments: str) -> set[str]:
    code = (
        "import sys\nfrom holdfast.cli.main import main\n"
        f"try:\n    main({[*arguments]!r})\n"
        "except SystemExit:\n    print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


@pytest.mark.parametrize("group", [[], ["session"], ["team"], ["dev"]])
def test_help_imports_no_command(group: list[str]) -> None:
    modules = {f"holdfast.cli.{one.target.split(':')[0]}" for one in flatten(TREE).values()}
    assert modules_loaded_by(*group, "--help") & modules == set()


def test_a_command_imports_no_other_command() -> None:
    loaded = modules_loaded_by("dev", "mcp", "--help")
    assert "holdfast.cli.mcp" in loaded
    assert not loaded & {"holdfast.cli.audit", "holdfast.cli.status", "holdfast.store.sqlite.store"}


# Heavy for its help alone: what a command works with, not what it takes.
HEAVY = {"holdfast.state.fold", "holdfast.session.follow", "holdfast.store.sqlite.store", "sqlite3",
         "orjson", "holdfast.doctor.checks", "holdfast.brief.compose"}  # fmt: skip
LIGHT = ["status", "show", "search", "open", "doctor", "config", "session note", "session handoff",
         "session tasks", "session replay", "session ingest", "session prune", "team connect",
         "team serve", "dev brief"]  # fmt: skip


@pytest.mark.parametrize("command", LIGHT)
def test_help_loads_nothing_that_only_the_command_needs(command: str) -> None:
    assert modules_loaded_by(*command.split(), "--help") & HEAVY == set()


def test_every_command_loads_and_its_line_is_the_first_of_its_help() -> None:
    for path, entry in flatten(TREE).items():
        command: Any = typer.main.get_command(app)
        for name in path.split() if not entry.hidden else ["dev", path]:
            command = load_subcommands(command)[name]
        first = inspect.cleandoc(command.help).split("\n\n")[0]
        assert " ".join(first.split()) == entry.summary


def test_the_first_help_has_eight_verbs_and_four_groups(holdfast: Call) -> None:
    shown = re.findall(r"^│ (\w+)  ", holdfast("--help").out, re.M)
    verbs = "try audit install uninstall doctor status search show open".split()
    assert shown == [*verbs, "session", "team", "config", "dev"]


@pytest.mark.parametrize("name", ["brief", "state"])
def test_what_programs_call_is_callable_and_hidden(holdfast: Call, name: str) -> None:
    assert holdfast(name, SESSION_FILE).out == holdfast("dev", name, SESSION_FILE).out != ""
    assert name not in complete("bash", "holdfast " + name[:2]).split()


def test_a_mistyped_command_gets_suggestions(holdfast: Call) -> None:
    for words, meant in (
        (["statu"], "'status'"),
        (["session", "taks"], "'tasks'"),
        (["config", "unst"], "'unset'"),
        (["note", "a fact"], "'session note'"),
        (["prune"], "'session prune'"),
    ):
        ended = holdfast(*words)
        assert ended.code == 2
        assert f"Did you mean {meant}" in " ".join(ended.err.replace("│", "").split())


def test_help_is_in_groups_and_says_no_type_after_a_switch(holdfast: Call) -> None:
    shown = holdfast("--help").out
    places = [shown.index(f"─ {panel} ─") for panel in (START, RECALL, GROUPS)]
    assert places == sorted(places)
    for arguments in (
        [],
        ["doctor"],
        ["config"],
        ["config", "set"],
        ["team", "db", "prune"],
        ["open"],
    ):
        assert "bool" not in holdfast(*arguments, "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_their_options_are_completed(shell: str) -> None:
    assert "status" in complete(shell, "holdfast stat")
    assert "statusline" in complete(shell, "holdfast dev stat")
    assert "revoke" in complete(shell, "holdfast team token re")
    assert "--kind" in complete(shell, "holdfast session note --ki")
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
