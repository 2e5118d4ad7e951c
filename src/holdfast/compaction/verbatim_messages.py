"""Which messages stay, word for word, when Holdfast does the compaction itself.

Messages that share a call are one unit, kept or left as one. The current request comes first, then
what was done for it, newest first, then earlier turns, newest first. Pure.
"""

from holdfast.clients.client_protocol import ConversationMessage
from holdfast.records import NamedTuple


class MessageUnit(NamedTuple):
    places: tuple[int, ...]
    size: int
    turn: int
    whole: bool  # every call in it is answered in it
    ours: bool


def select_verbatim(messages: list[ConversationMessage], budget: int) -> list[int]:
    """The places of the messages to keep, in their order; at most `budget` characters."""
    units = _list_units(messages)
    last = max((unit.turn for unit in units), default=0)
    asked = _last_request(messages)
    kept: set[int] = set()
    left = budget
    for unit in sorted(units, key=lambda u: (u.turn != last, asked not in u.places, -u.places[0])):
        if unit.ours or not unit.whole:
            continue
        if unit.size <= left:
            kept.update(unit.places)
            left -= unit.size
        elif unit.turn != last:
            break  # an earlier turn with a hole in it misleads
    return sorted(kept)


def _last_request(messages: list[ConversationMessage]) -> int:
    return max(
        (n for n, m in enumerate(messages) if m.is_prompt and not m.is_holdfast_text), default=-1
    )


def _list_units(messages: list[ConversationMessage]) -> list[MessageUnit]:
    """Messages joined by the calls they share, in order; what lies between them joins too.

    The API takes a call only with its answer right behind it.
    """
    answered: dict[str, int] = {}
    for place, message in enumerate(messages):
        for call in message.answers:
            answered[call] = place
    units: list[MessageUnit] = []
    turn = place = 0
    while place < len(messages):
        if messages[place].is_prompt and not messages[place].is_holdfast_text:
            turn += 1
        end, whole = place, True
        at = place
        while at <= end and at < len(messages):
            for call in messages[at].calls:
                whole = whole and answered.get(call, -1) > at
                end = max(end, answered.get(call, at))
            at += 1
        members = tuple(range(place, end + 1))
        made = {call for n in members for call in messages[n].calls}
        whole = whole and all(a in made for n in members for a in messages[n].answers)
        size = sum(messages[n].size for n in members)
        units.append(
            MessageUnit(
                members, size, turn, whole, any(messages[n].is_holdfast_text for n in members)
            )
        )
        place = end + 1
    return units
