"""`holdfast send`: a message to other agents of the project."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from holdfast.cli.output import CliError, JsonOption, make_console, print_json

MAX_MESSAGE_CHARS = 20_000  # characters; what is longer belongs into a file of the project


def send(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT", help="Text of the message. Default: read from standard input."
        ),
    ] = None,
    to: Annotated[str, typer.Option("--to", metavar="AGENT", help="Recipient: a session id.")] = "",
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="Recipient: all agents with this role.")
    ] = "",
    topic: Annotated[
        str, typer.Option("--topic", metavar="WORDS", help="Topic of the message.")
    ] = "message",
    priority: Annotated[
        int, typer.Option("--priority", metavar="N", min=0, max=10, help="10 is most urgent.")
    ] = 5,
    hours: Annotated[
        int,
        typer.Option(
            "--hours",
            metavar="N",
            min=0,
            max=87_600,
            help="Expires this many hours after the server received it; 0: never.",
        ),
    ] = 0,
    sender: Annotated[
        str,
        typer.Option(
            "--from", metavar="NAME", help="Sender. Default: the current session, or you."
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Send a message to one agent, to a role, or to everyone in this project.

    The message is queued locally and sent in the background, so this works while the server is
    down. It is delivered once, with the agent's next prompt or tool batch, marked as coming from
    another agent.

    Example: `holdfast send "the users table has a new column" --role backend --topic schema`
    """
    from holdfast.fastpath.project import locate_project
    from holdfast.hooks import spawn_sync
    from holdfast.hooks.detach import run_detached
    from holdfast.paths import data_dir
    from holdfast.redact import redact
    from holdfast.session.context import load_settings
    from holdfast.settings.user_patterns import apply_configured_patterns
    from holdfast.sync import connection_file, message_outbox

    data = data_dir()
    try:
        connected = connection_file.effective_connection(data, os.environ)
    except connection_file.UnsafeConnectionFile as error:
        raise CliError(str(error), "Run `holdfast connect` to recreate it.") from error
    if connected is None:
        raise CliError("Not connected to a server", "Run `holdfast connect URL`.")
    if to and role:
        raise CliError(
            "--to and --role cannot be combined", "Pass one of them, or neither for everyone."
        )
    text = " ".join(words) if words else sys.stdin.read(MAX_MESSAGE_CHARS + 1)
    if not text.strip() or len(text) > MAX_MESSAGE_CHARS:
        raise CliError(
            f"A message has 1 to {MAX_MESSAGE_CHARS:,} characters",
            "Refer to a file for longer text.",
        )
    here = os.path.realpath(os.getcwd())
    chosen = load_settings(os.environ, data, here)
    apply_configured_patterns(chosen, data)
    body = {
        "from_agent_id": redact(sender or _default_sender())[:200],
        "to_agent_id": to[:200],
        "to_role": role[:200],
        "topic": redact(topic.strip() or "message")[:200],
        "payload": {"text": redact(text.strip())},
        "priority": priority,
        "folder": locate_project(here)[0],
        "name": chosen.text("project_name"),
    }
    if hours:
        body["ttl_seconds"] = hours * 3600
    key = message_outbox.queue_message(data, body)
    if connection_file.load_connection(data) is not None and hasattr(os, "fork"):
        sys.stdout.flush()
        run_detached(lambda: spawn_sync.run_sync_process(data))
    if as_json:
        print_json({"key": key, **body})
        return
    whom = to or (f"role {role}" if role else "everyone in the project")
    make_console().print(f"Queued for {whom}.")


def _default_sender() -> str:
    """The session that runs this, else the person."""
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if session:
        return session
    import getpass
    import socket

    try:
        person = getpass.getuser()
    except (OSError, KeyError):
        person = "someone"
    return f"{person}@{socket.gethostname().partition('.')[0]}"
