"""Requests: everything the user typed, in the user's own words, in order.

Bounded by size and not by a count: the user's words are the backbone of every brief. A prompt
keeps its whole text up to `TEXT` characters; of a longer one, nearly always a paste, both ends
stay, since the instruction stands before or behind what was pasted. When all of them together
outgrow `TOTAL`, the oldest go, but for the first ones, which state the goal. The latest request
is open; an earlier one was answered or overtaken when the next came.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from holdfast.events import CommandInvoked, Origin, UserSaid
from holdfast.state.facts import DONE, OPEN, Fact, keep, keep_both_ends, writable
from holdfast.state.moment import Moment
from holdfast.state.skills import is_control

TEXT = 8_000
TOTAL = 160_000
FIRST = 2  # the goal is stated at the start: these stay however long the session gets
# What asks for something: a slash command does, an answer or a refusal belongs to a request.
ASKING = frozenset(("prompt", "queued", "command"))


class Request(NamedTuple):
    number: int
    text: str
    how: str  # as in UserSaid, or "command" for a slash command the user typed
    about: str
    standing: str
    turn: int
    epoch: int
    at: Origin
    upto: int = 0  # characters of all that was typed so far, this one included
    step: int = 0


def on_user_said(table: dict[str, Request], event: UserSaid, moment: Moment) -> dict[str, Request]:
    text = event.text.strip()
    if text.startswith("/") and is_control(text.split(None, 1)[0]):
        return table
    return _put(table, text, event.how, event.about, moment, event.at)


def on_command_invoked(
    table: dict[str, Request], event: CommandInvoked, moment: Moment
) -> dict[str, Request]:
    """A slash command is a request in other letters; the client's own controls are none."""
    if event.by != "user" or is_control(event.name):
        return table
    text = f"/{event.name.strip().lstrip('/')} {event.arguments}".strip()
    return _put(table, text, "command", "", moment, event.at)


def _put(
    table: dict[str, Request], text: str, how: str, about: str, moment: Moment, at: Origin
) -> dict[str, Request]:
    if not text:
        return table
    latest = next(reversed(table), None)
    number = table[latest].number + 1 if latest else 1
    before = table[latest].upto if latest else 0
    table = writable(table)
    if latest and table[latest].standing == OPEN and how in ASKING:
        if table[latest].text == text and table[latest].turn == moment.turn:
            return table  # the client wrote the same prompt twice
        table[latest] = table[latest]._replace(standing=DONE)
    kept = keep_both_ends(text, TEXT)
    standing = OPEN if how in ASKING else DONE
    table[f"q{number}"] = Request(
        number,
        kept,
        how,
        keep(about, 600),
        standing,
        moment.turn,
        moment.epoch,
        at,
        before + len(kept),
        moment.step,
    )
    # The counter only grows, so the size of what is kept is one subtraction.
    while len(table) > FIRST + 1:
        oldest = next(islice(table, FIRST, None))
        if before + len(kept) - table[oldest].upto < TOTAL:
            break
        del table[oldest]
    return table


def asked(table: dict[str, Request]) -> list[Request]:
    """What asked for something, oldest first."""
    return [request for request in table.values() if request.how in ASKING]


def facts(table: dict[str, Request]) -> Iterator[Fact]:
    for key, request in table.items():
        yield Fact(key, "request", request.text, request.standing, request.at, request.about)
