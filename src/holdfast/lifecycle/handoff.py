"""Handoffs: what a later session of the same project is offered when it starts.

One small file per unfinished session under projects/<worktree>/, kept up to date by the heavy
road, so that a starting session reads a folder instead of a database. Imported by the lightest
hooks: `os` alone.

A session is offered when it is of the same project and the same worktree, was touched within
seven days, is not finished, was not offered three times before, and its client is no longer
running (or is the one that asks: after /clear the same client opens a new session). Unfinished
means: open tasks, a failing test, an open error, a subagent or job still running, or a last
request that the agent had not answered when it stopped; `prepare.unfinished` decides it.
"""

from __future__ import annotations

import os

from holdfast.lifecycle.project import place_of
from holdfast.lifecycle.tray import (
    Prepared,
    age,
    decode,
    make_folder,
    names,
    read,
    remove,
    replace,
    safe_name,
)

RECENT_SECONDS = 7 * 24 * 3600.0
LIMIT = 600  # characters
OFFERS = 3
MOST = 40  # files looked at; older ones of a busy project are not worth the time


def offer(data: str, cwd: str, session_id: str, client: int, seconds: float) -> Prepared | None:
    """The latest that fits. Counts: what nobody took up after a few times is left alone."""
    project, worktree = place_of(cwd)
    folder = _folder(data, worktree)
    own = safe_name(session_id)
    found = [
        (age(f"{folder}/{name}", seconds), name)
        for name in names(folder)
        if name != own and not name.endswith(".new")
    ]
    for old, name in sorted(found)[:MOST]:
        kept = decode(read(f"{folder}/{name}") or b"")
        if kept is None or old > _recent(kept):
            continue
        where, _, text = kept.text.partition("\n")
        if where != f"{project}\t{worktree}" or not text:
            continue
        if kept.epoch >= OFFERS or (kept.generation != client and is_running(kept.generation)):
            continue
        _count(f"{folder}/{name}", kept)
        kept.text = text
        kept.epoch = 0
        kept.facts = ""
        return kept
    return None


def _recent(kept: Prepared) -> float:
    """How long it is offered, as its own session was told; see `handoff_days`."""
    days = int(kept.facts) if kept.facts.isdecimal() and len(kept.facts) < 5 else 0
    return days * 24 * 3600.0 if days else RECENT_SECONDS


def _count(path: str, kept: Prepared) -> None:
    """One more offer, with the time of the last work left as it was."""
    kept.epoch += 1
    try:
        touched = os.stat(path)
        replace(path, kept.encode())
        os.utime(path, ns=(touched.st_atime_ns, touched.st_mtime_ns))
    except OSError:
        pass  # it is offered all the same


def keep(data: str, place: tuple[str, str], session_id: str, client: int, kept: Prepared) -> None:
    folder = _folder(data, place[1])
    make_folder(folder)
    text = f"{place[0]}\t{place[1]}\n{kept.text[:LIMIT]}"
    # In this file the epoch's place counts the offers, the generation's names the client, and
    # the facts' says for how many days it is offered.
    named = Prepared(0, client, kept.offset, kept.time, kept.facts, text)
    replace(f"{folder}/{safe_name(session_id)}", named.encode())


def drop(data: str, place: tuple[str, str], session_id: str) -> None:
    remove(f"{_folder(data, place[1])}/{safe_name(session_id)}")


def tidy(data: str, place: tuple[str, str], seconds: float) -> None:
    folder = _folder(data, place[1])
    for name in names(folder):
        if age(f"{folder}/{name}", seconds) > RECENT_SECONDS and not _lasts(
            f"{folder}/{name}", seconds
        ):
            remove(f"{folder}/{name}")


def _lasts(path: str, seconds: float) -> bool:
    kept = decode(read(path) or b"")
    return kept is not None and age(path, seconds) <= _recent(kept)


def is_running(process: int) -> bool:
    if process <= 0:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # there, and not ours
    return True


def _folder(data: str, worktree: str) -> str:
    return f"{data}/projects/{safe_name(worktree)}"
