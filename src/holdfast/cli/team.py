"""`holdfast team`: `connect` and `disconnect`, `sync` now, `send` a message to other agents."""

from __future__ import annotations

import getpass
import os
import socket
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from holdfast.cli.output import (
    CliError,
    JsonOption,
    format_one_line,
    make_console,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import EmptyStore, translate_errors
from holdfast.clock import format_now
from holdfast.fastpath.project import locate_project
from holdfast.paths import data_dir, store_path

if TYPE_CHECKING:
    from holdfast.sync.connection import Rejection, ServerConnection


DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Check the connection and show the result; save nothing.")
]


def connect(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="For example https://holdfast.example.")
    ],
    dry_run: DryRunOption = False,
    allow_http: Annotated[
        bool,
        typer.Option("--allow-http", help="Allow unencrypted http:// to other machines."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Connect to a team server.

    From then on the hooks sync sessions to it in the background and deliver messages from other
    agents.

    Prompts for the token, or reads it from standard input or `$HOLDFAST_TOKEN`; never from the
    command line, where other users could see it. On loopback it can be empty. Stored in
    `service.json` in the data folder, readable only by you.

    Example: `holdfast team connect https://holdfast.example`
    """

    from holdfast.sync import connection

    address = url.rstrip("/")
    _check_address(address, allow_http)
    made = connection.ServerConnection(address, _token(), format_now())
    me = _fetch_identity(made)
    same = _is_same_store(str(me.get("store", "")))
    if not dry_run:
        connection.save_connection(data_dir(), made)
        _reset_failures()
    if as_json:
        print_json({"url": address, "kept": not dry_run, "same_store": same, **me})
        return
    out = make_console()
    projects = me["projects"]
    may = "all projects" if projects is None else ", ".join(projects)
    out.print(f"Connected to {address} as {me['name']}: {', '.join(me['scopes'])}; {may}.")
    if same:
        out.print(
            "The server uses this store directly: nothing to sync, only messages are fetched."
        )
    if "read" not in me["scopes"] and "admin" not in me["scopes"]:
        out.print("Messages cannot be fetched without the `read` scope.")
    if dry_run:
        out.print("Nothing was saved.")
        return
    out.print("Connected. The hooks sync from now on; run `holdfast team sync` to sync now.")


def disconnect(as_json: JsonOption = False) -> None:
    """Stop syncing. Data already on the server or on this machine is kept.

    Example: `holdfast team disconnect`
    """

    from holdfast.sync import connection
    from holdfast.sync.connection import read_sync_status

    data = data_dir()
    try:
        told = read_sync_status(data, {})
    except connection.UnsafeConnectionFile:
        told = None
    connection.delete_connection(data)
    left = told.sessions_waiting + told.messages_waiting if told else 0
    if as_json:
        print_json({"disconnected": told is not None, "not_synced": left})
        return
    out = make_console()
    out.print("Disconnected." if told else "Not connected.")
    if left:
        out.print(f"{left:,} sessions and messages are not synced; they wait for the next connect.")


def _check_address(url: str, plain: bool) -> None:
    from holdfast.sync.connection import is_http_url

    parts = urlsplit(url)
    if not is_http_url(url) or not parts.hostname:
        raise CliError(f"{url!r} is not a valid URL", "Use the form https://holdfast.example.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise CliError(
            "The URL must not contain credentials or a path", "Enter the token when prompted."
        )
    here = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
    if parts.scheme == "http" and not here and not plain:
        raise CliError(
            "http:// is unencrypted: your sessions and the token could be read in transit",
            "Use https://, or --allow-http on a trusted network.",
        )


def _token() -> str:
    said = os.environ.get("HOLDFAST_TOKEN", "")
    if said:
        return said
    if sys.stdin is None or sys.stdin.closed:
        return ""
    if sys.stdin.isatty():
        asked: str = typer.prompt("Token", default="", hide_input=True, show_default=False)
        return asked.strip()
    return sys.stdin.readline().strip()


def _fetch_identity(made: ServerConnection) -> dict[str, Any]:
    from holdfast.sync.client import RequestRejected, ServerUnavailable, make_api_call
    from holdfast.sync.worker import check_identity

    try:
        return check_identity(make_api_call(made.url, made.token)("GET", "/api/me"), made.url)
    except (ServerUnavailable, RequestRejected) as error:
        raise CliError(
            str(error),
            "Check that the server is running and the token is valid (`holdfast team token list`).",
        ) from error


def _is_same_store(theirs: str) -> bool:
    from holdfast.store.sqlite.store import SqliteStore

    if not theirs or not os.path.exists(store_path()):
        return False
    with translate_errors(), closing(SqliteStore(store_path())) as store:
        return store.id == theirs


def _reset_failures() -> None:
    """Whatever failed or was refused before is tried with the new connection."""

    from holdfast.sync.cursor_db import CursorDb, schedule_next_sync

    cursor_db = CursorDb(data_dir())
    try:
        cursor_db.retry_now()
    finally:
        cursor_db.close()
    schedule_next_sync(data_dir(), 0)


# `holdfast team sync`: send what is new to the team server, now.

MAX_REFUSED_SHOWN = 10
MAX_LINE_CHARS = 400


def sync(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL",
            envvar="HOLDFAST_SERVICE",
            help="URL of the server. Default: the one you are connected to.",
        ),
    ] = "",
    again: Annotated[
        bool,
        typer.Option("--again", help="Send everything again, for a server that lost its data."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Sync sessions to the team server and fetch messages.

    Only changes are sent. Once you are connected, the hooks do this automatically.

    The token comes from the connection or `$HOLDFAST_TOKEN`, never from the command line, where
    other users could see it.

    Example: `holdfast team sync`
    """

    from holdfast.sync import connection
    from holdfast.sync.client import make_api_call
    from holdfast.sync.connection import list_rejections
    from holdfast.sync.cursor_db import CursorDb
    from holdfast.sync.worker import SyncJob, run_sync

    if to and not connection.is_http_url(to):
        raise CliError(f"{to!r} is not a valid URL", "Use the form https://holdfast.example.")
    data = data_dir()
    named = {**os.environ, "HOLDFAST_SERVICE": to} if to else dict(os.environ)
    try:
        connected = connection.effective_connection(data, named)
    except connection.UnsafeConnectionFile as error:
        raise CliError(str(error), "Run `holdfast team connect` to recreate it.") from error
    if connected is None:
        raise CliError(
            "No server is configured", "Run `holdfast team connect URL`, or use --to URL once."
        )
    if not os.path.exists(store_path()):
        raise EmptyStore
    call = make_api_call(connected.url, connected.token)
    with translate_errors():
        if again:
            cursor_db = CursorDb(data)
            cursor_db.resync_all()
            cursor_db.close()
        done = run_sync(SyncJob(store_path(), data, connected.url, call, respect_backoff=False))
        refused = list_rejections(data)
        why = ""
        if done.is_incomplete:
            cursor_db = CursorDb(data)
            why = cursor_db.get("failure") if cursor_db.number("failures") else ""
            cursor_db.close()
    if as_json:
        told = [one._asdict() for one in refused]
        print_json(
            {
                "sessions": done.sessions,
                "refused": told,
                "waiting": done.is_incomplete,
                "sent": done.sent,
                "fetched": done.fetched,
                "failure": why,
            }
        )
        return
    out = make_console()
    out.print(f"Synced {done.sessions:,} session{'s' if done.sessions != 1 else ''}.")
    if done.sent or done.fetched:
        out.print(f"Messages: {done.sent:,} sent, {done.fetched:,} fetched.")
    _print_refused(refused)
    if done.is_incomplete:
        out.print(why or "Another sync is running; it will send the rest.", markup=False)


def _print_refused(refused: list[Rejection]) -> None:
    """The reasons are the service's words, and a topic somebody else's: no markup."""
    out = make_console()
    for one in refused[:MAX_REFUSED_SHOWN]:
        which = f'message "{one.about}"' if one.what == "message" else f"session {one.name}"
        words = f"Refused: {which}: {one.reason or 'no reason given'}"
        out.print(format_one_line(words, MAX_LINE_CHARS), markup=False, soft_wrap=True)
    if len(refused) > MAX_REFUSED_SHOWN:
        out.print(f"And {len(refused) - MAX_REFUSED_SHOWN:,} more; --json lists all of them.")
    kept = [one for one in refused if one.what == "message"]
    if kept:
        folder = os.path.dirname(kept[0].name)
        words = (
            f"Refused messages are kept in {replace_control_chars(folder)} until you remove them."
        )
        out.print(words, markup=False, soft_wrap=True)


# `holdfast team send`: a message to other agents of the project.

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

    Example: `holdfast team send "the users table has a new column" --role backend --topic schema`
    """

    from holdfast.hooks import spawn_sync
    from holdfast.hooks.detach import run_detached
    from holdfast.redact import redact
    from holdfast.session.context import load_settings
    from holdfast.settings.user_patterns import apply_configured_patterns
    from holdfast.sync import connection, message_outbox

    data = data_dir()
    try:
        connected = connection.effective_connection(data, os.environ)
    except connection.UnsafeConnectionFile as error:
        raise CliError(str(error), "Run `holdfast team connect` to recreate it.") from error
    if connected is None:
        raise CliError("Not connected to a server", "Run `holdfast team connect URL`.")
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
    if connection.load_connection(data) is not None and hasattr(os, "fork"):
        sys.stdout.flush()
        run_detached(lambda: spawn_sync.run_sync_process(data))
    if as_json:
        print_json({"key": key, **body})
        return
    whom = to or (f"role {role}" if role else "everyone in the project")
    make_console().print(f"Queued for {whom}.")


def _default_sender() -> str:
    """The session that runs this, else the person."""

    from holdfast.session.context import get_agent_session_id

    session = get_agent_session_id(os.environ)
    if session:
        return session

    try:
        person = getpass.getuser()
    except (OSError, KeyError):
        person = "someone"
    return f"{person}@{socket.gethostname().partition('.')[0]}"
