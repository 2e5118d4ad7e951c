"""`holdfast show ID`: one fact, one session or one row, with where it came from.

What is shown of a transcript has passed the redactor.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import (
    HEADINGS,
    JsonOption,
    Trouble,
    answer,
    console,
    fact_document,
    one_line,
    printable,
    standing_word,
    when,
)
from holdfast.state.facts import KINDS, Fact

if TYPE_CHECKING:
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite import SqliteStore

# A row's long strings, unless it is asked for whole.
LONGEST_STRING = 700
# Sessions looked through, latest first, for a fact or row that is named without its session.
RECENT = 20

_FACT_ID = re.compile(r"[a-z]{1,2}\d+")


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A fact (t3, or SESSION:t3), a session, or a row of its transcript "
            "(SESSION:ROW); the beginning of an id is enough, of a row's six characters.",
        ),
    ],
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="The session that the id belongs to.")
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Show source rows whole.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Open a fact, a session or a row: its words, whether it stands, and where it came from.

    A fact named without a session is looked for in the project of this folder first.

    Example: `holdfast show 0276a600:t3`
    """
    from holdfast.cli.opening import opened_store, session_named

    if ":" in name and not session:
        session, _, name = name.partition(":")
    with opened_store() as store:
        if session:
            candidates = [session_named(store, session)]
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
    raise Trouble(f"Nothing is called {name!r} {where}", "`holdfast search` finds names by words.")


def _recent(store: SqliteStore) -> list[Session]:
    from holdfast.lifecycle.project import place_of

    here = list(store.sessions(project=place_of(os.getcwd())[0], limit=RECENT))
    known = {session.id for session in here}
    return here + [one for one in store.sessions(limit=RECENT) if one.id not in known]


def _row(session: Session, row: str, start: int, store: SqliteStore) -> bytes | None:
    """From the transcript; where it no longer has the row, from what was archived of it."""
    from holdfast.lifecycle.source import archived_row, source_row

    found = source_row(session.transcript, row, start) if session.transcript else None
    return archived_row(store, session.id, row) if found is None else found


def _show_fact(session: Session, fact: Fact, row: bytes | None, full: bool, as_json: bool) -> None:
    if as_json:
        source = None if row is None else json.loads(row)
        answer({"session": session.id, "fact": fact_document(fact), "source": source})
        return
    from rich.text import Text

    out = console()
    kind = fact.kind.replace("_", " ")
    out.print(
        Text(f"{session.id[:8]}:{fact.id}", style="cyan")
        + Text(f"  {kind}, {standing_word(fact)}", style="bold")
        + Text(f"  {when(fact.at.time)} UTC", style="dim")
    )
    out.print(Text(printable(fact.text)))
    if fact.detail and fact.detail != fact.text:
        out.print(Text(printable(fact.detail), style="dim"))
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
        answer({"session": session.id, "row": name, "source": json.loads(row)})
        return
    from rich.text import Text

    console().print(Text(f"{session.id[:8]}:{name}", style="cyan"))
    _print_row(row, full)


def _print_row(row: bytes, full: bool) -> None:
    data = json.loads(row.replace(b"\0", b"").decode("utf-8", "replace"))
    text = json.dumps(data if full else _shortened(data), ensure_ascii=False, indent=2)
    # Line ends inside strings are what makes a row readable; in JSON they are escapes.
    from rich.text import Text

    console().print(Text(printable(text if full else text.replace("\\n", "\n    "))))


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_STRING:
        return f"{value[:LONGEST_STRING]}… ({len(value)} characters; --full shows all)"
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return value


def _show_session(store: SqliteStore, session: Session, as_json: bool) -> None:
    facts = store.facts(session.id)
    counts: dict[str, dict[str, int]] = {}
    for fact in facts:
        of_kind = counts.setdefault(fact.kind, {})
        of_kind[fact.standing] = of_kind.get(fact.standing, 0) + 1
    compactions = list(reversed(store.compactions(session.id)))
    checkpoints = list(reversed(store.checkpoints(session.id)))
    if as_json:
        answer(
            {
                "session": session._asdict(),
                "counts": counts,
                "compactions": [one._asdict() for one in compactions],
                "checkpoints": [one._asdict() for one in checkpoints],
            }
        )
        return
    from rich.table import Table
    from rich.text import Text

    out = console()
    out.print(Text(session.id, style="bold cyan"), Text(one_line(session.title, 120)))
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label in ("client", "project", "worktree", "branch", "transcript"):
        value = getattr(session, label)
        if value and not (label == "worktree" and value == session.project):
            table.add_row(label, Text(printable(value)))
    table.add_row("time", f"{when(session.started)} to {when(session.updated)} UTC")
    for one in compactions:
        tokens = f"{one.tokens_before:,} tokens" if one.tokens_before else "tokens unknown"
        summary = f"summary of {len(one.summary):,} characters" if one.summary else "no summary"
        table.add_row(
            f"compaction {one.epoch + 1}",
            f"{when(one.time)} UTC, {one.trigger or 'unknown trigger'}, {tokens}, {summary}",
        )
    for kind in KINDS:
        if kind in counts:
            said = ", ".join(f"{count} {word}" for word, count in counts[kind].items())
            table.add_row(HEADINGS[kind].lower(), said)
    out.print(table)
    out.print(
        Text(f"\nholdfast search WORDS --session {session.id[:8]} finds its facts.", style="dim")
    )
