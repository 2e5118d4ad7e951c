"""`holdfast session prune` and `forget`: delete what is old or too much, or a session for good.

What would go is shown first and asked for a yes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast import retention
from holdfast.cli import output
from holdfast.cli.config import add_pattern
from holdfast.cli.db import open_database
from holdfast.cli.screen import Screen
from holdfast.cli.store_access import (
    find_session,
    open_user_store,
    resolve_database,
    resolve_project,
)
from holdfast.clock import format_days_ago, format_now
from holdfast.paths import data_dir, is_postgres_url, store_path
from holdfast.retention import PruneResult, forget_sessions
from holdfast.server.server_settings import ServerSettings, records_path
from holdfast.session.context import load_settings
from holdfast.store.sqlite.store import SqliteStore
from holdfast.text import pluralize

if TYPE_CHECKING:
    from holdfast.store.postgres import PostgresStore


def prune(
    days: output.OptionalCount = None,
    keep: output.OptionalCount = None,
    max_size: output.OptionalCount = None,
    database: str = "",
    dry_run: output.DryRunOption = False,
    yes: output.YesOption = False,
    as_json: output.JsonOption = False,
) -> None:
    """Delete old sessions, checkpoints, notes and handoffs.

    Also old data of your own server: snapshots, actions, delivered or expired messages, the audit
    log. Keeps sessions not yet synced to the team server. Shows what would be deleted and asks for
    confirmation.

    --days N: Delete sessions inactive for this many days. Default: setting retention_days.
    --keep N: With --days: latest checkpoints to keep per session, however old. Default: setting
        retention_checkpoints.
    --max-size MB: Delete the oldest sessions until the rest fits. Default: setting
        retention_megabytes.
    --database URL: A team's database instead of your own store, by age alone: a postgresql://...
        URL, or the path of a SQLite file.

    Example: `holdfast session prune --days 90 --dry-run`
    """
    if database and (not days or max_size):
        raise typer.BadParameter("needs --days, without --max-size", param_hint="--database")
    chosen = load_settings(os.environ, data_dir(), os.getcwd())
    days = chosen.number("retention_days") if days is None else days
    keep = chosen.number("retention_checkpoints") if keep is None else keep
    megabytes = chosen.number("retention_megabytes") if max_size is None else max_size
    megabytes = 0 if database else megabytes
    if not days and not megabytes:
        raise typer.BadParameter(
            "pass --days or --max-size, or set retention_days", param_hint="--days"
        )
    nothing = {"sessions": [], "dropped": {}, "dry_run": dry_run}
    with open_database(database) if database else open_user_store(nothing) as store:
        place, before = _measure(store)
        if not dry_run and not yes:
            done = _prune(store, database, days, keep, megabytes, dry_run=True)
            if any(count for one in done for count in one.deleted_rows.values()):
                if not as_json:
                    Screen().verbatim(f"In {place}:")
                    _print_pruned(done, True, (before, before), as_json)
                output.confirm_deletion(yes, as_json=as_json)
        done = _prune(store, database, days, keep, megabytes, dry_run=dry_run)
        _, after = _measure(store)
    _print_pruned(done, dry_run, (before, after), as_json)


def _measure(store: SqliteStore | PostgresStore) -> tuple[str, int]:
    """Where it is, and how many bytes it has."""
    if isinstance(store, SqliteStore):
        return store.path, sum(store.session_sizes().values())
    told = store.health()
    return told["path"], told["bytes"]


def _prune(
    store: SqliteStore | PostgresStore,
    database: str,
    days: int,
    keep: int,
    megabytes: int,
    *,
    dry_run: bool,
) -> list[PruneResult]:
    """What went or would go."""
    # Of another database no papers are here, and the outbox does not need it.
    is_own = os.path.realpath(resolve_database(database)) == os.path.realpath(store_path())
    data, done = data_dir() if is_own else "", []
    if days:
        moment = format_days_ago(days)
        done.append(retention.prune_by_age(store, data, before=moment, keep=keep, dry_run=dry_run))
        posted = _prune_server_data(database, moment, dry_run=dry_run)
        if posted is not None:
            done.append(retention.PruneResult(posted, ()))
    if megabytes and isinstance(store, SqliteStore):
        going = set(done[0].sessions) if done and dry_run else set()
        left = {name: size for name, size in store.session_sizes().items() if name not in going}
        most = megabytes * 1_000_000
        done.append(retention.prune_by_size(store, data, left, most, dry_run=dry_run))
    return done


def _print_pruned(
    done: list[PruneResult], dry_run: bool, sizes: tuple[int, int], as_json: bool
) -> None:
    before, after = sizes
    dropped: Counter[str] = Counter()
    for one in done:
        dropped.update(one.deleted_rows)
    sessions = list(dict.fromkeys(name for one in done for name in one.sessions))
    waiting = list(dict.fromkeys(name for one in done for name in one.unsynced))
    if as_json:
        output.print_json(
            {
                "dry_run": dry_run,
                "dropped": dropped,
                "sessions": sessions,
                "not_synced": waiting,
                "bytes_before": before,
                "bytes_after": after,
            }
        )
        return
    out = Screen()
    words = ", ".join(
        f"{count:,} {table.replace('_', ' ')}" for table, count in dropped.items() if count
    )
    out.say(
        f"{'Would delete' if dry_run else 'Deleted'} {words}." if words else "Nothing to delete."
    )
    if sessions:
        out.say("Sessions: " + ", ".join(name[:8] for name in sessions))
    if waiting:
        names = ", ".join(name[:8] for name in waiting)
        out.say(f"Kept because not yet synced to the server: {names}")
    if not dry_run:
        out.say(f"{output.format_bytes(before)} before, {output.format_bytes(after)} now.")


def _prune_server_data(database: str, before: str, *, dry_run: bool) -> dict[str, int] | None:
    """What was posted to the service; None where none ever ran."""
    where = resolve_database(database)
    if not is_postgres_url(where) and not os.path.exists(records_path(where)):
        return None
    from holdfast.server.backend import open_backend
    from holdfast.server.records.maintenance import prune_records

    with closing(open_backend(ServerSettings(database=where))) as backend:
        return prune_records(backend.records, before, format_now(), dry_run=dry_run)


MAX_SYNC_SECONDS = 20.0  # for a team's server to answer while a person waits
MIN_PHRASE_CHARS = 4  # a shorter one is in everything


def forget(
    sessions: Annotated[list[str] | None, typer.Argument(metavar="SESSION")] = None,
    project: str = "",
    phrase: str = "",
    dry_run: output.DryRunOption = False,
    yes: output.YesOption = False,
    as_json: output.JsonOption = False,
) -> None:
    """Remove sessions from Holdfast for good: facts, words, archived rows, notes, handoffs.

    They are not indexed again, and hooks no longer follow them. A team's server forgets them too:
    at once, or with the next sync, and no machine can bring them back there. The client's own
    transcript is left alone, and so is what other machines have in their own stores.

    SESSION: Session ids or prefixes.
    --project FOLDER: All sessions of a project.
    --phrase TEXT: This text, exactly as it is, out of everything that is kept of any session. It
        goes into your `redact_patterns`, so that neither hooks nor `ingest` bring it back.

    Example: `holdfast session forget 0276a600`
    """
    if not (sessions or project or phrase):
        raise typer.BadParameter("pass a session, --project or --phrase", param_hint="SESSION")
    out = Screen()
    if phrase:
        _forget_phrase(phrase, dry_run, yes, as_json)
        if not sessions and not project:
            return
    with open_user_store() as store:
        chosen = [find_session(store, name) for name in sessions or ()]
        if project:
            chosen += store.sessions(project=resolve_project(project), limit=1_000_000)
        names = ", ".join(one.id[:8] for one in chosen) or "nothing"
        if not as_json and (dry_run or not yes):
            out.say(f"Would forget: {names}.")
        if not dry_run:
            output.confirm_deletion(yes or not chosen, as_json=as_json)
            forget_sessions(store, data_dir(), chosen)
    server = "" if dry_run else _tell_server()
    if as_json:
        ids = [one.id for one in chosen]
        output.print_json({"sessions": ids, "dry_run": dry_run, "server": server})
    elif not dry_run:
        out.say(f"Forgot: {names}. {server}".rstrip())


def _tell_server() -> str:
    """What a team's server says to what it was told to forget; "" where there is none."""
    from holdfast.cli import team
    from holdfast.sync import messages

    connected, data = team.find_connection(), data_dir()
    if connected is None:
        return ""
    before = messages.list_rejected(data)
    team.sync_now(connected, MAX_SYNC_SECONDS)
    refused = [one.reason for one in messages.list_rejected(data) if one not in before]
    if refused:
        return f"The team's server refused to forget it: {refused[0]}"
    if any("forget" in one.body for one in messages.list_queued(data)):
        return "The team's server has not forgotten it yet; each sync asks again."
    return "The team's server has forgotten it, too."


def _forget_phrase(phrase: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    if len(phrase.strip()) < MIN_PHRASE_CHARS:
        raise typer.BadParameter(f"at least {MIN_PHRASE_CHARS} characters", param_hint="--phrase")
    out = Screen()
    if not as_json and (dry_run or not yes):
        out.say("Would take this text out of everything that is kept.")
    if dry_run:
        return
    output.confirm_deletion(yes, as_json=as_json)
    with open_user_store() as store:
        # Kept out first: a hook that runs meanwhile writes none of it any more.
        add_pattern("forgotten", re.escape(phrase))
        places = retention.forget_phrase(store, data_dir(), phrase)
    server = _tell_server()
    if as_json:
        output.print_json({"phrase_places": places, "server": server})
    else:
        done = f"Taken out of {pluralize(places, 'place')}, and kept out from now on. {server}"
        out.say(done.rstrip())
