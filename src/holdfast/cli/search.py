"""`holdfast search QUERY`: facts and words of all stored sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from holdfast.cli.output import (
    NARROW_WIDTH,
    JsonOption,
    format_one_line,
    make_console,
    print_indented,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import find_session, open_user_store, print_if_empty
from holdfast.clock import format_minute

if TYPE_CHECKING:
    from holdfast.session.digest import ArchiveMatch
    from holdfast.store.protocol import Hit


MAX_SNIPPET_CHARS = 300
# Beyond the double of what is shown: hits that say what another says.
MAX_REPEATED = 10


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

    from holdfast.cli.sessions import resolve_project
    from holdfast.state.facts import KINDS
    from holdfast.store.search_query import drop_repeated

    if kind and kind not in (*KINDS, "message"):
        raise typer.BadParameter(
            f"{kind!r} is not one of {', '.join(KINDS)}, message", param_hint="--kind"
        )
    words = " ".join(query)
    if print_if_empty(as_json, {"query": words, "rows" if archive else "hits": []}):
        return
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
            limit=2 * limit + MAX_REPEATED,
        )
    hits = drop_repeated(hits)[:limit]
    if as_json:
        print_json({"query": words, "hits": [_document(hit) for hit in hits]})
        return
    out = make_console()
    if not hits:
        out.print("Nothing found. Try fewer words.")
        return

    for number, hit in enumerate(hits):
        if number:
            out.print()
        out.print(_format_heading(hit, out.width))
        print_indented(Text(format_one_line(hit.snippet, MAX_SNIPPET_CHARS)))
    name = f"{hits[0].session_id[:8]}:{_name_of(hits[0])}"
    out.print(Text(f"\n`holdfast show {name}` opens the first.", style="dim"))


def _name_of(hit: Hit) -> str:
    if hit.fact is not None:
        return hit.fact.id
    return hit.message.row[:8] if hit.message is not None else ""


def _format_heading(hit: Hit, width: int) -> Text:
    """Its name, what it is, where it stands and, where there is room, since when."""

    from holdfast.cli.fact_words import style_status
    from holdfast.state.facts import kind_name

    head = Text.assemble((f"{hit.session_id[:8]}:{_name_of(hit)}", "cyan"))
    if hit.fact is not None:
        head.append(f"  {kind_name(hit.fact.kind)}, ", style="bold").append(style_status(hit.fact))
        time = hit.fact.at.time
    else:
        head.append(f"  {hit.message.speaker if hit.message else ''}", style="bold")
        time = hit.message.time if hit.message else ""
    if width < NARROW_WIDTH:
        return head
    return head.append(f"  {format_minute(time)}", style="dim")


def _document(hit: Hit) -> dict[str, Any]:
    from holdfast.cli.fact_words import fact_to_json

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
    import orjson

    from holdfast.session.digest import search_archive

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
        name = (f"{hit.session_id[:8]}:{hit.row[:8]}", "cyan")
        out.print(Text.assemble(name, (f"  {format_minute(hit.time)}", "dim")))
        print_indented(Text(replace_control_chars(hit.excerpt)))
    if not found:
        typer.echo("Nothing found in the archives. Rows are archived at compactions.")
