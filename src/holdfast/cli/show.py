"""`holdfast show ID`: one fact, one session or one row, with where it came from.

What is shown of a transcript has passed the redactor.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    CliError,
    JsonOption,
    fact_to_json,
    format_one_line,
    format_status,
    make_console,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import find_session, open_user_store
from holdfast.clock import format_minute
from holdfast.fastpath.project import locate_project
from holdfast.session.transcript_scan import read_archived_row, read_source_row
from holdfast.state.facts import KINDS, Fact, kind_heading, kind_name

if TYPE_CHECKING:
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite.store import SqliteStore


# A row's long strings, unless it is asked for whole.
MAX_STRING_CHARS = 700
# Sessions looked through, latest first, for a fact or row that is named without its session.
MAX_RECENT_SESSIONS = 20

_FACT_ID = re.compile(r"[a-z]{1,2}\d+")


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A fact (t3 or SESSION:t3), a session, or a transcript row (SESSION:ROW). Id "
            "prefixes are enough; at least six characters for a row.",
        ),
    ],
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Session that the id belongs to.")
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Show source rows in full.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a fact, a session or a row: its text, its status and where it came from.

    A fact id without a session is looked up in the current project first.

    Example: `holdfast show 0276a600:t3`
    """
    if ":" in name and not session:
        session, _, name = name.partition(":")
    with open_user_store() as store:
        if session:
            candidates = [find_session(store, session)]
        else:
            whole = None if _FACT_ID.fullmatch(name) else store.session(name)
            if whole is not None:
                _show_session(store, whole, as_json)
                return
            candidates = _recent(store)
        for candidate in candidates:
            fact = store.fact(candidate.id, name)
            if fact is not None:
                row = _row(candidate, fact.at.row, fact.at.start, store)
                _show_fact(candidate, fact, row, full, as_json)
                return
        for candidate in candidates:
            row = _row(candidate, name, 0, store)
            if row is not None:
                _show_row(candidate, name, row, full, as_json)
                return
    where = f"in session {candidates[0].id[:8]}" if session else "in the latest sessions"
    raise CliError(f"No fact or row named {name!r} {where}", "`holdfast search` finds ids by text.")


def _recent(store: SqliteStore) -> list[Session]:
    here = list(store.sessions(project=locate_project(os.getcwd())[0], limit=MAX_RECENT_SESSIONS))
    known = {session.id for session in here}
    return here + [one for one in store.sessions(limit=MAX_RECENT_SESSIONS) if one.id not in known]


def _row(session: Session, row: str, start: int, store: SqliteStore) -> bytes | None:
    """From the transcript; where it no longer has the row, from what was archived of it."""
    found = read_source_row(session.transcript, row, start) if session.transcript else None
    return read_archived_row(store, session.id, row) if found is None else found


def _show_fact(session: Session, fact: Fact, row: bytes | None, full: bool, as_json: bool) -> None:
    if as_json:
        source = None if row is None else json.loads(row)
        print_json({"session": session.id, "fact": fact_to_json(fact), "source": source})
        return

    out = make_console()
    kind = kind_name(fact.kind)
    out.print(
        Text(f"{session.id[:8]}:{fact.id}", style="cyan")
        + Text(f"  {kind}, {format_status(fact)}", style="bold")
        + Text(f"  {format_minute(fact.at.time)} UTC", style="dim")
    )
    out.print(Text(replace_control_chars(fact.text)))
    if fact.detail and fact.detail != fact.text:
        out.print(Text(replace_control_chars(fact.detail), style="dim"))
    if not fact.at.row and fact.id.startswith("m"):
        out.print(Text(f"\n`holdfast note --session {session.id[:8]} --show` shows all.", "dim"))
        return
    place = f"row {fact.at.row or '-'}, bytes {fact.at.start}-{fact.at.end}"
    out.print(Text(f"\nFrom {place} of {session.transcript or 'an unknown transcript'}", "dim"))
    if row is None:
        out.print(
            Text("The transcript no longer has this row, and it was not archived.", style="yellow")
        )
    else:
        _print_row(row, full)


def _show_row(session: Session, name: str, row: bytes, full: bool, as_json: bool) -> None:
    if as_json:
        print_json({"session": session.id, "row": name, "source": json.loads(row)})
        return

    make_console().print(Text(f"{session.id[:8]}:{name}", style="cyan"))
    _print_row(row, full)


def _print_row(row: bytes, full: bool) -> None:
    data = json.loads(row.replace(b"\0", b"").decode("utf-8", "replace"))
    text = json.dumps(data if full else _truncate(data), ensure_ascii=False, indent=2)
    # Line ends inside strings are what makes a row readable; in JSON they are escapes.

    make_console().print(
        Text(replace_control_chars(text if full else text.replace("\\n", "\n    ")))
    )


def _truncate(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_STRING_CHARS:
        return f"{value[:MAX_STRING_CHARS]}… ({len(value)} characters; --full shows all)"
    if isinstance(value, list):
        return [_truncate(item) for item in value]
    if isinstance(value, dict):
        return {key: _truncate(item) for key, item in value.items()}
    return value


def _show_session(store: SqliteStore, session: Session, as_json: bool) -> None:
    facts = store.facts(session.id)
    counts: dict[str, dict[str, int]] = {}
    for fact in facts:
        of_kind = counts.setdefault(fact.kind, {})
        of_kind[fact.status] = of_kind.get(fact.status, 0) + 1
    compactions = list(reversed(store.compactions(session.id)))
    checkpoints = list(reversed(store.checkpoints(session.id)))
    if as_json:
        print_json(
            {
                "session": session._asdict(),
                "counts": counts,
                "compactions": [one._asdict() for one in compactions],
                "checkpoints": [one._asdict() for one in checkpoints],
            }
        )
        return

    out = make_console()
    out.print(Text(session.id, style="bold cyan"), Text(format_one_line(session.title, 120)))
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label in ("client", "project", "worktree", "branch", "transcript"):
        value = getattr(session, label)
        if value and not (label == "worktree" and value == session.project):
            table.add_row(label, Text(replace_control_chars(value)))
    table.add_row(
        "time", f"{format_minute(session.started)} to {format_minute(session.updated)} UTC"
    )
    for one in compactions:
        tokens = f"{one.tokens_before:,} tokens" if one.tokens_before else "tokens unknown"
        summary = f"summary of {len(one.summary):,} characters" if one.summary else "no summary"
        table.add_row(
            f"compaction {one.epoch + 1}",
            f"{format_minute(one.time)} UTC, {one.trigger or 'unknown trigger'}, "
            f"{tokens}, {summary}",
        )
    for kind in KINDS:
        if kind in counts:
            said = ", ".join(f"{count} {word}" for word, count in counts[kind].items())
            table.add_row(kind_heading(kind).lower(), said)
    out.print(table)
    out.print(
        Text(f"\nholdfast search WORDS --session {session.id[:8]} finds its facts.", style="dim")
    )
