"""`holdfast show`: a session, a fact, a message, a compaction or a brief, made for reading.

Owns what a name means and how a fact and a message are told. What is shown of a transcript has
passed the redactor. Must not write.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from holdfast.cli.input_args import SessionInput
from holdfast.cli.output import (
    CliError,
    JsonOption,
    make_console,
    print_indented,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import (
    EmptyStore,
    find_session,
    open_user_store,
    print_if_empty,
    resolve_session,
    translate_errors,
)
from holdfast.clock import format_minute
from holdfast.fastpath.project import locate_project

if TYPE_CHECKING:
    from holdfast.state.facts import Fact
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite.store import SqliteStore


# Of one message, unless it is asked for whole.
MAX_MESSAGE_CHARS = 2_000
# Sessions looked through, latest first, for a fact or row that is named without its session.
MAX_RECENT_SESSIONS = 20

_FACT_ID = re.compile(r"[a-z]{1,2}\d+")
_TOOL_CALL = re.compile(r"([\w.-]+) (\{.*\})", re.DOTALL)


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A session, a fact (t3 or SESSION:t3), a message (SESSION:ROW) or a transcript "
            "file. Id prefixes are enough; at least six characters for a message. Default: the "
            "current session.",
        ),
    ] = "",
    compactions: Annotated[
        bool,
        typer.Option("--compactions", help="The session's compactions, with what each one lost."),
    ] = False,
    compaction: Annotated[
        int | None,
        typer.Option(
            "--compaction",
            metavar="N",
            min=1,
            help="Its compaction N: what was known before, what the summary kept, what was "
            "restored.",
        ),
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="The brief its agent would be given now.")
    ] = False,
    first: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="ROW",
            help="Messages from this row, line, time or compaction (c1) on.",
        ),
    ] = "",
    last: Annotated[
        str, typer.Option("--to", metavar="ROW", help="Messages up to here (same formats).")
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Leave nothing out.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a session, a fact, a message, a compaction or a brief, made for reading.

    A fact id without a session is looked up in the current project first.

    Example: `holdfast show 0276a600 --compaction 1`
    """

    from holdfast.cli.show_session import show_file, show_session

    if not name and print_if_empty(as_json, {"session": None}):
        return
    asked = [compactions, compaction is not None, brief, bool(first or last)]
    if sum(asked) > 1:
        raise typer.BadParameter("use one of --compactions, --compaction, --brief and --from/--to")
    if brief:
        _show_brief(name, as_json)
    elif compactions or compaction is not None:
        _show_compactions(name, compaction, full, as_json)
    elif _is_file(name):
        show_file(SessionInput(name), first, last, full, as_json)
    elif first or last:
        with open_user_store() as store:
            show_session(store, resolve_session(store, name), first, last, full, as_json)
    else:
        _show_named(name, full, as_json)


def _is_file(name: str) -> bool:
    return bool(name) and (os.path.isfile(name) or name.endswith((".jsonl", ".gz")))


def _show_brief(name: str, as_json: bool) -> None:
    from holdfast.cli.brief import show_current_brief

    if not name:
        with open_user_store() as store:
            name = resolve_session(store, "").id
    show_current_brief(name, as_json)


def _show_compactions(name: str, number: int | None, full: bool, as_json: bool) -> None:
    from holdfast.cli.compactions import show_chain, show_compaction

    with open_user_store() as store, translate_errors():
        found = resolve_session(store, name)
        if number is None:
            show_chain(store, found, full, as_json)
        else:
            show_compaction(store, found, number, full, as_json)


def _show_named(name: str, full: bool, as_json: bool) -> None:
    from holdfast.cli.show_session import show_session

    session, _, inner = name.rpartition(":")
    with open_user_store() as store, translate_errors():
        if not name:
            show_session(store, resolve_session(store, ""), "", "", full, as_json)
            return
        if session:
            candidates = [find_session(store, session)]
        else:
            whole = None if _FACT_ID.fullmatch(name) else store.session(name)
            if whole is not None:
                show_session(store, whole, "", "", full, as_json)
                return
            candidates = _recent(store)
            if not candidates:
                raise EmptyStore
        if _show_part(store, candidates, inner, full, as_json):
            return
    where = f"in session {candidates[0].id[:8]}" if session else "in the latest sessions"
    raise CliError(
        f"No session, fact or message named {inner!r} {where}"
        if not session
        else f"No fact or message named {inner!r} {where}",
        "`holdfast search` finds ids by text, `holdfast status --all` lists sessions.",
    )


def _show_part(
    store: SqliteStore, candidates: list[Session], name: str, full: bool, as_json: bool
) -> bool:
    """A fact or a row of one of these sessions; whether there is one."""
    for candidate in candidates:
        fact = store.fact(candidate.id, name)
        if fact is not None:
            row = _row(candidate, fact.at.row, fact.at.start, store)
            _show_fact(candidate, fact, row, full, as_json)
            return True
    for candidate in candidates:
        row = _row(candidate, name, 0, store)
        if row is not None:
            _show_row(candidate, name, row, full, as_json)
            return True
    return False


def _recent(store: SqliteStore) -> list[Session]:
    here = list(store.sessions(project=locate_project(os.getcwd())[0], limit=MAX_RECENT_SESSIONS))
    known = {session.id for session in here}
    return here + [one for one in store.sessions(limit=MAX_RECENT_SESSIONS) if one.id not in known]


def _row(session: Session, row: str, start: int, store: SqliteStore) -> bytes | None:
    """From the transcript; where it no longer has the row, from what was archived of it."""

    from holdfast.session.transcript_scan import read_archived_row, read_source_row

    found = read_source_row(session.transcript, row, start) if session.transcript else None
    return read_archived_row(store, session.id, row) if found is None else found


# What a fact's standing says of it, where "is" would be wrong.
_VERBS = {
    "exists": "exists",
    "works now": "works now",
    "failed": "failed",
    "ok": "succeeded",
    "invoked": "was invoked",
    **{word: f"was {word}" for word in ("deleted", "rejected", "withdrawn", "superseded")},
    **{word: f"was {word}" for word in ("cancelled", "resolved")},
}


def _show_fact(session: Session, fact: Fact, row: bytes | None, full: bool, as_json: bool) -> None:
    from holdfast.cli.fact_words import fact_to_json, format_status
    from holdfast.state.facts import kind_name

    if as_json:
        source = None if row is None else json.loads(row)
        print_json({"session": session.id, "fact": fact_to_json(fact), "source": source})
        return

    out = make_console()
    status = format_status(fact)
    out.print(
        Text(f"{kind_name(fact.kind).capitalize()} ")
        + Text(fact.id, style="cyan")
        + Text(" of session ")
        + Text(session.id[:8], style="cyan")
        + Text(f" {_VERBS.get(status, f'is {status}')}:", style="bold")
    )
    print_indented(fact.text)
    if fact.detail and fact.detail != fact.text:
        print_indented(fact.detail, "dim")
    if not fact.at.row and fact.id.startswith("m"):
        show_all = f"holdfast session note --session {session.id[:8]} --show"
        out.print(Text(f"\nA note of {format_minute(fact.at.time)} UTC. `{show_all}` shows all."))
        return
    out.print()
    if row is None:
        out.print(Text(f"It comes from {format_minute(fact.at.time)} UTC."))
        out.print(
            Text("The transcript no longer has this row, and it was not archived.", style="yellow")
        )
    else:
        _print_message(row, fact.at.time, full)
    place = f"Row {fact.at.row or '-'} of {session.transcript or 'an unknown transcript'}"
    out.print(Text(replace_control_chars(place), "dim"), soft_wrap=True)


def _show_row(session: Session, name: str, row: bytes, full: bool, as_json: bool) -> None:
    if as_json:
        print_json({"session": session.id, "row": name, "source": json.loads(row)})
        return

    _print_message(row, "", full)
    place = f"Row {name} of {session.transcript or 'an unknown transcript'}"
    make_console().print(Text(replace_control_chars(place), "dim"), soft_wrap=True)


def _print_message(row: bytes, time: str, full: bool) -> None:
    """Who said it and when, and what was said; a tool's input by its names."""

    from holdfast import clients
    from holdfast.transcript.reader import Row

    data = json.loads(row.replace(b"\0", b"").decode("utf-8", "replace"))
    whole = Row(data, 0, len(row))
    client = clients.default()
    events = client.adapter().events(whole)
    time = time or next((event.at.time for event in events if event.at.time), "")
    messages = client.read_messages([whole])
    if messages:
        message = messages[0].message
        text = messages[0].text.removeprefix(f"{message.role}: ")
        if message.answers:
            who = "A tool returned"
        elif message.role == "user":
            who = "The user wrote" if message.is_prompt else "The agent was given"
        else:
            who = "The agent wrote"
    else:
        who, text = "The client recorded", json.dumps(data, ensure_ascii=False, indent=2)
    when = f" on {format_minute(time)} UTC" if time else ""
    make_console().print(Text(f"{who}{when}:", style="bold"))
    shown = "\n".join(_format_call(part) for part in text.split("\n")).strip() or "(nothing)"
    if not full and len(shown) > MAX_MESSAGE_CHARS:
        shown = f"{shown[:MAX_MESSAGE_CHARS]}… ({len(shown):,} characters; --full shows all)"
    print_indented(shown)


def _format_call(line: str) -> str:
    """`Bash {"command": "ls"}` as lines of `command: ls`; anything else as it is."""
    found = _TOOL_CALL.fullmatch(line)
    if found is None:
        return line
    try:
        given = json.loads(found[2])
    except ValueError:
        return line
    parts = [f"{key}: {_format_value(value)}" for key, value in given.items()]
    return "\n  ".join([found[1], *parts])


def _format_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\n", "\n    ")
