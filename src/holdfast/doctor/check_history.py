"""What happened lately: errors of our own hooks, compactions, and what was delivered after them.

Owns reading our log and putting the last compactions into a line each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import NamedTuple

from holdfast.clients.holdfast_text import AUGMENT_OPENING
from holdfast.clock import format_minute, format_timestamp
from holdfast.compaction.module_handlers import MODULE_CHANNEL as MODULE
from holdfast.compaction.report import is_observed, select_deliveries, select_restoring
from holdfast.doctor.environment import OK, WARN, Environment, Finding
from holdfast.hooks import hook_log
from holdfast.paths import store_path
from holdfast.store.protocol import Compaction, Delivery, StoreError
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync import message_outbox
from holdfast.sync.connection import UnsafeConnectionFile, format_sync_status, read_sync_status

ERRORS = "errors"
COMPACTIONS = "compactions"
SETTINGS_PREFIX = "settings: "
RECENT_DAYS = 7
MAX_ERRORS_SHOWN = 3
MAX_ERROR_CHARS = 160
MAX_COMPACTIONS = 20


class LogEntry(NamedTuple):
    time: str
    text: str


def check_errors(around: Environment) -> list[Finding]:
    since = format_timestamp(around.seconds - RECENT_DAYS * 24 * 3600)
    # Of a setting that is wrong the check of the settings tells, as long as it is wrong.
    recent = [
        entry
        for entry in read_log(around.data)
        if entry.time >= since and not entry.text.startswith(SETTINGS_PREFIX)
    ]
    if not recent:
        return [Finding(ERRORS, OK, f"none logged in the last {RECENT_DAYS} days")]
    lines = tuple(f"{entry.time} {_cut(entry.text)}" for entry in recent[-MAX_ERRORS_SHOWN:])
    many = "1 error" if len(recent) == 1 else f"{len(recent)} errors"
    seen = f"{many} of Holdfast's hooks in {RECENT_DAYS} days, the latest at {recent[-1].time}"
    next_step = (
        f"The client continued without Holdfast; see {os.path.join(around.data, hook_log.LOG_FILE)}"
    )
    return [Finding(ERRORS, WARN, seen, next_step, lines)]


def read_log(data: str) -> list[LogEntry]:
    """Oldest first; lines that are none of ours are passed over."""
    found = []
    for name in (f"{hook_log.LOG_FILE}.1", hook_log.LOG_FILE):
        try:
            with open(os.path.join(data, name), encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            continue
        for line in lines:
            when, _, rest = line.partition(" ")
            process, _, words = rest.partition(" ")
            if len(when) == 20 and when.endswith("Z") and process.isdecimal():
                found.append(LogEntry(when, words))
    return found


def _cut(words: str) -> str:
    return words if len(words) <= MAX_ERROR_CHARS else words[: MAX_ERROR_CHARS - 1] + "…"


def check_compactions(around: Environment) -> list[Finding]:
    path = store_path(around.data)
    if not os.path.exists(path):
        return [Finding(COMPACTIONS, OK, "none seen yet")]
    try:
        with closing(SqliteStore(path)) as store:
            latest = store.compactions(limit=MAX_COMPACTIONS)
            delivered = [d for id_ in {c.session_id for c in latest} for d in store.deliveries(id_)]
    except StoreError:
        return []  # the check of the store tells
    return [judge_compactions(latest, delivered)]


def judge_compactions(latest: Sequence[Compaction], delivered: Iterable[Delivery]) -> Finding:
    """Pure: were we heard after the compactions that we saw happen?"""
    # One that was only read from a transcript happened before us, or elsewhere.
    lived = [compaction for compaction in latest if is_observed(compaction)]
    if not lived:
        seen = "none observed by the hooks yet"
        return Finding(
            COMPACTIONS,
            OK,
            seen if not latest else f"{seen}; older ones are indexed from transcripts",
        )
    deliveries = list(delivered)
    details = tuple(
        format_compaction(compaction, deliveries) for compaction in lived[:MAX_ERRORS_SHOWN]
    )
    only = "the only one so far"
    silent = [
        c
        for c in lived[:MAX_ERRORS_SHOWN]
        if c.lost and not select_restoring(select_deliveries(c, deliveries))
    ]
    if silent:
        some = f"{len(silent)} of the last {len(details)}" if len(details) > 1 else only
        seen = f"nothing was restored after {some}"
        next_step = "Expected if the session ended there; otherwise see `errors` and `trial`"
        return Finding(COMPACTIONS, WARN, seen, next_step, details)
    of_all = f"each of the last {len(details)}" if len(details) > 1 else only
    seen = f"restored after {of_all}"
    if not any(c.lost for c in lived[:MAX_ERRORS_SHOWN]):
        seen = f"{of_all} lost nothing"
    return Finding(COMPACTIONS, OK, seen + _describe_channel(lived[0], deliveries), details=details)


def _describe_channel(last: Compaction, deliveries: Iterable[Delivery]) -> str:
    """Which of the ways the client offers the last brief took."""
    for delivery in reversed(select_deliveries(last, deliveries)):
        if delivery.kind == "brief":
            if delivery.channel == MODULE:
                return "; the last one by the plugin's module, after the summary"
            if delivery.text.startswith(AUGMENT_OPENING):
                return "; the last brief was chosen against the summary"
            return "; the last brief was built without the summary (not received from SubagentStop)"
    return ""


def format_compaction(compaction: Compaction, deliveries: Iterable[Delivery]) -> str:
    what = (
        ", ".join(sorted({d.kind for d in select_deliveries(compaction, deliveries)})) or "nothing"
    )
    return (
        f"{format_minute(compaction.time)} {compaction.session_id[:8]}"
        f" {compaction.trigger or 'unknown'}: summary kept {len(compaction.kept)},"
        f" lost {len(compaction.lost)}; delivered {what}"
    )


# Whether what is saved here reaches the team's service, where the user is connected to one.
#
# Owns that check. Must not talk to the server: it says how the last sync ended.

SERVICE = "service"
# A failure or two is a service that was started anew.
MIN_FAILURES = 3
MAX_LINES_SHOWN = 5


def check_sync(around: Environment) -> list[Finding]:
    try:
        status = read_sync_status(around.data, around.environ)
    except UnsafeConnectionFile as error:
        next_step = "Run `holdfast team connect` to recreate it"
        return [Finding(SERVICE, WARN, str(error), next_step)]
    if status is None:
        return [Finding(SERVICE, OK, "not connected: everything stays on this machine")]
    details = _truncate_lines([f"{one.session_id}: {one.reason}" for one in status.rejected])
    details += _truncate_lines(
        [f'message "{one.about}": {one.reason}' for one in status.messages_rejected]
    )
    if status.messages_rejected:
        details.append(f"refused messages are in {around.data}/{message_outbox.OUTBOX_DIR}/refused")
    if status.failures:
        details.insert(0, f"last failure: {status.failure}")
    seen = format_sync_status(status, around.seconds)
    if status.failures >= MIN_FAILURES:
        next_step = (
            "Check that the server is running and the token is valid; "
            "`holdfast team sync` retries now"
        )
        return [Finding(SERVICE, WARN, seen, next_step, tuple(details))]
    if status.rejected or status.messages_rejected:
        next_step = "Sessions outside the token's projects are not uploaded; retried daily"
        return [Finding(SERVICE, WARN, seen, next_step, tuple(details))]
    return [Finding(SERVICE, OK, seen, details=tuple(details))]


def _truncate_lines(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - MAX_LINES_SHOWN} more"] if len(lines) > MAX_LINES_SHOWN else []
    return lines[:MAX_LINES_SHOWN] + more
