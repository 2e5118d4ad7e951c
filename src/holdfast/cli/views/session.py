"""Sessions: those of the store by repository, latest first, and what is known about one."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from rich.text import Text

from holdfast.cli.output import format_one_line, print_json
from holdfast.cli.screen import NARROW_WIDTH, WIDE_WIDTH, Screen, drop_columns, make_table
from holdfast.cli.store_access import resolve_project
from holdfast.clock import format_minute
from holdfast.state.model import KINDS, count_kind
from holdfast.store.protocol import Compaction, Session
from holdfast.store.sqlite.store import SqliteStore
from holdfast.text import pluralize

INDENT = 2  # of sessions below their repository

Row = tuple["Session", str]  # with what it is about


def show_sessions(store: SqliteStore, project: str, limit: int, as_json: bool) -> None:
    """The table of `holdfast status --all`."""
    found = store.sessions(project=resolve_project(project), limit=limit + 1)
    rows = [(session, _describe_session(store, session)) for session in found[:limit]]
    compactions = Counter(one.session_id for one in store.compactions(limit=10_000))
    if as_json:
        more = ({"about": about, "compactions": compactions[one.id]} for one, about in rows)
        print_json([one._asdict() | rest for (one, _), rest in zip(rows, more, strict=True)])
        return
    out = Screen()
    if not rows:
        out.verbatim(f"No sessions of {resolve_project(project)}.")
        return
    _print_table(out, [], compactions, heading=True)
    for folder, worktrees in _group_by_project(rows).items():
        name = format_one_line(os.path.basename(folder) or "no project", 60)
        out.print(Text.assemble((name, "bold"), (f"  {format_one_line(folder, 200)}", "dim")))
        for worktree, held in worktrees.items():
            if shown := _name_worktree(folder, worktree):
                out.print(Text(f"  {format_one_line(shown, 200)}", style="dim"))
            if held:
                _print_table(out, held, compactions)
    if len(found) > limit:
        out.cut(limit, "session")
    if sizes := store.archive_sizes():
        megabytes = sum(sizes.values()) / 1_000_000
        kept = f"Rows of {pluralize(len(sizes), 'session')} archived, {megabytes:,.1f} MB"
        out.say(f"{kept}; the setting `archive_megabytes` bounds it", "dim")


def _describe_session(store: SqliteStore, session: Session) -> str:
    """Its title, or else the words it began with."""
    if session.title:
        return session.title
    requests = store.facts(session.id, kind="request")
    return requests[0].text if requests else ""


def _group_by_project(rows: list[Row]) -> dict[str, dict[str, list[Row]]]:
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
    out: Screen, rows: list[Row], compactions: Mapping[str, int], *, heading: bool = False
) -> None:
    """The sessions of one checkout; columns line up with every other's."""
    table = make_table(header=heading, expand=True)
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


def print_head(
    session: Session, compactions: Sequence[Compaction], counts: Mapping[str, Mapping[str, int]]
) -> None:
    """What one session was about, and how much is known of it."""
    branch = f" on {session.branch}" if session.branch else ""
    rows = [
        ("project", f"{session.worktree or session.project or '-'}{branch}"),
        ("time", f"{format_minute(session.started)} to {format_minute(session.updated)} UTC"),
    ]
    for one in compactions:
        tokens = f", {one.tokens_before:,} tokens" if one.tokens_before else ""
        words = f"{one.trigger or 'unknown trigger'}{tokens}, {format_minute(one.time)} UTC"
        rows.append((f"compaction {one.epoch + 1}", words))
    known = [count_kind(sum(counts[kind].values()), kind) for kind in KINDS if kind in counts]
    rows.append(("known", ", ".join(known) or "nothing yet"))
    if session.transcript:
        rows.append(("file", session.transcript))
    out = Screen()
    out.print(Text(session.id, style="cyan"))
    if title := format_one_line(session.title, 120):
        out.print(Text(title, style="bold"))
    out.rows(rows)
