"""Requests: what the user asked for, in the user's own words.

Kept: the first few (the goal), the latest ones, and how each was said. The latest request
is open; an earlier one was answered or overtaken when the next came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import Origin, UserSaid
from holdfast.state.facts import DONE, OPEN, Fact, keep, put, writable
from holdfast.state.moment import Moment

LIMIT = 60
FIRST = 2  # the goal is stated at the start: these stay however long the session gets
TEXT = 3000


class Request(NamedTuple):
    number: int
    text: str
    how: str
    about: str
    standing: str
    turn: int
    epoch: int
    at: Origin


def on_user_said(table: dict[str, Request], event: UserSaid, moment: Moment) -> dict[str, Request]:
    text = event.text.strip()
    if not text:
        return table
    latest = next(reversed(table), None)
    number = table[latest].number + 1 if latest else 1
    if latest and table[latest].standing == OPEN and event.how in ("prompt", "queued"):
        if table[latest].text == text and table[latest].turn == moment.turn:
            return table  # the client wrote the same prompt twice
        table = writable(table)
        table[latest] = table[latest]._replace(standing=DONE)
    standing = OPEN if event.how in ("prompt", "queued") else DONE
    request = Request(
        number,
        keep(text, TEXT),
        event.how,
        keep(event.about, 300),
        standing,
        moment.turn,
        moment.epoch,
        event.at,
    )
    return put(table, f"q{number}", request, LIMIT, lambda r: r.number > FIRST)


def facts(table: dict[str, Request]) -> Iterator[Fact]:
    for key, request in table.items():
        yield Fact(key, "request", request.text, request.standing, request.at, request.about)
