"""Codex's own program: what only the client itself can answer or write.

Which of our hooks it runs it answers over `codex app-server` (`hooks/list`), which alone
knows how it compares: it skips those that the user has not trusted. To trust a hook is the user's
own step (`config/batchWrite`): `trust` is for those who asked for it. Recall, our MCP server in its
config.toml, is put in and taken out by `codex mcp`, which keeps the file's comments and gives it
back as it was. Owns the processes and their time limits. Must not touch a server of that name that
is not ours.
"""

import json
import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self

from holdfast.clients.codex.client import read_config
from holdfast.clients.json_fields import as_object, as_objects, as_text
from holdfast.install.installation import InstallOptions, Unfinished
from holdfast.install.launcher import LAUNCHER_NAME

ANSWER_SECONDS = 20
SERVER_NAME = "holdfast"
COMMAND_SECONDS = 30


def find_program(environ: Mapping[str, str]) -> str | None:
    return shutil.which("codex", path=environ.get("PATH"))


class NoAnswer(Exception):
    """The client is not there, refused, or took too long."""


class AppServer:
    """A process of the client that answers one question after the other."""

    def __init__(self, environ: Mapping[str, str], project: str) -> None:
        program = find_program(environ)
        if program is None:
            raise NoAnswer("there is no `codex` on the PATH")
        try:
            self._process = subprocess.Popen(
                [program, "app-server"],
                cwd=project,
                env=dict(environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise NoAnswer(error.strerror or str(error)) from error
        self._patience = threading.Timer(ANSWER_SECONDS, self._process.kill)
        self._patience.start()
        self._number = 0

    def __enter__(self) -> Self:
        info = {"name": "holdfast", "title": "Holdfast", "version": "0"}
        try:
            self.call("initialize", {"clientInfo": info})
            self._send_message({"method": "initialized"})
        except NoAnswer:
            self._stop_process()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._stop_process()

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send_message({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = as_object(json.loads(line))
            except ValueError:
                continue
            if message.get("id") == self._number and "method" not in message:
                if "result" not in message:
                    raise NoAnswer(f"it refused {method}")
                return as_object(message["result"])
        raise NoAnswer(f"it did not answer {method}")

    def _send_message(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise NoAnswer("it ended at once") from error

    def _stop_process(self) -> None:
        self._patience.cancel()
        self._process.kill()
        with self._process:  # closes the pipes and waits
            pass


def list_untrusted(environ: Mapping[str, str], project: str) -> list[str] | None:
    """The events of ours that the client skips; None where it cannot be asked."""
    try:
        with AppServer(environ, project) as server:
            ours = _list_ours(server, project)
    except NoAnswer:
        return None
    return [
        as_text(hook.get("eventName")) or as_text(hook.get("key"))
        for hook in ours
        if not _may_run(hook)
    ]


def trust(environ: Mapping[str, str], project: str, path: str, commands: Sequence[str]) -> int:
    """Has the client trust those entries of this hooks.json that run these commands and nothing
    else; how many may run then.
    """

    def find(server: AppServer) -> list[dict[str, Any]]:
        file = os.path.realpath(path)
        return [
            hook
            for hook in _list_ours(server, project)
            if os.path.realpath(as_text(hook.get("sourcePath"))) == file
            and hook.get("command") in commands
        ]

    try:
        with AppServer(environ, project) as server:
            listed = find(server)
            state = {
                as_text(hook.get("key")): {"trusted_hash": as_text(hook.get("currentHash"))}
                for hook in listed
                if hook.get("trustStatus") != "trusted"
            }
            if state:
                edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
                server.call("config/batchWrite", {"edits": [edit]})
                listed = find(server)
    except NoAnswer as error:
        raise Unfinished(
            f"Codex could not be asked to trust the hooks: {error}. They are in {path}; start "
            "codex and type /hooks to trust them"
        ) from error
    return sum(map(_may_run, listed))


def _list_ours(server: AppServer, project: str) -> list[dict[str, Any]]:
    places = as_objects(server.call("hooks/list", {"cwds": [project]}).get("data"))
    hooks = [hook for place in places for hook in as_objects(place.get("hooks"))]
    return [hook for hook in hooks if LAUNCHER_NAME in as_text(hook.get("command"))]


def _may_run(hook: dict[str, Any]) -> bool:
    return hook.get("trustStatus") == "trusted" and hook.get("enabled") is not False


def add_recall(options: InstallOptions, config: str) -> list[str]:
    """Has the client start this server; lines that say so, or what the user can run."""
    if find_recall(config) is not None:
        return []
    variables = options.moved_data.items()
    given = [word for name, value in variables for word in ("--env", f"{name}={value}")]
    words = ["mcp", "add", *given, SERVER_NAME, "--", *options.recall]
    shown = shlex.join(["codex", *words])
    if find_program(options.environ) is None:
        return [f"There is no `codex` on the PATH; for recall from within a session run: {shown}"]
    if options.dry_run:
        return [f"For recall from within a session this would run: {shown}"]
    if not _run_codex(options.environ, words):
        return [f"Codex did not add recall; to try again: {shown}"]
    return [f"Added recall from within a session: {shown}"]


def remove_recall(options: InstallOptions, config: str) -> list[str]:
    if not is_ours(find_recall(config)):
        return []
    words = ["mcp", "remove", SERVER_NAME]
    shown = shlex.join(["codex", *words])
    if options.dry_run:
        return [f"This would run: {shown}"]
    if not _run_codex(options.environ, words):
        return [f"Recall stays in {config}; to take it out: {shown}"]
    return [f"Removed recall: {shown}"]


def find_recall(config: str) -> list[str] | None:
    """What the client starts under our name; None where there is no such server."""
    server = as_object(read_config(config).get("mcp_servers")).get(SERVER_NAME)
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


def _run_codex(environ: Mapping[str, str], words: Sequence[str]) -> bool:
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
