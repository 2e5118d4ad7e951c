"""`holdfast search QUERY`: facts and words of all stored sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import (
    NARROW,
    JsonOption,
    answer,
    console,
    fact_document,
    give_up,
    one_line,
    standing_text,
    when,
)
from holdfast.state.facts import KINDS

if TYPE_CHECKING:
    from holdfast.store.protocol import Hit


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words to look for.")],
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="In one session: its id's beginning.")
    ] = "",
    project: Annotated[
        str, typer.Option("--project", metavar="FOLDER", help="In one project.")
    ] = "",
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="One kind of fact, or `message` for words."),
    ] = "",
    archive: Annotated[
        bool,
        typer.Option(
            "--archive",
            help="Look through the raw rows kept at compactions: tool output too. Slower.",
        ),
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="At most this many.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Search what was known and said, in all sessions or one.

    Quotes hold words together. Best first; what still stands before what does not.

    Example: `holdfast search "rate limit" --kind decision`
    """
    from holdfast.cli.opening import opened_store, session_named
    from holdfast.cli.sessions import project_folder

    if kind and kind not in (*KINDS, "message"):
        raise typer.BadParameter(
            f"{kind!r} is none of {', '.join(KINDS)}, message", param_hint="--kind"
        )
    words = " ".join(query)
    if archive:
        from holdfast.cli.messages import search_archives

        search_archives(words.split(), session, project_folder(project), limit, as_json)
        return
    with opened_store() as store:
        session_id = session_named(store, session).id if session else ""
        hits = store.search(
            words,
            session_id=session_id,
            project=project_folder(project),
            kind=kind,
            limit=limit,
        )
    if as_json:
        answer({"query": words, "hits": [_document(hit) for hit in hits]})
        return
    out = console()
    if not hits:
        out.print("Nothing found. Fewer words find more.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for hit in hits:
        fact, message = hit.fact, hit.message
        if fact is not None:
            name, kind_shown = fact.id, fact.kind.replace("_", " ")
            standing, time = standing_text(fact), fact.at.time
        elif message is not None:
            name, kind_shown = message.row[:8], message.who
            standing, time = Text("said", style="dim"), message.time
        else:
            continue
        what = Text(f"{kind_shown}  ", style="bold") + Text(one_line(hit.snippet, 300))
        table.add_row(f"{hit.session_id[:8]}:{name}", standing, when(time), what)
    if out.width < NARROW:
        give_up(table, 1, 2)  # whether it stands, and since when: `show` tells
    out.print(table)
    out.print(Text("\nholdfast show <the name in the first column> opens one.", style="dim"))


def _document(hit: Hit) -> dict[str, Any]:
    return {
        "session": hit.session_id,
        "score": hit.score,
        "snippet": hit.snippet,
        "fact": None if hit.fact is None else fact_document(hit.fact),
        "message": None if hit.message is None else hit.message._asdict(),
    }
