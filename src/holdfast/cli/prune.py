"""`holdfast session prune`: forget what is old or too much, after showing it and a yes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from holdfast.cli.output import (
    JsonOption,
    YesOption,
    confirm_deletion,
    format_bytes,
    make_console,
    print_json,
    print_words,
)
from holdfast.cli.prune_server import MORE_TO_PRUNE, format_dropped, prune_server_data
from holdfast.cli.store_access import find_session, open_user_store, print_if_empty
from holdfast.clock import format_days_ago
from holdfast.paths import data_dir

if TYPE_CHECKING:
    from holdfast.retention import PruneResult
    from holdfast.store.sqlite.store import SqliteStore


class _Limits(NamedTuple):
    days: int
    keep: int
    megabytes: int


def prune(
    days: Annotated[
        int | None,
        typer.Option(
            "--days",
            metavar="N",
            min=1,
            help="Delete sessions inactive for this many days. Default: setting retention_days.",
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep",
            metavar="N",
            min=1,
            help="With --days: latest checkpoints to keep per session, however old. Default: "
            "setting retention_checkpoints.",
        ),
    ] = None,
    megabytes: Annotated[
        int | None,
        typer.Option(
            "--max-size",
            metavar="MB",
            min=1,
            help="Delete the oldest sessions until the rest fits. Default: setting "
            "retention_megabytes.",
        ),
    ] = None,
    pin: Annotated[
        str, typer.Option("--pin", metavar="SESSION", help="Never prune this session.")
    ] = "",
    unpin: Annotated[
        str, typer.Option("--unpin", metavar="SESSION", help="Allow pruning it again.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be deleted.")
    ] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete old sessions, checkpoints, notes and handoffs.

    Also old data of your own server: snapshots, actions, delivered or expired messages, the audit
    log. Keeps pinned sessions and those not yet synced to the team server. Shows what would be
    deleted and asks for confirmation.

    Example: `holdfast session prune --days 90 --dry-run`
    """

    from holdfast.session.context import load_settings

    if pin or unpin:
        _pin_sessions(pin, unpin, as_json)
        return
    chosen = load_settings(os.environ, data_dir(), os.getcwd())
    limits = _Limits(
        chosen.number("retention_days") if days is None else days,
        chosen.number("retention_checkpoints") if keep is None else keep,
        chosen.number("retention_megabytes") if megabytes is None else megabytes,
    )
    if not limits.days and not limits.megabytes:
        raise typer.BadParameter(
            "pass --days or --max-size, or set retention_days", param_hint="--days"
        )
    if print_if_empty(as_json, {"sessions": [], "dropped": {}, "dry_run": dry_run, "more": False}):
        return
    with open_user_store() as store:
        before = sum(store.session_sizes().values())
        if not dry_run and not yes:
            done, more = _prune(store, limits, dry_run=True)
            if any(count for one in done for count in one.deleted_rows.values()):
                if not as_json:
                    make_console().print(f"In {store.path}:", soft_wrap=True, markup=False)
                    _print_pruned(done, True, (before, before), more, as_json)
                confirm_deletion(yes, as_json=as_json)
        done, more = _prune(store, limits, dry_run=dry_run)
        after = sum(store.session_sizes().values())
    _print_pruned(done, dry_run, (before, after), more, as_json)


def _prune(store: SqliteStore, limits: _Limits, *, dry_run: bool) -> tuple[list[PruneResult], bool]:
    """What went or would go, and whether more is left for the next run."""

    from holdfast import retention

    data = data_dir()
    done = []
    more = False
    if limits.days:
        moment = format_days_ago(limits.days)
        done.append(
            retention.prune_by_age(store, data, before=moment, keep=limits.keep, dry_run=dry_run)
        )
        posted = prune_server_data(
            store.path, moment, list(store.pinned_sessions()), dry_run=dry_run
        )
        if posted is not None:
            done.append(retention.PruneResult(posted.counts, ()))
            more = posted.has_more
    if limits.megabytes:
        sizes = store.session_sizes()
        going = set(done[0].sessions) if done and dry_run else set()
        left = {name: count for name, count in sizes.items() if name not in going}
        most = limits.megabytes * 1_000_000
        done.append(retention.prune_by_size(store, data, left, most, dry_run=dry_run))
    return done, more


def _pin_sessions(pin: str, unpin: str, as_json: bool) -> None:
    with open_user_store() as store:
        for name, held in ((pin, True), (unpin, False)):
            if name:
                store.pin(find_session(store, name).id, held)
        pinned = sorted(store.pinned_sessions())
    if as_json:
        print_json({"pinned": pinned})
        return
    make_console().print(
        "Pinned: " + (", ".join(one[:8] for one in pinned) or "none"), soft_wrap=True
    )


def _print_pruned(
    done: list[PruneResult], dry_run: bool, sizes: tuple[int, int], more: bool, as_json: bool
) -> None:
    before, after = sizes
    dropped: dict[str, int] = {}
    for one in done:
        for table, count in one.deleted_rows.items():
            dropped[table] = dropped.get(table, 0) + count
    sessions = list(dict.fromkeys(name for one in done for name in one.sessions))
    waiting = list(dict.fromkeys(name for one in done for name in one.unsynced))
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "dropped": dropped,
                "more": more,
                "sessions": sessions,
                "not_synced": waiting,
                "bytes_before": before,
                "bytes_after": after,
            }
        )
        return
    out = make_console()
    out.print(format_dropped(dropped, dry_run) or "Nothing to delete.")
    if more:
        out.print(MORE_TO_PRUNE)
    if sessions:
        print_words("Sessions: " + ", ".join(name[:8] for name in sessions))
    if waiting:
        names = ", ".join(name[:8] for name in waiting)
        print_words(f"Kept because not yet synced to the server: {names}")
    if not dry_run:
        out.print(f"{format_bytes(before)} before, {format_bytes(after)} now.")
