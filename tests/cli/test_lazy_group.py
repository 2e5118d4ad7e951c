"""Commands are listed without their modules, and loaded when they are called."""

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import typer.main
from tools.docs_reference import load_subcommands

from holdfast.cli.command_tree import GROUPS, RECALL, START, TREE
from holdfast.cli.lazy_group import CommandGroup, LazyCommand
from holdfast.cli.main import app
from support.demonstration import SESSION_FILE

from .conftest import Call


def flatten(tree: Mapping[str, LazyCommand | CommandGroup]) -> dict[str, LazyCommand]:
    found: dict[str, LazyCommand] = {}
    for name, entry in tree.items():
        if isinstance(entry, CommandGroup):
            found |= {f"{name} {inner}": one for inner, one in flatten(entry.commands).items()}
        else:
            found[name] = entry
    return found


# One interpreter that has loaded what every start loads, and a child of it for each call.
CHILDREN = """
import json, os, sys
from holdfast.cli.main import main
calls = json.loads(sys.argv[1])
for call in calls:
    if (child := os.fork()) == 0:
        sys.stdout = open(os.devnull, "w")
        try:
            main(call)
        except SystemExit:
            print(json.dumps([call, [*sys.modules]]), file=sys.stderr, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def modules_loaded_by(*calls: list[str]) -> list[set[str]]:
    """What each of these calls has loaded when it ends."""
    ended = subprocess.run(
        [sys.executable, "-c", CHILDREN, json.dumps(calls)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = [json.loads(line) for line in ended.stderr.splitlines()]
    assert [call for call, _ in told] == [*calls]
    return [set(modules) for _, modules in told]


def test_help_imports_no_command() -> None:
    modules = {f"holdfast.cli.{one.target.split(':')[0]}" for one in flatten(TREE).values()}
    groups: list[list[str]] = [[], ["session"], ["team"], ["dev"]]
    for group, loaded in zip(
        groups, modules_loaded_by(*([*g, "--help"] for g in groups)), strict=True
    ):
        assert loaded & modules == set(), group


def test_a_command_imports_no_other_command() -> None:
    (loaded,) = modules_loaded_by(["dev", "mcp", "--help"])
    assert "holdfast.cli.dev" in loaded
    assert not loaded & {"holdfast.cli.audit", "holdfast.cli.status", "holdfast.store.sqlite.store"}


# Heavy for its help alone, of the commands that are called while one works, or that need little.
HEAVY = {"holdfast.state.fold", "holdfast.session.follow", "holdfast.store.sqlite.store", "sqlite3",
         "orjson", "holdfast.doctor.checks", "holdfast.brief.compose"}  # fmt: skip
LIGHT = ["status", "show", "search", "open", "doctor", "team serve", "dev statusline"]


def test_help_loads_nothing_that_only_the_command_needs() -> None:
    calls = [[*command.split(), "--help"] for command in LIGHT]
    for command, loaded in zip(LIGHT, modules_loaded_by(*calls), strict=True):
        assert loaded & HEAVY == set(), command


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
        ["session", "prune"],
        ["open"],
    ):
        assert "bool" not in holdfast(*arguments, "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_their_options_are_completed(shell: str) -> None:
    assert "statusline" in complete(shell, "holdfast dev stat")
    assert "--kind" in complete(shell, "holdfast session note --ki")
    script = run_completion({"_HOLDFAST_COMPLETE": f"source_{shell}"})
    assert f"_HOLDFAST_COMPLETE=complete_{shell}" in script


def test_commands_of_every_depth_are_completed() -> None:
    assert "status" in complete("bash", "holdfast stat")
    assert "revoke" in complete("bash", "holdfast team token re")
    assert "--limit" in complete("bash", "holdfast search --li")
    assert "unset" in complete("bash", "holdfast config un")


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
