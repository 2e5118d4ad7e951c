"""`holdfast sessions`: which sessions the store knows, latest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import NARROW, JsonOption, answer, console, give_up, one_line, when

if TYPE_CHECKING:
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite import SqliteStore

# Below this the branch would leave a word or two of what a session is about.
ROOMY = 100


def sessions(
    project: Annotated[
        str, typer.Option("--project", metavar="FOLDER", help="Those of one project alone.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="At most this many.")
    ] = 50,
    as_json: JsonOption = False,
) -> None:
    """List the stored sessions, latest first.

    Example: `holdfast sessions --project .`
    """
    from holdfast.cli.opening import opened_store

    with opened_store() as store:
        found = store.sessions(project=project_folder(project), limit=limit)
        rows = [(session, _about(store, session)) for session in found]
        compactions: dict[str, int] = {}
        for compaction in store.compactions(limit=10_000):
            known = compactions.get(compaction.session_id, 0)
            compactions[compaction.session_id] = known + 1
    if as_json:
        answer([_document(session, about, compactions) for session, about in rows])
        return
    out = console()
    if not rows:
        where = f" of {project_folder(project)}." if project else " yet."
        out.print(f"No sessions{where} `holdfast ingest` indexes the transcripts you have.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    for name in ("session", "last seen", "project", "branch"):
        table.add_column(name, no_wrap=True)
    table.add_column("compacted", justify="right", no_wrap=True, min_width=9)
    table.add_column("about", ratio=1, overflow="ellipsis", no_wrap=True)
    for session, about in rows:
        table.add_row(
            Text(session.id[:8], style="cyan"),
            when(session.updated or session.started),
            Text(one_line(os.path.basename(session.project) or "-", 24)),
            Text(one_line(session.branch or "-", 24), style="dim"),
            f"{compactions.get(session.id, 0)}x",
            Text(one_line(about, 200)),
        )
    if out.width < ROOMY:
        give_up(table, "branch")
    if out.width < NARROW:
        give_up(table, "project", "compacted")
    out.print(table)


def project_folder(given: str) -> str:
    """A project is named by any folder in it."""
    if not given:
        return ""
    from holdfast.lifecycle.project import place_of

    return place_of(os.path.abspath(os.path.expanduser(given)))[0]


def _about(store: SqliteStore, session: Session) -> str:
    """Its title, or else the words it began with."""
    if session.title:
        return session.title
    requests = store.facts(session.id, kind="request")
    return requests[0].text if requests else ""


def _document(session: Session, about: str, compactions: dict[str, int]) -> dict[str, Any]:
    document = session._asdict()
    return document | {"about": about, "compactions": compactions.get(session.id, 0)}
