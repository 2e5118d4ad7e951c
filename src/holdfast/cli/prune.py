"""`holdfast prune`: forget what is old or too much, after showing it and a yes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from holdfast.cli.confirm import YesOption, confirm_deletion
from holdfast.cli.output import JsonOption, answer, console, size

if TYPE_CHECKING:
    from holdfast.lifecycle.retention import Pruned
    from holdfast.store.sqlite import SqliteStore

DAY = 86_400


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
            help="Forget sessions untouched for so long. Default: the setting retention_days.",
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep",
            metavar="N",
            min=1,
            help="Checkpoints of each session that stay. Default: retention_checkpoints.",
        ),
    ] = None,
    megabytes: Annotated[
        int | None,
        typer.Option(
            "--megabytes",
            metavar="N",
            min=1,
            help="Forget the oldest sessions until the rest is smaller. Default: "
            "retention_megabytes.",
        ),
    ] = None,
    pin: Annotated[
        str, typer.Option("--pin", metavar="SESSION", help="Hold this session back, from now on.")
    ] = "",
    unpin: Annotated[
        str, typer.Option("--unpin", metavar="SESSION", help="Let this session go again.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would go; change nothing.")
    ] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Forget old sessions, checkpoints, notes and handoffs, and of what your own service has:
    snapshots, actions, messages that were given or have expired, the trail. Pinned sessions stay,
    and those that are not carried to your team's service yet. Shows what would go, and asks.

    Example: `holdfast prune --days 90 --dry-run`
    """
    from holdfast.cli.opening import opened_store
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.terms import settings_for

    if pin or unpin:
        _hold(pin, unpin, as_json)
        return
    chosen = settings_for(os.environ, data_folder(), os.getcwd())
    limits = _Limits(
        chosen.number("retention_days") if days is None else days,
        chosen.number("retention_checkpoints") if keep is None else keep,
        chosen.number("retention_megabytes") if megabytes is None else megabytes,
    )
    if not limits.days and not limits.megabytes:
        raise typer.BadParameter(
            "say what is too old or too much, or set retention_days", param_hint="--days"
        )
    with opened_store() as store:
        before = sum(store.sizes().values())
        if not dry_run and not yes:
            done, more = _prune(store, limits, dry_run=True)
            if any(count for one in done for count in one.dropped.values()):
                if not as_json:
                    console().print(f"In {store.path}:", soft_wrap=True, markup=False)
                    _tell(done, True, (before, before), more, as_json)
                confirm_deletion(yes, as_json=as_json)
        done, more = _prune(store, limits, dry_run=dry_run)
        after = sum(store.sizes().values())
    _tell(done, dry_run, (before, after), more, as_json)


def _prune(store: SqliteStore, limits: _Limits, *, dry_run: bool) -> tuple[list[Pruned], bool]:
    """What went or would go, and whether more is left for the next run."""
    from holdfast.cli.posted import prune_posted
    from holdfast.lifecycle import retention
    from holdfast.lifecycle.places import data_folder

    data = data_folder()
    done = []
    more = False
    if limits.days:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - limits.days * DAY))
        done.append(retention.prune(store, data, before=moment, keep=limits.keep, dry_run=dry_run))
        posted = prune_posted(store.path, moment, list(store.pinned()), dry_run=dry_run)
        if posted is not None:
            done.append(retention.Pruned(posted.counts, ()))
            more = posted.more
    if limits.megabytes:
        sizes = store.sizes()
        going = set(done[0].sessions) if done and dry_run else set()
        left = {name: count for name, count in sizes.items() if name not in going}
        most = limits.megabytes * 1_000_000
        done.append(retention.shrink(store, data, left, most, dry_run=dry_run))
    return done, more


def _hold(pin: str, unpin: str, as_json: bool) -> None:
    from holdfast.cli.opening import opened_store, session_named

    with opened_store() as store:
        for name, held in ((pin, True), (unpin, False)):
            if name:
                store.pin(session_named(store, name).id, held)
        pinned = sorted(store.pinned())
    if as_json:
        answer({"pinned": pinned})
        return
    console().print("Pinned: " + (", ".join(one[:8] for one in pinned) or "none"), soft_wrap=True)


def _tell(
    done: list[Pruned], dry_run: bool, sizes: tuple[int, int], more: bool, as_json: bool
) -> None:
    from holdfast.cli.posted import MORE, told_dropped

    before, after = sizes
    dropped: dict[str, int] = {}
    for one in done:
        for table, count in one.dropped.items():
            dropped[table] = dropped.get(table, 0) + count
    sessions = list(dict.fromkeys(name for one in done for name in one.sessions))
    waiting = list(dict.fromkeys(name for one in done for name in one.not_carried))
    if as_json:
        answer(
            {
                "dry_run": dry_run,
                "dropped": dropped,
                "more": more,
                "sessions": sessions,
                "not_carried": waiting,
                "bytes_before": before,
                "bytes_after": after,
            }
        )
        return
    out = console()
    out.print(told_dropped(dropped, dry_run) or "Nothing is old or large enough to go.")
    if more:
        out.print(MORE)
    if sessions:
        out.print("Sessions: " + ", ".join(name[:8] for name in sessions), soft_wrap=True)
    if waiting:
        names = ", ".join(name[:8] for name in waiting)
        out.print(f"Not carried to the service yet, and therefore kept: {names}", soft_wrap=True)
    if not dry_run:
        out.print(f"{size(before)} before, {size(after)} now.")
