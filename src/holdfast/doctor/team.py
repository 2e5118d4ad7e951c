"""Whether what is saved here reaches the team's service, where the user is connected to one.

Owns that check. Must not talk to the service: it says what the carrier last met.
"""

from __future__ import annotations

from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.doctor.surroundings import Surroundings
from holdfast.lifecycle.carrying import outgoing
from holdfast.lifecycle.carrying.service import Unsafe
from holdfast.lifecycle.carrying.standing import in_words, standing

SERVICE = "service"
# A failure or two is a service that was started anew.
MANY = 3
SHOWN = 5


def check_service(around: Surroundings) -> list[Finding]:
    try:
        told = standing(around.data, around.environ)
    except Unsafe as error:
        next_step = "`holdfast connect` writes it anew"
        return [Finding(SERVICE, WARN, str(error), next_step)]
    if told is None:
        return [Finding(SERVICE, OK, "not connected to one: everything stays on this machine")]
    details = _some([f"{one.session_id}: {one.reason}" for one in told.refused])
    details += _some([f'message "{one.about}": {one.reason}' for one in told.messages_refused])
    if told.messages_refused:
        details.append(f"refused messages are in {around.data}/{outgoing.FOLDER}/refused")
    if told.failures:
        details.insert(0, f"last failure: {told.failure}")
    seen = in_words(told, around.seconds)
    if told.failures >= MANY:
        next_step = "Is it running, and is the token good? `holdfast carry` tries at once"
        return [Finding(SERVICE, WARN, seen, next_step, tuple(details))]
    if told.refused or told.messages_refused:
        next_step = "What a token is not for stays here; they are tried again after a day"
        return [Finding(SERVICE, WARN, seen, next_step, tuple(details))]
    return [Finding(SERVICE, OK, seen, details=tuple(details))]


def _some(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return lines[:SHOWN] + more
