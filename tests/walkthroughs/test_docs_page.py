"""docs/walkthroughs.md asks for routes and commands that are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer.main
from tools.docs_reference import load_subcommands

from holdfast.cli.main import app
from holdfast.server.app import build_openapi

PAGE = (Path(__file__).parents[2] / "docs" / "walkthroughs.md").read_text()
CODE = [line.strip() for line in PAGE.split("\n") if line.startswith("    ")]


def test_every_route_of_the_page_is_in_the_openapi_document() -> None:
    asked = set(re.findall(r"127\.0\.0\.1:3847(/[\w/$-]+)", "\n".join(CODE)))
    patterns = [re.sub(r"\{\w+\}", "[^/]+", path) for path in build_openapi()["paths"]]
    assert len(asked) >= 5
    assert [path for path in asked if not any(re.fullmatch(p, path) for p in patterns)] == []


def test_every_parameter_of_a_query_on_the_page_is_known() -> None:
    paths = build_openapi()["paths"]
    for path, query in re.findall(r"127\.0\.0\.1:3847(/[\w/-]+)\?([^'\" ]+)", "\n".join(CODE)):
        known = {one["name"] for one in paths[path]["get"]["parameters"]}
        assert {word.partition("=")[0] for word in query.split("&")} <= known, path


def test_every_command_and_option_of_the_page_is_there() -> None:
    lines = [line.partition("  #")[0].split() for line in CODE if line.startswith("holdfast ")]
    assert len(lines) >= 4
    for words in lines:
        command: Any = typer.main.get_command(app)
        for word in words[1:]:
            command = load_subcommands(command).get(word, command)
        assert command.name in words
        options = {name for option in command.params for name in option.opts}
        assert {word for word in words if word.startswith("--")} <= options
