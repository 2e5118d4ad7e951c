"""`holdfast history` and `holdfast diff`: a session's compactions in a chain, and one up close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from holdfast.cli.output import (
    CliError,
    JsonOption,
    format_bytes,
    format_minute,
    format_one_line,
    make_console,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import SessionArgument

if TYPE_CHECKING:
    from holdfast.store.protocol import Compaction, Delivery, Session
    from holdfast.store.sqlite.store import SqliteStore

MAX_TEXT_CHARS = 160


def history(session: SessionArgument = "", as_json: JsonOption = False) -> None:
    """Show a session's compactions, oldest first, with what each one lost.

    Example: `holdfast history 0276a600`
    """
    from holdfast.cli.store_access import open_user_store, resolve_session

    with open_user_store() as store:
        found = resolve_session(store, session)
        document = _chain(store, found)
    if as_json:
        print_json(document)
        return
    from rich.text import Text

    out = make_console()
    head = Text(f"{found.id[:8]} ", style="cyan") + Text(format_one_line(found.title, 100))
    out.print(head + Text(f"  begun {format_minute(found.started)} UTC", style="dim"))
    for each in document["compactions"]:
        _show_link(each)
    if not document["compactions"]:
        out.print("No compactions yet.")
    kept = document["archive"]
    gone = "" if document["transcript_there"] else ", the transcript file no longer exists"
    shown = f"{kept['rows']:,} rows archived ({format_bytes(kept['bytes'])}){gone}"
    out.print(Text(shown, style="dim"))


def _chain(store: SqliteStore, found: Session) -> dict[str, Any]:
    import os

    from holdfast.cli.compaction_details import (
        MAX_ROWS,
        compaction_to_json,
        count_by_kind,
        find_facts,
        select_deliveries,
    )

    given = store.deliveries(found.id, MAX_ROWS)
    links = []
    for compaction in reversed(store.compactions(found.id, MAX_ROWS)):
        lost = find_facts(store, found.id, compaction.lost)
        mine = select_deliveries(compaction, given)
        put_back = {name for delivery in mine for name in delivery.facts}
        document = compaction_to_json(compaction, mine)
        document["lost_by_kind"] = count_by_kind(lost)
        document["lost_facts"] = [
            {"id": f.id, "kind": f.kind, "text": f.text, "put_back": f.id in put_back} for f in lost
        ]
        links.append(document)
    rows = total = 0
    for _, _, _, piece in store.read_archive(found.id):
        rows += piece.count(b"\n")
        total += len(piece)
    return {
        "session": found.id,
        "started": found.started,
        "updated": found.updated,
        "compactions": links,
        "archive": {"rows": rows, "bytes": total},
        "transcript_there": bool(found.transcript) and os.path.exists(found.transcript),
    }


def _show_link(each: dict[str, Any]) -> None:
    from rich.text import Text

    from holdfast.cli.compaction_details import format_deliveries, format_tokens, pluralize

    out = make_console()
    head = Text(f"{each['number']}. ", style="bold")
    after = f" → {format_tokens(each['tokens_after'])}" if each["tokens_after"] else ""
    sizes = f"{format_tokens(each['tokens_before'])}{after} tokens"
    head.append(
        f"{format_minute(each['time'])} UTC,"
        f" {format_one_line(each['trigger'] or 'unknown', 20)}, {sizes}"
    )
    out.print(head, soft_wrap=True)
    if each["kept"] is None:
        out.print(Text("   summary not observed by the hooks", style="dim"))
        return
    kinds = ", ".join(pluralize(count, kind) for kind, count in each["lost_by_kind"].items())
    out.print(
        f"   summary kept {each['kept']}, lost {each['lost']}" + (f": {kinds}" if kinds else "")
    )
    out.print(Text(f"   restored: {format_deliveries(each['delivered'])}", style="dim"))
    for fact in each["lost_facts"][:8]:
        mark = "restored" if fact["put_back"] else "not restored"
        text = Text(f"     {fact['id']:<5} ", style="cyan") + Text(
            format_one_line(fact["text"], MAX_TEXT_CHARS)
        )
        out.print(text + Text(f"  ({mark})", style="dim"), soft_wrap=True)
    rest = len(each["lost_facts"]) - 8
    if rest > 0:
        out.print(Text(f"     and {rest} more", style="dim"))


class DiffRow(NamedTuple):
    id: str
    kind: str
    text: str
    in_summary: bool | None  # None: nobody asked
    restored: str  # "brief", "gap", both, or ""


def diff(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Session id or a prefix of it.")
    ],
    number: Annotated[
        int,
        typer.Argument(metavar="N", min=1, help="Number of the compaction, as shown by `history`."),
    ],
    full: Annotated[
        bool, typer.Option("--full", help="Also show the full summary and the restored text.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare what was known before a compaction with the summary and with what was restored.

    Example: `holdfast diff 0276a600 1`
    """
    from holdfast.cli.compaction_details import MAX_ROWS, select_deliveries
    from holdfast.cli.store_access import find_session, open_user_store, translate_errors

    with open_user_store() as store, translate_errors():
        found = find_session(store, session)
        chain = {c.epoch: c for c in store.compactions(found.id, MAX_ROWS)}
        compaction = chain.get(number - 1)
        if compaction is None:
            raise CliError(
                f"Session {found.id[:8]} has {len(chain)} compaction(s), not {number}",
                "`holdfast history` lists them.",
            )
        given = select_deliveries(compaction, store.deliveries(found.id, MAX_ROWS))
        restored = [d for d in given if d.kind != "steering"]
        rows = _rows(store, found, compaction, restored)
        summary = compaction.summary
    if as_json:
        print_json(
            {
                "session": found.id,
                "number": number,
                "before": [row._asdict() for row in rows],
                "summary": summary,
                "restored": [{"what": d.kind, "road": d.channel, "text": d.text} for d in restored],
            }
        )
        return
    _show_rows(rows)
    if full:
        _show_texts(summary, restored)


def _rows(
    store: SqliteStore, found: Session, compaction: Compaction, restored: list[Delivery]
) -> list[DiffRow]:
    """What stood right before it, from the checkpoint of that moment, and where it went."""
    from holdfast.brief.gap import TextCoverage, covers_fact, list_open_facts
    from holdfast.session.update import load_state_before

    told = TextCoverage(compaction.summary) if compaction.summary.strip() else None
    texts = [(d.kind, TextCoverage(d.text), set(d.facts)) for d in restored]
    rows = []
    for fact in list_open_facts(load_state_before(store, compaction)):
        back = [what for what, said, ids in texts if fact.id in ids or covers_fact(said, fact)]
        in_summary = None if told is None else covers_fact(told, fact)
        rows.append(DiffRow(fact.id, fact.kind, fact.text, in_summary, " and ".join(back)))
    if not rows:
        raise CliError(
            f"No checkpoint of session {found.id[:8]} from before that compaction",
            "Compactions before the hooks were installed have none.",
        )
    return rows


def _show_rows(rows: list[DiffRow]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=True)
    table.add_column("", style="cyan", no_wrap=True)
    table.add_column("known before", ratio=1, overflow="fold")
    table.add_column("in the summary", no_wrap=True)
    table.add_column("restored", no_wrap=True)
    for row in rows:
        held = {True: Text("yes", "green"), False: Text("lost", "red"), None: Text("-", "dim")}
        missing = not row.restored and row.in_summary is False
        back = Text(row.restored or ("no" if missing else "-"), "red" if missing else "")
        kind = Text(f"{row.kind.replace('_', ' ')}: ", style="dim")
        table.add_row(
            row.id,
            kind + Text(format_one_line(row.text, MAX_TEXT_CHARS)),
            held[row.in_summary],
            back,
        )
    make_console().print(table)


def _show_texts(summary: str, restored: list[Delivery]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold", expand=True)
    table.add_column("the client's summary", ratio=1, overflow="fold")
    table.add_column("restored by Holdfast", ratio=1, overflow="fold")
    back = "\n\n".join(f"[{d.kind} by {d.channel}]\n{d.text}" for d in restored)
    table.add_row(
        Text(replace_control_chars(summary or "-")), Text(replace_control_chars(back or "-"))
    )
    out = make_console()
    out.print()
    out.print(table)
