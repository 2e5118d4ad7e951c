"""Requests: everything the user typed, in the user's own words, in order.

Bounded by size and not by a count: the user's words are the backbone of every brief. A prompt
keeps its whole text up to `TEXT` characters; of a longer one, nearly always a paste, both ends
stay, since the instruction stands before or behind what was pasted. When all of them together
outgrow `MAX_TOTAL_CHARS`, the oldest go, but for the first ones, which state the goal. The latest
request is open; an earlier one was answered or overtaken when the next came.
"""

from collections.abc import Iterator
from itertools import islice

from holdfast.events import CommandInvoked, Origin, UserSaid
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_message_safely, truncate_safely
from holdfast.state import facts
from holdfast.state.facts import DONE, OPEN, Fact, FactKind, Position
from holdfast.state.skills import is_control

MAX_REQUEST_CHARS = 8_000
MAX_TOTAL_CHARS = 160_000
KEPT_FIRST_REQUESTS = 2  # the goal is stated at the start: these stay however long the session gets
# What asks for something: a slash command does, an answer or a refusal belongs to a request.
PROMPT_SOURCES = frozenset(("prompt", "queued", "command", "lead"))


class Request(NamedTuple):
    number: int
    text: str
    how: str  # as in UserSaid, or "command" for a slash command the user typed
    about: str
    status: str
    turn: int
    epoch: int
    at: Origin
    end_turn: int = 0  # characters of all that was typed so far, this one included
    step: int = 0

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, Request]


def on_user_said(table: Table, event: UserSaid, position: Position) -> Table:
    text = event.text.strip()
    if text.startswith("/") and is_control(text.split(None, 1)[0]):
        return table
    return _put_request(table, text, event.source, event.about, position, event.at)


def on_command_invoked(table: Table, event: CommandInvoked, position: Position) -> Table:
    """A slash command is a request in other letters; the client's own controls are none."""
    if event.by != "user" or is_control(event.name):
        return table
    text = f"/{event.name.strip().lstrip('/')} {event.arguments}".strip()
    return _put_request(table, text, "command", "", position, event.at)


def _put_request(
    table: Table, text: str, how: str, about: str, position: Position, at: Origin
) -> Table:
    if not text:
        return table
    latest = next(reversed(table), None)
    number = table[latest].number + 1 if latest else 1
    before = table[latest].end_turn if latest else 0
    table = facts.writable(table)
    if latest and table[latest].status == OPEN and how in PROMPT_SOURCES:
        if table[latest].text == text and table[latest].turn == position.turn:
            return table  # the client wrote the same prompt twice
        table[latest] = table[latest]._replace(status=DONE)
    kept = truncate_message_safely(text, MAX_REQUEST_CHARS)
    about, status = truncate_safely(about, 600), OPEN if how in PROMPT_SOURCES else DONE
    turn, step, epoch = position
    end = before + len(kept)
    request = Request(number, kept, how, about, status, turn, epoch, at, end, step)
    table[KIND.fact_id(number)] = request
    # The counter only grows, so the size of what is kept is one subtraction.
    while len(table) > KEPT_FIRST_REQUESTS + 1:
        oldest = next(islice(table, KEPT_FIRST_REQUESTS, None))
        if end - table[oldest].end_turn < MAX_TOTAL_CHARS:
            break
        del table[oldest]
    return table


def list_prompts(table: Table) -> list[Request]:
    """What asked for something, oldest first."""
    return [request for request in table.values() if request.how in PROMPT_SOURCES]


def list_facts(table: Table) -> Iterator[Fact]:
    for key, request in table.items():
        yield Fact(key, KIND.name, request.text, request.status, request.at, request.about)


KIND = FactKind(
    "request",
    "q",
    Request,
    list_facts,
    gap=facts.AskedInGap("The user's last request", most=1, rank=3),
    counted_in="request",
    main=True,
    status_words={OPEN: "current", DONE: "earlier"},
)
