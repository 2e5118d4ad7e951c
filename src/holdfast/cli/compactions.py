"""`holdfast compactions [SESSION]`: what each compaction kept and lost, and what was put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import (
    KIND_HEADINGS,
    NARROW_WIDTH,
    JsonOption,
    drop_columns,
    fact_to_json,
    format_minute,
    format_one_line,
    make_console,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.state.facts import Fact
    from holdfast.store.protocol import Compaction, Delivery
    from holdfast.store.sqlite.store import SqliteStore

MAX_TEXT_CHARS = 300  # characters of a lost fact that are shown


def compactions(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Session id or a prefix of it.")
    ] = "",
    project: Annotated[
        str, typer.Option("--project", metavar="FOLDER", help="Only compactions of this project.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Maximum number of rows.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """List compactions, latest first: what the summary kept and lost, and what was restored.

    With a session: everything that was lost, in full.

    Example: `holdfast compactions 0276a600`
    """
    from holdfast.cli.compaction_details import store_exists
    from holdfast.cli.store_access import find_session, open_user_store

    if not session and not store_exists():
        print_json([]) if as_json else make_console().print("No compactions yet.")
        return
    with open_user_store() as store:
        if session:
            found = find_session(store, session)
            _details(store, store.compactions(found.id, limit), as_json)
            return
        _table(store, _latest(store, project, limit), as_json)


def _latest(store: SqliteStore, project: str, limit: int) -> Sequence[Compaction]:
    from holdfast.cli.compaction_details import MAX_ROWS
    from holdfast.cli.sessions import resolve_project

    if not project:
        return store.compactions(limit=limit)
    known = {one.id for one in store.sessions(project=resolve_project(project), limit=MAX_ROWS)}
    return [c for c in store.compactions(limit=MAX_ROWS) if c.session_id in known][:limit]


def _load_deliveries(store: SqliteStore, found: Sequence[Compaction]) -> list[Delivery]:
    from holdfast.cli.compaction_details import MAX_ROWS

    sessions = {compaction.session_id for compaction in found}
    return [delivery for one in sessions for delivery in store.deliveries(one, MAX_ROWS)]


def _table(store: SqliteStore, found: Sequence[Compaction], as_json: bool) -> None:
    from holdfast.cli.compaction_details import (
        compaction_to_json,
        format_deliveries,
        format_tokens,
        select_deliveries,
    )

    given = _load_deliveries(store, found)
    documents = [compaction_to_json(c, select_deliveries(c, given)) for c in found]
    if as_json:
        print_json(documents)
        return
    out = make_console()
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
            format_minute(each["time"]),
            Text(format_one_line(each["trigger"] or "-", 10)),
            format_tokens(each["tokens_before"]),
            format_tokens(each["tokens_after"]),
            format_tokens(each["kept"]),
            format_tokens(each["lost"]),
            Text(format_deliveries(each["delivered"]) if each["kept"] is not None else "-"),
        )
    if out.width < NARROW_WIDTH:
        drop_columns(table, "trigger", "tokens", "after", "delivered")
    out.print(table)
    if any(each["kept"] is None for each in documents):
        out.print(Text("-: read from a transcript, not observed by the hooks", style="dim"))


def _details(store: SqliteStore, found: Sequence[Compaction], as_json: bool) -> None:
    from holdfast.cli.compaction_details import (
        compaction_to_json,
        count_by_kind,
        find_facts,
        find_restored,
        select_deliveries,
    )

    given = _load_deliveries(store, found)
    documents: list[dict[str, Any]] = []
    for compaction in found:
        lost = find_facts(store, compaction.session_id, compaction.lost)
        mine = select_deliveries(compaction, given)
        document = compaction_to_json(compaction, mine)
        document["summary"] = compaction.summary
        document["kept_ids"] = list(compaction.kept)
        document["lost_ids"] = list(compaction.lost)
        document["lost_by_kind"] = count_by_kind(lost)
        back = find_restored(lost, mine)
        document["lost_facts"] = [
            fact_to_json(fact) | {"put_back": fact.id in back} for fact in lost
        ]
        for described, delivery in zip(document["delivered"], mine, strict=True):
            described["text"] = delivery.text
        documents.append(document)
        if not as_json:
            _show(document, lost, back)
    if as_json:
        print_json(documents)
    elif not documents:
        make_console().print("No compactions in this session yet.")


def _show(document: dict[str, Any], lost: Sequence[Fact], back: set[str]) -> None:
    from rich.text import Text

    from holdfast.cli.compaction_details import format_tokens, pluralize

    out = make_console()
    head = Text(f"{document['session'][:8]} ", style="cyan")
    head.append(f"compaction {document['number']}", style="bold")
    before, after = (
        format_tokens(document["tokens_before"]),
        format_tokens(document["tokens_after"]),
    )
    sizes = "" if before == "-" else f", {before} tokens" + (f" to {after}" if after != "-" else "")
    trigger = format_one_line(document["trigger"] or "unknown", 20)
    head.append(f", {trigger}, {format_minute(document['time'])} UTC{sizes}", style="default")
    out.print(head)
    if document["kept"] is None:
        out.print(Text("  Not observed by the hooks.", style="dim"))
    else:
        out.print(
            f"  The summary kept {pluralize(document['kept'], 'fact')}, lost {document['lost']}."
        )
    for given in document["delivered"]:
        out.print(
            f"  {given['what'].capitalize()} by {given['road']}, {format_minute(given['time'])}"
            f" UTC, {given['characters']:,} characters."
        )
    kind = ""
    for fact in lost:
        if fact.kind != kind:
            kind = fact.kind
            out.print(Text(f"  Lost: {KIND_HEADINGS.get(kind, kind).lower()}", style="bold"))
        mark = Text(f"{fact.id:<5} ", style="cyan") + Text(
            format_one_line(fact.text, MAX_TEXT_CHARS)
        )
        if fact.id in back:
            mark.append("  (restored)", style="green")
        out.print(Text("    ") + mark, soft_wrap=True)
    gone = len(document["lost_ids"]) - len(lost)
    if gone:
        out.print(Text(f"    and {gone} no longer stored", style="dim"))
    out.print()
