"""Which of our hooks Codex does not run because the user has not trusted them.

Asked of the client itself (`codex app-server`, `hooks/list`), which alone knows how it compares.
Must not write: to trust a hook is the user's own step.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from holdfast.clients.hook_launcher import LAUNCHER_NAME
from holdfast.clients.json_fields import as_object, as_objects, as_text

ANSWER_SECONDS = 20
_LIST = 2  # the number of the question that lists hooks


def list_untrusted(environ: Mapping[str, str], project: str) -> list[str] | None:
    """The events of ours that the client skips; None where it cannot be asked."""
    program = shutil.which("codex", path=environ.get("PATH"))
    if program is None:
        return None
    answer = _ask(program, environ, project)
    if answer is None:
        return None
    hooks = [hook for place in as_objects(answer.get("data")) for hook in _hooks(place)]
    ours = [hook for hook in hooks if LAUNCHER_NAME in as_text(hook.get("command"))]
    return [
        as_text(hook.get("eventName")) or as_text(hook.get("key"))
        for hook in ours
        if hook.get("trustStatus") != "trusted" or hook.get("enabled") is False
    ]


def _hooks(place: dict[str, Any]) -> list[dict[str, Any]]:
    return as_objects(place.get("hooks"))


def _ask(program: str, environ: Mapping[str, str], project: str) -> dict[str, Any] | None:
    info = {"name": "holdfast", "title": "Holdfast", "version": "0"}
    asked = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": info}},
        {"method": "initialized"},
        {"id": _LIST, "method": "hooks/list", "params": {"cwds": [project]}},
    )
    try:
        with subprocess.Popen(
            [program, "app-server"],
            cwd=project,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            try:
                for message in asked:
                    server.stdin.write(json.dumps(message).encode() + b"\n")
                server.stdin.flush()
                return _read_answer(server)
            finally:
                server.kill()
    except OSError:
        return None


def _read_answer(server: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    import threading

    assert server.stdout is not None
    patience = threading.Timer(ANSWER_SECONDS, server.kill)
    patience.start()
    try:
        for line in server.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and message.get("id") == _LIST:
                return as_object(message.get("result")) if "result" in message else None
    finally:
        patience.cancel()
    return None
