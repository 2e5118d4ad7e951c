"""`holdfast status --all`: which sessions the store knows, by repository, latest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    NARROW_WIDTH,
    drop_columns,
    format_one_line,
    make_console,
    print_cut,
    print_json,
)
from holdfast.cli.store_access import open_user_store, print_if_empty
from holdfast.clock import format_minute
from holdfast.fastpath.project import locate_project

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.store.protocol import Session
    from holdfast.store.sqlite.store import SqliteStore


# Below this the branch would leave a word or two of what a session is about.
WIDE_WIDTH = 100
INDENT = 2  # of sessions below their repository

Row = tuple["Session", str]  # with what it is about


def show_sessions(project: str, limit: int, as_json: bool) -> None:
    if print_if_empty(as_json, []):
        return
    with open_user_store() as store:
        found = store.sessions(project=resolve_project(project), limit=limit + 1)
        cut, found = len(found) > limit, found[:limit]
        rows = [(session, _describe(store, session)) for session in found]
        compactions: dict[str, int] = {}
        for compaction in store.compactions(limit=10_000):
            known = compactions.get(compaction.session_id, 0)
            compactions[compaction.session_id] = known + 1
    if as_json:
        print_json([_document(session, about, compactions) for session, about in rows])
        return
    out = make_console()
    if not rows:
        out.print(f"No sessions of {resolve_project(project)}.", markup=False, soft_wrap=True)
        return

    _print_table(out, [], compactions, heading=True)
    for project_folder, worktrees in _group(rows).items():
        name = os.path.basename(project_folder) or "no project"
        head = Text(format_one_line(name, 60), style="bold")
        out.print(head.append(f"  {format_one_line(project_folder, 200)}", style="dim"))
        for worktree, held in worktrees.items():
            if shown := _name_worktree(project_folder, worktree):
                out.print(Text(f"  {format_one_line(shown, 200)}", style="dim"))
            if held:
                _print_table(out, held, compactions)
    if cut:
        print_cut(limit, "session")


def _group(rows: list[Row]) -> dict[str, dict[str, list[Row]]]:
    """By repository, the latest first, and then by worktree, its own folder first."""
    groups: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        session = row[0]
        place = groups.setdefault(session.project, {session.project: []})
        place.setdefault(session.worktree or session.project, []).append(row)
    return groups


def _name_worktree(project: str, worktree: str) -> str:
    """The checkout, where it is not the repository's own folder."""
    if not project or worktree == project:
        return ""
    inside = worktree.startswith(project.rstrip("/") + "/")
    return os.path.relpath(worktree, project) if inside else worktree


def _print_table(
    out: Console, rows: list[Row], compactions: dict[str, int], *, heading: bool = False
) -> None:
    """The sessions of one checkout; columns stand where they stand in every other's."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    table.show_header = heading
    day = 10 if out.width < NARROW_WIDTH else 16  # without the time of day where room is short
    table.add_column("session", no_wrap=True, width=8 + INDENT)
    table.add_column("last active" if day == 16 else "active", no_wrap=True, width=day)
    table.add_column("branch", no_wrap=True, width=24)
    table.add_column("compacted", justify="right", no_wrap=True, min_width=9)
    table.add_column("about", ratio=1, overflow="ellipsis", no_wrap=True)
    for session, about in rows:
        table.add_row(
            Text(" " * INDENT + session.id[:8], style="cyan"),
            format_minute(session.updated or session.started)[:day],
            Text(format_one_line(session.branch or "-", 24), style="dim"),
            f"{compactions.get(session.id, 0)}x",
            Text(format_one_line(about, 200)),
        )
    if out.width < WIDE_WIDTH:
        drop_columns(table, "branch")
    if out.width < NARROW_WIDTH:
        drop_columns(table, "compacted")
    out.print(table)


def resolve_project(given: str) -> str:
    """A project is named by any folder in it."""
    if not given:
        return ""

    return locate_project(os.path.abspath(os.path.expanduser(given)))[0]


def _describe(store: SqliteStore, session: Session) -> str:
    """Its title, or else the words it began with."""
    if session.title:
        return session.title
    requests = store.facts(session.id, kind="request")
    return requests[0].text if requests else ""


def _document(session: Session, about: str, compactions: dict[str, int]) -> dict[str, Any]:
    document = session._asdict()
    return document | {"about": about, "compactions": compactions.get(session.id, 0)}
