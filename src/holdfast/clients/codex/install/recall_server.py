"""Recall in Codex: our MCP server in its config.toml, put in and taken out by `codex mcp`.

The client's own command keeps the file's comments and gives it back as it was, so nothing here
writes it. Must not touch a server of that name that is not ours.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

from holdfast.clients.codex.context_window import read_config
from holdfast.clients.codex.install.app_server import find_program
from holdfast.clients.json_fields import as_object

NAME = "holdfast"
COMMAND_SECONDS = 30


def add(
    environ: Mapping[str, str],
    config: str,
    server: Sequence[str],
    variables: Mapping[str, str],
    dry_run: bool,
) -> list[str]:
    """Has the client start this server; lines that say so, or what the user can run."""
    if find(config) is not None:
        return []
    given = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
    words = ["mcp", "add", *given, NAME, "--", *server]
    shown = shlex.join(["codex", *words])
    if find_program(environ) is None:
        return [f"There is no `codex` on the PATH; for recall from within a session run: {shown}"]
    if dry_run:
        return [f"For recall from within a session this would run: {shown}"]
    if not _run(environ, words):
        return [f"Codex did not add recall; to try again: {shown}"]
    return [f"Added recall from within a session: {shown}"]


def remove(environ: Mapping[str, str], config: str, dry_run: bool) -> list[str]:
    if not is_ours(find(config)):
        return []
    words = ["mcp", "remove", NAME]
    shown = shlex.join(["codex", *words])
    if dry_run:
        return [f"This would run: {shown}"]
    if not _run(environ, words):
        return [f"Recall stays in {config}; to take it out: {shown}"]
    return [f"Removed recall: {shown}"]


def find(config: str) -> list[str] | None:
    """What the client starts under our name; None where there is no such server."""
    server = as_object(read_config(config).get("mcp_servers")).get(NAME)
    if server is None:
        return None
    command, args = as_object(server).get("command"), as_object(server).get("args")
    return [str(word) for word in (command, *(args if isinstance(args, list) else ()))]


def is_ours(words: Sequence[str] | None) -> bool:
    """`holdfast dev mcp`, or the same by an interpreter."""
    if not words or list(words[-2:]) != ["dev", "mcp"]:
        return False
    program = os.path.basename(words[0]).removesuffix(".exe")
    return program == "holdfast" or list(words[1:3]) == ["-m", "holdfast"]


def _run(environ: Mapping[str, str], words: Sequence[str]) -> bool:
    program = find_program(environ)
    if program is None:
        return False
    try:
        ended = subprocess.run(
            [program, *words],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0
