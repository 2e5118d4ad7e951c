"""`holdfast history` and `holdfast diff`: a session's compactions in a chain, and one up close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from holdfast.cli.desk import SessionArgument
from holdfast.cli.output import (
    JsonOption,
    Trouble,
    answer,
    console,
    one_line,
    printable,
    size,
    when,
)

if TYPE_CHECKING:
    from holdfast.store.protocol import Compaction, Delivery, Session
    from holdfast.store.sqlite import SqliteStore

TEXT = 160


def history(session: SessionArgument = "", as_json: JsonOption = False) -> None:
    """Show the chain of a session's compactions, the first on top, with what each lost.

    Example: `holdfast history 0276a600`
    """
    from holdfast.cli.desk import session_meant
    from holdfast.cli.opening import opened_store

    with opened_store() as store:
        found = session_meant(store, session)
        document = _chain(store, found)
    if as_json:
        answer(document)
        return
    from rich.text import Text

    out = console()
    head = Text(f"{found.id[:8]} ", style="cyan") + Text(one_line(found.title, 100))
    out.print(head + Text(f"  begun {when(found.started)} UTC", style="dim"))
    for each in document["compactions"]:
        _show_link(each)
    if not document["compactions"]:
        out.print("No compaction so far.")
    kept = document["archive"]
    gone = "" if document["transcript_there"] else ", the transcript itself is gone"
    shown = f"{kept['rows']:,} rows archived ({size(kept['bytes'])}){gone}"
    out.print(Text(shown, style="dim"))


def _chain(store: SqliteStore, found: Session) -> dict[str, Any]:
    import os

    from holdfast.cli.past import MOST, by_kind, compaction_document, deliveries_of, facts_named

    given = store.deliveries(found.id, MOST)
    links = []
    for compaction in reversed(store.compactions(found.id, MOST)):
        lost = facts_named(store, found.id, compaction.lost)
        mine = deliveries_of(compaction, given)
        put_back = {name for delivery in mine for name in delivery.facts}
        document = compaction_document(compaction, mine)
        document["lost_by_kind"] = by_kind(lost)
        document["lost_facts"] = [
            {"id": f.id, "kind": f.kind, "text": f.text, "put_back": f.id in put_back} for f in lost
        ]
        links.append(document)
    rows = total = 0
    for _, _, _, piece in store.archived(found.id):
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

    from holdfast.cli.past import counted, tokens, told

    out = console()
    head = Text(f"{each['number']}. ", style="bold")
    after = f" → {tokens(each['tokens_after'])}" if each["tokens_after"] else ""
    sizes = f"{tokens(each['tokens_before'])}{after} tokens"
    head.append(f"{when(each['time'])} UTC, {one_line(each['trigger'] or 'unknown', 20)}, {sizes}")
    out.print(head, soft_wrap=True)
    if each["kept"] is None:
        out.print(Text("   its summary was not seen by the hooks", style="dim"))
        return
    kinds = ", ".join(counted(count, kind) for kind, count in each["lost_by_kind"].items())
    out.print(
        f"   summary kept {each['kept']}, lost {each['lost']}" + (f": {kinds}" if kinds else "")
    )
    out.print(Text(f"   put back: {told(each['delivered'])}", style="dim"))
    for fact in each["lost_facts"][:8]:
        mark = "put back" if fact["put_back"] else "not put back"
        text = Text(f"     {fact['id']:<5} ", style="cyan") + Text(one_line(fact["text"], TEXT))
        out.print(text + Text(f"  ({mark})", style="dim"), soft_wrap=True)
    rest = len(each["lost_facts"]) - 8
    if rest > 0:
        out.print(Text(f"     and {rest} more", style="dim"))


class Row(NamedTuple):
    id: str
    kind: str
    text: str
    in_summary: bool | None  # None: nobody asked
    restored: str  # "brief", "gap", both, or ""


def diff(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The beginning of its id.")],
    number: Annotated[
        int, typer.Argument(metavar="N", min=1, help="Which compaction; `history` numbers them.")
    ],
    full: Annotated[
        bool, typer.Option("--full", help="Also the summary and what was put back, whole.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show one compaction side by side: what was known, what the summary held, what came back.

    Example: `holdfast diff 0276a600 1`
    """
    from holdfast.cli.opening import foreseen, opened_store, session_named
    from holdfast.cli.past import MOST, deliveries_of

    with opened_store() as store, foreseen():
        found = session_named(store, session)
        chain = {c.epoch: c for c in store.compactions(found.id, MOST)}
        compaction = chain.get(number - 1)
        if compaction is None:
            raise Trouble(
                f"Session {found.id[:8]} has {len(chain)} compaction(s), not {number}",
                "`holdfast history` lists them.",
            )
        given = deliveries_of(compaction, store.deliveries(found.id, MOST))
        restored = [d for d in given if d.what != "steering"]
        rows = _rows(store, found, compaction, restored)
        summary = compaction.summary
    if as_json:
        answer(
            {
                "session": found.id,
                "number": number,
                "before": [row._asdict() for row in rows],
                "summary": summary,
                "restored": [{"what": d.what, "road": d.road, "text": d.text} for d in restored],
            }
        )
        return
    _show_rows(rows)
    if full:
        _show_texts(summary, restored)


def _rows(
    store: SqliteStore, found: Session, compaction: Compaction, restored: list[Delivery]
) -> list[Row]:
    """What stood right before it, from the checkpoint of that moment, and where it went."""
    from holdfast.brief.gap import Said, carries, standing
    from holdfast.lifecycle.inherit import state_before

    told = Said(compaction.summary) if compaction.summary.strip() else None
    texts = [(d.what, Said(d.text), set(d.facts)) for d in restored]
    rows = []
    for fact in standing(state_before(store, compaction)):
        back = [what for what, said, ids in texts if fact.id in ids or carries(said, fact)]
        in_summary = None if told is None else carries(told, fact)
        rows.append(Row(fact.id, fact.kind, fact.text, in_summary, " and ".join(back)))
    if not rows:
        raise Trouble(
            f"No checkpoint tells what session {found.id[:8]} knew before that compaction",
            "Compactions before the hooks were installed have none.",
        )
    return rows


def _show_rows(rows: list[Row]) -> None:
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
        table.add_row(row.id, kind + Text(one_line(row.text, TEXT)), held[row.in_summary], back)
    console().print(table)


def _show_texts(summary: str, restored: list[Delivery]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold", expand=True)
    table.add_column("the client's summary", ratio=1, overflow="fold")
    table.add_column("put back by Holdfast", ratio=1, overflow="fold")
    back = "\n\n".join(f"[{d.what} by {d.road}]\n{d.text}" for d in restored)
    table.add_row(Text(printable(summary or "-")), Text(printable(back or "-")))
    out = console()
    out.print()
    out.print(table)
