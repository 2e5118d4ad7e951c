"""docs/features.md names commands, tests and pages that are there."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

from holdfast.cli.lazy_group import load_subcommands
from holdfast.cli.main import app

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "features.md"
ROW = re.compile(
    r"^\| (?P<feature>.+) \| `(?P<command>.+)` \| `(?P<test>.+)` \| \[.+\]\((?P<page>.+)\) \|$"
)


def lines() -> list[str]:
    table = PAGE.read_text().partition("|---|")[2].split("\n")[1:]
    return [line for line in table if line.strip()]


def test_every_line_of_the_table_has_its_four_parts() -> None:
    assert [line for line in lines() if not ROW.match(line)] == []
    assert len(lines()) >= 30


@pytest.mark.parametrize("line", lines(), ids=lambda line: line.split("|")[1].strip()[:60])
def test_command_test_and_page_exist(line: str) -> None:
    row = ROW.match(line)
    assert row is not None
    assert row["command"] in ("hooks", "holdfast.sdk") or is_command(row["command"].split())
    path, _, name = row["test"].partition("::")
    tree = ast.parse((ROOT / path).read_text())
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert (ROOT / "docs" / row["page"]).is_file()


def is_command(words: list[str]) -> bool:
    command: Any = typer.main.get_command(app)
    for word in words[1:]:
        if word.startswith("--"):
            return any(word in param.opts for param in command.params)
        if word != word.upper():  # what stands for a session or a number
            command = load_subcommands(command).get(word)
    return words[0] == "holdfast" and command is not None
