"""What happened lately: errors of our own hooks, compactions, and what was delivered after them.

Owns reading our log and putting the last compactions into a line each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import NamedTuple

from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.doctor.surroundings import Surroundings
from holdfast.hooks import log
from holdfast.lifecycle.native import ROAD as MODULE
from holdfast.lifecycle.places import store_path
from holdfast.lifecycle.prepare import AGAINST
from holdfast.store.protocol import Compaction, Delivery, StoreError
from holdfast.store.sqlite import SqliteStore

ERRORS = "errors"
COMPACTIONS = "compactions"
SETTINGS = "settings: "
RECENT_DAYS = 7
SHOWN = 3
WORDS = 160
LOOKED_AT = 20


class Logged(NamedTuple):
    time: str
    words: str


def check_errors(around: Surroundings) -> list[Finding]:
    since = stamp(around.seconds - RECENT_DAYS * 24 * 3600)
    # Of a setting that is wrong the check of the settings tells, as long as it is wrong.
    recent = [
        entry
        for entry in logged(around.data)
        if entry.time >= since and not entry.words.startswith(SETTINGS)
    ]
    if not recent:
        return [Finding(ERRORS, OK, f"none in our log within {RECENT_DAYS} days")]
    lines = tuple(f"{entry.time} {_cut(entry.words)}" for entry in recent[-SHOWN:])
    many = "1 error" if len(recent) == 1 else f"{len(recent)} errors"
    seen = f"{many} of our hooks within {RECENT_DAYS} days, the last at {recent[-1].time}"
    next_step = f"The client went on without us then; {os.path.join(around.data, log.NAME)} has all"
    return [Finding(ERRORS, WARN, seen, next_step, lines)]


def logged(data: str) -> list[Logged]:
    """Oldest first; lines that are none of ours are passed over."""
    found = []
    for name in (f"{log.NAME}.1", log.NAME):
        try:
            with open(os.path.join(data, name), encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            continue
        for line in lines:
            when, _, rest = line.partition(" ")
            process, _, words = rest.partition(" ")
            if len(when) == 20 and when.endswith("Z") and process.isdecimal():
                found.append(Logged(when, words))
    return found


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _cut(words: str) -> str:
    return words if len(words) <= WORDS else words[: WORDS - 1] + "…"


def check_compactions(around: Surroundings) -> list[Finding]:
    path = store_path(around.data)
    if not os.path.exists(path):
        return [Finding(COMPACTIONS, OK, "none seen yet")]
    try:
        with closing(SqliteStore(path)) as store:
            latest = store.compactions(limit=LOOKED_AT)
            delivered = [d for id_ in {c.session_id for c in latest} for d in store.deliveries(id_)]
    except StoreError:
        return []  # the check of the store tells
    return [judge(latest, delivered)]


def judge(latest: Sequence[Compaction], delivered: Iterable[Delivery]) -> Finding:
    """Pure: were we heard after the compactions that we saw happen?"""
    # One that was only read from a transcript happened before us, or elsewhere.
    lived = [compaction for compaction in latest if compaction.kept or compaction.lost]
    if not lived:
        seen = "none seen by the hooks yet"
        return Finding(COMPACTIONS, OK, seen if not latest else f"{seen}; older ones are indexed")
    roads = list(delivered)
    details = tuple(line(compaction, roads) for compaction in lived[:SHOWN])
    only = "the only one so far"
    silent = [c for c in lived[:SHOWN] if c.lost and not _whats(c, roads) & {"brief", "gap"}]
    if silent:
        some = f"{len(silent)} of the last {len(details)}" if len(details) > 1 else only
        seen = f"after {some} nothing was put back"
        next_step = "If the session ended there it could not; else see `errors` and `trial`"
        return Finding(COMPACTIONS, WARN, seen, next_step, details)
    of_all = f"each of the last {len(details)}" if len(details) > 1 else only
    seen = f"after {of_all} something was put back"
    if not any(c.lost for c in lived[:SHOWN]):
        seen = f"{of_all} lost nothing"
    return Finding(COMPACTIONS, OK, seen + _how(lived[0], roads), details=details)


def _how(last: Compaction, roads: Iterable[Delivery]) -> str:
    """Which of the ways the client offers the last brief took."""
    for delivery in roads:
        if (delivery.session_id, delivery.epoch) != (last.session_id, last.epoch):
            continue
        if delivery.what == "brief":
            if delivery.road == MODULE:
                return "; the last by the plugin's module, behind the summary"
            if delivery.text.startswith(AGAINST):
                return "; the last brief was chosen against the summary"
            return "; the last brief was made without the summary, which SubagentStop did not bring"
    return ""


def _whats(compaction: Compaction, roads: Iterable[Delivery]) -> set[str]:
    key = (compaction.session_id, compaction.epoch)
    return {d.what for d in roads if (d.session_id, d.epoch) == key}


def line(compaction: Compaction, roads: Iterable[Delivery]) -> str:
    what = ", ".join(sorted(_whats(compaction, roads))) or "nothing"
    return (
        f"{compaction.time[:16].replace('T', ' ')} {compaction.session_id[:8]}"
        f" {compaction.trigger or 'unknown'}: summary kept {len(compaction.kept)},"
        f" lost {len(compaction.lost)}; delivered {what}"
    )
