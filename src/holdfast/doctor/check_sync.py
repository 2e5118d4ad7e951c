"""Whether what is saved here reaches the team's service, where the user is connected to one.

Owns that check. Must not talk to the server: it says how the last sync ended.
"""

from __future__ import annotations

from holdfast.doctor.environment import Environment
from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.sync import message_outbox
from holdfast.sync.connection_file import UnsafeConnectionFile
from holdfast.sync.sync_status import format_sync_status, read_sync_status

SERVICE = "service"
# A failure or two is a service that was started anew.
MIN_FAILURES = 3
MAX_LINES_SHOWN = 5


def check_sync(around: Environment) -> list[Finding]:
    try:
        told = read_sync_status(around.data, around.environ)
    except UnsafeConnectionFile as error:
        next_step = "Run `holdfast connect` to recreate it"
        return [Finding(SERVICE, WARN, str(error), next_step)]
    if told is None:
        return [Finding(SERVICE, OK, "not connected: everything stays on this machine")]
    details = _truncate_lines([f"{one.session_id}: {one.reason}" for one in told.rejected])
    details += _truncate_lines(
        [f'message "{one.about}": {one.reason}' for one in told.messages_rejected]
    )
    if told.messages_rejected:
        details.append(f"refused messages are in {around.data}/{message_outbox.OUTBOX_DIR}/refused")
    if told.failures:
        details.insert(0, f"last failure: {told.failure}")
    seen = format_sync_status(told, around.seconds)
    if told.failures >= MIN_FAILURES:
        next_step = (
            "Check that the server is running and the token is valid; `holdfast carry` retries now"
        )
        return [Finding(SERVICE, WARN, seen, next_step, tuple(details))]
    if told.rejected or told.messages_rejected:
        next_step = "Sessions outside the token's projects are not uploaded; retried daily"
        return [Finding(SERVICE, WARN, seen, next_step, tuple(details))]
    return [Finding(SERVICE, OK, seen, details=tuple(details))]


def _truncate_lines(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - MAX_LINES_SHOWN} more"] if len(lines) > MAX_LINES_SHOWN else []
    return lines[:MAX_LINES_SHOWN] + more
