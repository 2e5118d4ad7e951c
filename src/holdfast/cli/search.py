"""`holdfast search QUERY`: facts and words of all stored sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    NARROW_WIDTH,
    JsonOption,
    drop_columns,
    fact_to_json,
    format_one_line,
    make_console,
    print_json,
    replace_control_chars,
    style_status,
)
from holdfast.cli.sessions import resolve_project
from holdfast.cli.store_access import find_session, open_user_store
from holdfast.clock import format_minute
from holdfast.session.digest import ArchiveMatch, search_archive
from holdfast.state.facts import KINDS, kind_name

if TYPE_CHECKING:
    from holdfast.store.protocol import Hit


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words to search for.")],
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Only this session (id or prefix).")
    ] = "",
    project: Annotated[
        str, typer.Option("--project", metavar="FOLDER", help="Only this project.")
    ] = "",
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="Only this kind of fact, or `message`."),
    ] = "",
    archive: Annotated[
        bool,
        typer.Option(
            "--archive",
            help="Search the raw rows archived at compactions, including tool output. Slower.",
        ),
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Maximum number of results.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Search facts and messages, in all sessions or one.

    Use quotes for phrases. Best match first; facts that are still valid rank higher.

    Example: `holdfast search "rate limit" --kind decision`
    """
    if kind and kind not in (*KINDS, "message"):
        raise typer.BadParameter(
            f"{kind!r} is not one of {', '.join(KINDS)}, message", param_hint="--kind"
        )
    words = " ".join(query)
    if archive:
        _search_archives(words.split(), session, resolve_project(project), limit, as_json)
        return
    with open_user_store() as store:
        session_id = find_session(store, session).id if session else ""
        hits = store.search(
            words,
            session_id=session_id,
            project=resolve_project(project),
            kind=kind,
            limit=limit,
        )
    if as_json:
        print_json({"query": words, "hits": [_document(hit) for hit in hits]})
        return
    out = make_console()
    if not hits:
        out.print("Nothing found. Try fewer words.")
        return

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for hit in hits:
        fact, message = hit.fact, hit.message
        if fact is not None:
            name, kind_shown = fact.id, kind_name(fact.kind)
            status, time = style_status(fact), fact.at.time
        elif message is not None:
            name, kind_shown = message.row[:8], message.speaker
            status, time = Text("said", style="dim"), message.time
        else:
            continue
        what = Text(f"{kind_shown}  ", style="bold") + Text(format_one_line(hit.snippet, 300))
        table.add_row(f"{hit.session_id[:8]}:{name}", status, format_minute(time), what)
    if out.width < NARROW_WIDTH:
        drop_columns(table, 1, 2)  # whether it stands, and since when: `show` tells
    out.print(table)
    out.print(Text("\nholdfast show <the name in the first column> opens one.", style="dim"))


def _document(hit: Hit) -> dict[str, Any]:
    return {
        "session": hit.session_id,
        "score": hit.score,
        "snippet": hit.snippet,
        "fact": None if hit.fact is None else fact_to_json(hit.fact),
        "message": None if hit.message is None else hit.message._asdict(),
    }


def _search_archives(
    words: list[str], session: str, project: str, limit: int, as_json: bool
) -> None:
    found: list[ArchiveMatch] = []
    with open_user_store() as store:
        sessions = (
            [find_session(store, session)]
            if session
            else list(store.sessions(project=project, limit=10_000))
        )
        for one in sessions:
            if len(found) >= limit:
                break
            left = limit - len(found)
            found += search_archive(store, one.id, words, left, loads=orjson.loads)
    if as_json:
        print_json({"query": " ".join(words), "rows": [one._asdict() for one in found]})
        return

    out = make_console()
    for hit in found:
        name = Text(f"{hit.session_id[:8]}:{hit.row[:8]}  ", style="cyan")
        out.print(
            name
            + Text(f"{format_minute(hit.time)}  ", style="dim")
            + Text(replace_control_chars(hit.excerpt)),
            soft_wrap=True,
        )
    if not found:
        typer.echo("Nothing found in the archives. Rows are archived at compactions.")
