"""`holdfast team`: `connect` and `disconnect`, `sync` now, `send` a message to other agents."""

import getpass
import os
import socket
import sys
from contextlib import closing
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from holdfast.cli.output import CliError, JsonOption, format_one_line, print_json
from holdfast.cli.screen import Screen
from holdfast.cli.store_access import EmptyStore
from holdfast.clock import format_now
from holdfast.fastpath.project import locate_project
from holdfast.hooks import spawn_sync
from holdfast.hooks.detach import run_detached
from holdfast.paths import data_dir, store_path
from holdfast.redact import redact
from holdfast.session.context import get_agent_session_id, load_settings
from holdfast.settings.user_patterns import apply_configured_patterns
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync import connection, messages
from holdfast.sync.client import RequestRejected, ServerUnavailable, make_api_call
from holdfast.sync.cursor_db import CursorDb, schedule_next_sync
from holdfast.sync.worker import SyncJob, SyncLimits, SyncResult, check_identity, run_sync
from holdfast.text import pluralize


def connect(url: str, allow_http: bool = False, as_json: JsonOption = False) -> None:
    """Connect to a team server.

    From then on the hooks sync sessions to it in the background and deliver messages from other
    agents.

    Prompts for the token, or reads it from standard input or `$HOLDFAST_TOKEN`; never from the
    command line, where other users could see it. On loopback it can be empty. Stored in
    `service.json` in the data folder, readable only by you.

    URL: For example https://holdfast.example.
    --allow-http: Allow unencrypted http:// to other machines.

    Example: `holdfast team connect https://holdfast.example`
    """
    address = url.rstrip("/")
    _check_address(address, allow_http)
    made = connection.ServerConnection(address, _read_token(), format_now())
    me = _fetch_identity(made)
    same = _is_same_store(str(me.get("store", "")))
    connection.save_connection(data_dir(), made)
    # Whatever failed or was refused before is tried with the new connection.
    with closing(CursorDb(data_dir())) as cursor_db:
        cursor_db.retry_now()
    schedule_next_sync(data_dir(), 0)
    if as_json:
        print_json({"url": address, "same_store": same, **me})
        return
    out = Screen()
    projects = me["projects"]
    may = "all projects" if projects is None else ", ".join(projects)
    out.say(f"Connected to {address} as {me['name']}: {', '.join(me['scopes'])}; {may}.")
    if same:
        out.print(
            "The server uses this store directly: nothing to sync, only messages are fetched."
        )
    if "read" not in me["scopes"] and "admin" not in me["scopes"]:
        out.say("Messages cannot be fetched without the `read` scope.")
    out.say("Connected. The hooks sync from now on; run `holdfast team sync` to sync now.")


def disconnect(as_json: JsonOption = False) -> None:
    """Stop syncing. Data already on the server or on this machine is kept.

    Example: `holdfast team disconnect`
    """
    data = data_dir()
    try:
        told = connection.read_sync_status(data)
    except connection.UnsafeConnectionFile:
        told = None
    connection.delete_connection(data)
    left = told.sessions_waiting + told.messages_waiting if told else 0
    if as_json:
        print_json({"disconnected": told is not None, "not_synced": left})
        return
    out = Screen()
    out.say("Disconnected." if told else "Not connected.")
    if left:
        out.say(f"{left:,} sessions and messages are not synced; they wait for the next connect.")


def _check_address(url: str, plain: bool) -> None:
    parts = urlsplit(url)
    if not connection.is_http_url(url) or not parts.hostname:
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


def _read_token() -> str:
    said = os.environ.get("HOLDFAST_TOKEN", "")
    if said:
        return said
    if sys.stdin is None or sys.stdin.closed:
        return ""
    if sys.stdin.isatty():
        asked: str = typer.prompt("Token", default="", hide_input=True, show_default=False)
        return asked.strip()
    return sys.stdin.readline().strip()


def _fetch_identity(made: connection.ServerConnection) -> dict[str, Any]:
    try:
        return check_identity(make_api_call(made.url, made.token)("GET", "/api/me"), made.url)
    except (ServerUnavailable, RequestRejected) as error:
        raise CliError(
            str(error),
            "Check that the server is running and the token is valid (`holdfast team token list`).",
        ) from error


def find_connection() -> connection.ServerConnection | None:
    try:
        return connection.load_connection(data_dir())
    except connection.UnsafeConnectionFile as error:
        raise CliError(str(error), "Run `holdfast team connect` to recreate it.") from error


def _is_same_store(theirs: str) -> bool:
    if not theirs or not os.path.exists(store_path()):
        return False
    with closing(SqliteStore(store_path())) as store:
        return store.id == theirs


MAX_REFUSED_SHOWN = 10
MAX_LINE_CHARS = 400


def sync(
    again: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Sync sessions to the team server and fetch messages.

    Only changes are sent. Once you are connected, the hooks do this automatically.

    --again: Send everything again, for a server that lost its data.

    Example: `holdfast team sync`
    """
    data, connected = data_dir(), find_connection()
    if connected is None:
        raise CliError("Not connected to a server", "Run `holdfast team connect URL`.")
    if not os.path.exists(store_path()):
        raise EmptyStore
    if again:
        with closing(CursorDb(data)) as cursor_db:
            cursor_db.put(parties="")  # whom and what the rest of it is about
    done = sync_now(connected)
    refused = connection.list_rejections(data)
    why = ""
    if done.is_incomplete:
        with closing(CursorDb(data)) as cursor_db:
            why = cursor_db.get("failure") if cursor_db.number("failures") else ""
    if as_json:
        print_json(
            {
                "sessions": done.sessions,
                "refused": [one._asdict() for one in refused],
                "waiting": done.is_incomplete,
                "sent": done.sent,
                "fetched": done.fetched,
                "failure": why,
            }
        )
        return
    out = Screen()
    out.say(f"Synced {pluralize(done.sessions, 'session')}.")
    if done.sent or done.fetched:
        out.say(f"Messages: {done.sent:,} sent, {done.fetched:,} fetched.")
    _print_refused(refused)
    if done.is_incomplete:
        out.say(why or "Another sync is running; it will send the rest.")


def sync_now(made: connection.ServerConnection, seconds: float = 1e9) -> SyncResult:
    """As a person asks for it: whatever a hook decided about when."""
    call, bounds = make_api_call(made.url, made.token), SyncLimits(seconds)
    job = SyncJob(store_path(), data_dir(), made.url, call, bounds=bounds, respect_backoff=False)
    return run_sync(job)


def _print_refused(refused: list[connection.Rejection]) -> None:
    out = Screen()
    for one in refused[:MAX_REFUSED_SHOWN]:
        which = f'message "{one.about}"' if one.what == "message" else f"session {one.name}"
        words = f"Refused: {which}: {one.reason or 'no reason given'}"
        out.verbatim(format_one_line(words, MAX_LINE_CHARS))
    if len(refused) > MAX_REFUSED_SHOWN:
        out.say(f"And {len(refused) - MAX_REFUSED_SHOWN:,} more; --json lists all of them.")
    kept = [one for one in refused if one.what == "message"]
    if kept:
        folder = os.path.dirname(kept[0].name)
        out.verbatim(f"Refused messages are kept in {folder} until you remove them.")


MAX_MESSAGE_CHARS = 20_000  # characters; what is longer belongs into a file of the project


def send(
    words: Annotated[list[str] | None, typer.Argument(metavar="TEXT")] = None,
    to: str = "",
    role: str = "",
    topic: str = "message",
    priority: Annotated[int, typer.Option(min=0, max=10)] = 5,
    hours: Annotated[int, typer.Option(min=0, max=87_600)] = 0,
    from_: str = "",
    as_json: JsonOption = False,
) -> None:
    """Send a message to one agent, to a role, or to everyone in this project.

    The message is queued locally and sent in the background, so this works while the server is
    down. It is delivered once, with the agent's next prompt or tool batch, marked as coming from
    another agent.

    TEXT: Text of the message. Default: read from standard input.
    --to AGENT: Recipient: a session id.
    --role ROLE: Recipient: all agents with this role.
    --topic WORDS: Topic of the message.
    --priority N: 10 is most urgent.
    --hours N: Expires this many hours after the server received it; 0: never.
    --from NAME: Sender. Default: the current session, or you.

    Example: `holdfast team send "the users table has a new column" --role backend --topic schema`
    """
    data = data_dir()
    if find_connection() is None:
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
        "from_agent_id": redact(from_ or _default_sender())[:200],
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
    key = messages.queue_message(data, body)
    if connection.load_connection(data) is not None and hasattr(os, "fork"):
        sys.stdout.flush()
        run_detached(lambda: spawn_sync.run_sync_process(data))
    if as_json:
        print_json({"key": key, **body})
        return
    whom = to or (f"role {role}" if role else "everyone in the project")
    Screen().say(f"Queued for {whom}.")


def _default_sender() -> str:
    """The session that runs this, else the person."""
    if session := get_agent_session_id(os.environ):
        return session
    try:
        person = getpass.getuser()
    except (OSError, KeyError):
        person = "someone"
    return f"{person}@{socket.gethostname().partition('.')[0]}"
