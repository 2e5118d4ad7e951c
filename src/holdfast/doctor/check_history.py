"""What happened lately: errors of our own hooks, compactions, and what was delivered after them.

Owns reading our log and putting the last compactions into a line each.
"""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from holdfast import clients
from holdfast.clients.holdfast_text import AUGMENT_OPENING
from holdfast.clock import DAY_SECONDS, format_minute, format_timestamp
from holdfast.compaction.handlers import MODULE_CHANNEL as MODULE
from holdfast.compaction.report import is_observed, select_deliveries, select_restoring
from holdfast.doctor.environment import Environment, Finding, ok, read_settings_sources, warn
from holdfast.files import read
from holdfast.hooks import hook_log
from holdfast.install.installation import SettingsSource
from holdfast.paths import store_path
from holdfast.store.protocol import Compaction, Delivery, StoreError
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync import messages
from holdfast.sync.connection import UnsafeConnectionFile, format_sync_status, read_sync_status
from holdfast.text import pluralize, truncate

SETTINGS_PREFIX = "settings: "
RECENT_DAYS = 7
# The client's own setting and its default; sessions that go within so many days are counted.
CLEANUP_SETTING, CLEANUP_DAYS, GOING_DAYS = "cleanupPeriodDays", 30, 7
MAX_ERRORS_SHOWN = 3
MAX_ERROR_CHARS = 160
MAX_COMPACTIONS = 20


def check_errors(around: Environment) -> list[Finding]:
    since = format_timestamp(around.seconds - RECENT_DAYS * DAY_SECONDS)
    # A wrong setting is reported by the check of the settings, as long as it is wrong.
    recent = [
        (when, text)
        for when, text in read_log(around.data)
        if when >= since and not text.startswith(SETTINGS_PREFIX)
    ]
    if not recent:
        return [ok(f"none logged in the last {RECENT_DAYS} days")]
    latest = recent[-MAX_ERRORS_SHOWN:]
    lines = [f"{when} {truncate(text, MAX_ERROR_CHARS)}" for when, text in latest]
    many = pluralize(len(recent), "error")
    seen = f"{many} of Holdfast's hooks in {RECENT_DAYS} days, the latest at {recent[-1][0]}"
    next_step = (
        f"The client continued without Holdfast; see {os.path.join(around.data, hook_log.LOG_FILE)}"
    )
    return [warn(seen, next_step, lines)]


def read_log(data: str) -> list[tuple[str, str]]:
    """When and what, oldest first; other lines are passed over."""
    found = []
    for name in (f"{hook_log.LOG_FILE}.1", hook_log.LOG_FILE):
        # A plain file or nothing: a pipe of that name is not waited for.
        for line in (read(os.path.join(data, name)) or b"").decode("utf-8", "replace").split("\n"):
            when, _, rest = line.partition(" ")
            process, _, words = rest.partition(" ")
            if len(when) == 20 and when.endswith("Z") and process.isdecimal():
                found.append((when, words))
    return found


def check_compactions(around: Environment) -> list[Finding]:
    path = store_path(around.data)
    if not os.path.exists(path):
        return [ok("none seen yet")]
    try:
        with closing(SqliteStore(path)) as store:
            latest = store.compactions(limit=MAX_COMPACTIONS)
            delivered = [d for id_ in {c.session_id for c in latest} for d in store.deliveries(id_)]
    except StoreError:
        return []  # the check of the store tells
    return [judge_compactions(latest, delivered)]


def check_kept(around: Environment) -> list[Finding]:
    """Transcripts that the client is about to delete, and whether their rows are in the store."""
    days = read_cleanup_days(read_settings_sources(around))
    soon = around.seconds - (days - GOING_DAYS) * DAY_SECONDS
    paths = clients.default().paths
    folder = Path(paths.sessions_dir(around.config, around.data))
    going = {
        paths.transcript_session_id(str(path))
        for path in folder.glob("*/*.jsonl")
        if path.stat().st_mtime < soon
    }
    sizes: dict[str, int] = {}
    if os.path.exists(store_path(around.data)):
        try:
            with closing(SqliteStore(store_path(around.data))) as store:
                sizes = store.archive_sizes()
        except StoreError:
            return []  # the check of the store tells
    client, kept = clients.default().title, going & sizes.keys()
    megabytes = sum(sizes.values()) / 1_000_000
    size = f"rows of {pluralize(len(sizes), 'session')} kept here, {megabytes:,.1f} MB"
    seen = f"{client} deletes transcripts after {days} days ({CLEANUP_SETTING})"
    if not going:
        return [ok(f"{seen}; none goes within {GOING_DAYS} days; {size}")]
    seen += f"; {len(going)} within {GOING_DAYS} days, {len(kept)} of them kept here; {size}"
    if len(kept) == len(going):
        return [ok(seen)]
    return [warn(seen, "`holdfast session ingest` keeps the rest")]


def read_cleanup_days(sources: Iterable[SettingsSource]) -> int:
    """The last file that says it wins."""
    days = CLEANUP_DAYS
    for source in sources:
        try:
            chosen = json.loads(source.text).get(CLEANUP_SETTING) if source.usable else None
        except (ValueError, AttributeError):
            continue  # the check of the settings tells
        if type(chosen) is int and chosen >= 0:
            days = chosen
    return days


def judge_compactions(latest: Sequence[Compaction], delivered: Iterable[Delivery]) -> Finding:
    """Pure: was anything restored after the compactions that the hooks observed?"""
    # One that was only read from a transcript happened before us, or elsewhere.
    lived = [compaction for compaction in latest if is_observed(compaction)]
    if not lived:
        seen = "none observed by the hooks yet"
        return ok(seen if not latest else f"{seen}; older ones are indexed from transcripts")
    deliveries, recent = list(delivered), lived[:MAX_ERRORS_SHOWN]
    details = [format_compaction(compaction, deliveries) for compaction in recent]
    lossy = [c for c in recent if c.lost]
    silent = [c for c in lossy if not select_restoring(select_deliveries(c, deliveries))]
    last = f"the last {len(recent)}" if len(recent) > 1 else ""
    if silent:
        some = f"{len(silent)} of {last}" if last else "the only one so far"
        next_step = "Expected if the session ended there; otherwise see `errors` and `trial`"
        return warn(f"nothing was restored after {some}", next_step, details)
    of_all = f"each of {last}" if last else "the only one so far"
    seen = f"restored after {of_all}" if lossy else f"{of_all} lost nothing"
    return ok(seen + _describe_channel(recent[0], deliveries), details=details)


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
    kinds = {delivery.kind for delivery in select_deliveries(compaction, deliveries)}
    what = ", ".join(sorted(kinds)) or "nothing"
    return (
        f"{format_minute(compaction.time)} {compaction.session_id[:8]}"
        f" {compaction.trigger or 'unknown'}: delivered {what}"
    )


# A failure or two is a service that was restarted.
MIN_FAILURES = 3
MAX_LINES_SHOWN = 5


def check_sync(around: Environment) -> list[Finding]:
    try:
        status = read_sync_status(around.data)
    except UnsafeConnectionFile as error:
        next_step = "Run `holdfast team connect` to recreate it"
        return [warn(str(error), next_step)]
    if status is None:
        return [ok("not connected: everything stays on this machine")]
    details = [f"last failure: {status.failure}"] if status.failures else []
    details += _truncate_lines([f"{one.session_id}: {one.reason}" for one in status.rejected])
    refused = [f'message "{one.about}": {one.reason}' for one in status.messages_rejected]
    details += _truncate_lines(refused)
    if refused:
        details.append(f"refused messages are in {around.data}/{messages.OUTBOX_DIR}/refused")
    seen = format_sync_status(status, around.seconds)
    if status.failures >= MIN_FAILURES:
        next_step = (
            "Check that the server is running and the token is valid; "
            "`holdfast team sync` retries now"
        )
        return [warn(seen, next_step, details)]
    if status.rejected or refused:
        next_step = "Sessions outside the token's projects are not uploaded; retried daily"
        return [warn(seen, next_step, details)]
    return [ok(seen, details=details)]


def _truncate_lines(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - MAX_LINES_SHOWN} more"] if len(lines) > MAX_LINES_SHOWN else []
    return lines[:MAX_LINES_SHOWN] + more
