"""`holdfast compactions [SESSION]`: what each compaction kept and lost, and what was put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import (
    HEADINGS,
    NARROW,
    JsonOption,
    answer,
    console,
    fact_document,
    give_up,
    one_line,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.state.facts import Fact
    from holdfast.store.protocol import Compaction, Delivery
    from holdfast.store.sqlite import SqliteStore

TEXT = 300  # characters of a lost fact that are shown


def compactions(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="One session: the beginning of its id.")
    ] = "",
    project: Annotated[
        str, typer.Option("--project", metavar="FOLDER", help="Those of one project alone.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="At most this many.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """List compactions, latest first: what the summary kept, what it lost, what was put back.

    With a session, what was lost in full.

    Example: `holdfast compactions 0276a600`
    """
    from holdfast.cli.opening import opened_store, session_named
    from holdfast.cli.past import anything_stored

    if not session and not anything_stored():
        answer([]) if as_json else console().print("No compactions yet.")
        return
    with opened_store() as store:
        if session:
            found = session_named(store, session)
            _details(store, store.compactions(found.id, limit), as_json)
            return
        _table(store, _latest(store, project, limit), as_json)


def _latest(store: SqliteStore, project: str, limit: int) -> Sequence[Compaction]:
    from holdfast.cli.past import MOST
    from holdfast.cli.sessions import project_folder

    if not project:
        return store.compactions(limit=limit)
    known = {one.id for one in store.sessions(project=project_folder(project), limit=MOST)}
    return [c for c in store.compactions(limit=MOST) if c.session_id in known][:limit]


def _given(store: SqliteStore, found: Sequence[Compaction]) -> list[Delivery]:
    from holdfast.cli.past import MOST

    sessions = {compaction.session_id for compaction in found}
    return [delivery for one in sessions for delivery in store.deliveries(one, MOST)]


def _table(store: SqliteStore, found: Sequence[Compaction], as_json: bool) -> None:
    from holdfast.cli.past import compaction_document, deliveries_of, tokens, told

    given = _given(store, found)
    documents = [compaction_document(c, deliveries_of(c, given)) for c in found]
    if as_json:
        answer(documents)
        return
    out = console()
    if not documents:
        out.print("No compactions yet.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("session", no_wrap=True, min_width=8)
    for name in ("no", "when (UTC)", "trigger"):
        table.add_column(name, no_wrap=True)
    for name in ("tokens", "after", "kept", "lost"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("delivered", overflow="fold")
    for each in documents:
        table.add_row(
            Text(each["session"][:8], style="cyan"),
            str(each["number"]),
            when(each["time"]),
            Text(one_line(each["trigger"] or "-", 10)),
            tokens(each["tokens_before"]),
            tokens(each["tokens_after"]),
            tokens(each["kept"]),
            tokens(each["lost"]),
            Text(told(each["delivered"]) if each["kept"] is not None else "-"),
        )
    if out.width < NARROW:
        give_up(table, "trigger", "tokens", "after", "delivered")
    out.print(table)
    if any(each["kept"] is None for each in documents):
        out.print(Text("-: read from a transcript, not seen by the hooks", style="dim"))


def _details(store: SqliteStore, found: Sequence[Compaction], as_json: bool) -> None:
    from holdfast.cli.past import (
        by_kind,
        compaction_document,
        deliveries_of,
        facts_named,
        put_back,
    )

    given = _given(store, found)
    documents: list[dict[str, Any]] = []
    for compaction in found:
        lost = facts_named(store, compaction.session_id, compaction.lost)
        mine = deliveries_of(compaction, given)
        document = compaction_document(compaction, mine)
        document["summary"] = compaction.summary
        document["kept_ids"] = list(compaction.kept)
        document["lost_ids"] = list(compaction.lost)
        document["lost_by_kind"] = by_kind(lost)
        back = put_back(lost, mine)
        document["lost_facts"] = [
            fact_document(fact) | {"put_back": fact.id in back} for fact in lost
        ]
        for described, delivery in zip(document["delivered"], mine, strict=True):
            described["text"] = delivery.text
        documents.append(document)
        if not as_json:
            _show(document, lost, back)
    if as_json:
        answer(documents)
    elif not documents:
        console().print("No compactions in this session yet.")


def _show(document: dict[str, Any], lost: Sequence[Fact], back: set[str]) -> None:
    from rich.text import Text

    from holdfast.cli.past import counted, tokens

    out = console()
    head = Text(f"{document['session'][:8]} ", style="cyan")
    head.append(f"compaction {document['number']}", style="bold")
    before, after = tokens(document["tokens_before"]), tokens(document["tokens_after"])
    sizes = "" if before == "-" else f", {before} tokens" + (f" to {after}" if after != "-" else "")
    trigger = one_line(document["trigger"] or "unknown", 20)
    head.append(f", {trigger}, {when(document['time'])} UTC{sizes}", style="default")
    out.print(head)
    if document["kept"] is None:
        out.print(Text("  It was not seen by the hooks.", style="dim"))
    else:
        out.print(
            f"  The summary kept {counted(document['kept'], 'fact')}, lost {document['lost']}."
        )
    for given in document["delivered"]:
        out.print(
            f"  {given['what'].capitalize()} by {given['road']}, {when(given['time'])}"
            f" UTC, {given['characters']:,} characters."
        )
    kind = ""
    for fact in lost:
        if fact.kind != kind:
            kind = fact.kind
            out.print(Text(f"  Lost: {HEADINGS.get(kind, kind).lower()}", style="bold"))
        mark = Text(f"{fact.id:<5} ", style="cyan") + Text(one_line(fact.text, TEXT))
        if fact.id in back:
            mark.append("  (put back)", style="green")
        out.print(Text("    ") + mark, soft_wrap=True)
    gone = len(document["lost_ids"]) - len(lost)
    if gone:
        out.print(Text(f"    and {gone} that are no longer kept", style="dim"))
    out.print()
