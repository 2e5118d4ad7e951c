"""`holdfast send`: a message to other agents of the project."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console

LONGEST = 20_000  # characters; what is longer belongs into a file of the project


def send(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What to say; from standard input when left out."),
    ] = None,
    to: Annotated[
        str, typer.Option("--to", metavar="AGENT", help="One agent: the id of its session.")
    ] = "",
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="All of one role.")] = "",
    topic: Annotated[
        str, typer.Option("--topic", metavar="WORDS", help="What it is about.")
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
            help="Given to nobody any more so long after the service has it; 0: it waits for ever.",
        ),
    ] = 0,
    sender: Annotated[
        str,
        typer.Option(
            "--from", metavar="NAME", help="Who says it. Default: the session this runs in, or you."
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Send a message to one agent, to a role, or to everybody who works in this project.

    It is kept here first and carried in the background, so it works without the service. It
    reaches an agent with its next prompt or tool batch, once, marked as another agent's words.

    Example: `holdfast send "the users table has a new column" --role backend --topic schema`
    """
    from holdfast.hooks import carrier
    from holdfast.hooks.detach import detached
    from holdfast.lifecycle.carrying import outgoing, service
    from holdfast.lifecycle.patterns import use_chosen
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.project import place_of
    from holdfast.lifecycle.terms import settings_for
    from holdfast.redact import redact

    data = data_folder()
    try:
        connected = service.chosen(data, os.environ)
    except service.Unsafe as error:
        raise Trouble(str(error), "`holdfast connect` writes it anew.") from error
    if connected is None:
        raise Trouble("You are not connected to a service", "`holdfast connect URL` does it.")
    if to and role:
        raise Trouble("To one agent or to a role", "Give --to or --role, or neither for all.")
    text = " ".join(words) if words else sys.stdin.read(LONGEST + 1)
    if not text.strip() or len(text) > LONGEST:
        raise Trouble(f"A message has 1 to {LONGEST:,} characters", "Name a file for what is long.")
    here = os.path.realpath(os.getcwd())
    chosen = settings_for(os.environ, data, here)
    use_chosen(chosen, data)
    body = {
        "from_agent_id": redact(sender or _me())[:200],
        "to_agent_id": to[:200],
        "to_role": role[:200],
        "topic": redact(topic.strip() or "message")[:200],
        "payload": {"text": redact(text.strip())},
        "priority": priority,
        "folder": place_of(here)[0],
        "name": chosen.text("project_name"),
    }
    if hours:
        body["ttl_seconds"] = hours * 3600
    key = outgoing.put(data, body)
    if service.connection(data) is not None and hasattr(os, "fork"):
        sys.stdout.flush()
        detached(lambda: carrier.run(data))
    if as_json:
        answer({"key": key, **body})
        return
    whom = to or (f"role {role}" if role else "everybody in the project")
    console().print(f"On its way to {whom}.")


def _me() -> str:
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
