"""Replies: what the agent said, in its own words, and what the client's summaries told.

The agent's words are quoted in briefs and never judged here: whether a sentence decided
something or gave something up was wrong more often than right, while a quotation is true in
every language. Thinking is not an event, code blocks are left out, both ends of a long text
stay. Bounded by size: the oldest go first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, Origin, SummaryGiven
from holdfast.state.facts import DONE, Fact, keep, keep_both_ends, writable
from holdfast.state.moment import Moment
from holdfast.state.wording import without_code

TEXT = 5_000
SUMMARY = 14_000
TOTAL = 240_000
SHOWN = 200
SUMMARY_KEY = "a0"  # one name, since a later summary takes the place of the one before


class Reply(NamedTuple):
    number: int
    text: str
    by: str  # "agent" | "summary"
    turn: int
    step: int
    epoch: int
    at: Origin
    upto: int = 0  # characters of all replies so far, this one included


Table = dict[str, Reply]


def on_agent_said(table: Table, event: AgentSaid, moment: Moment) -> Table:
    text = event.text.strip()
    if len(text) > TEXT:
        text = without_code(text).strip()
    return _put(table, keep_both_ends(text, TEXT), "agent", moment, event.at)


def on_summary_given(table: Table, event: SummaryGiven, moment: Moment) -> Table:
    """Only the latest: it tells what the ones before it did, as far as anything does."""
    if SUMMARY_KEY in table:
        table = writable(table)
        del table[SUMMARY_KEY]
    text = keep_both_ends(event.text.strip(), SUMMARY)
    return _put(table, text, "summary", moment, event.at)


def _put(table: Table, text: str, by: str, moment: Moment, at: Origin) -> Table:
    if len(text) < 3:
        return table
    latest = next(reversed(table), None)
    upto = (table[latest].upto if latest else 0) + len(text)
    number = 0 if by == "summary" else 1 + _last_number(table)
    table = writable(table)
    table[f"a{number}"] = Reply(number, text, by, moment.turn, moment.step, moment.epoch, at, upto)
    while len(table) > 1:
        oldest = next(iter(table))
        if upto - table[oldest].upto < TOTAL:
            break
        del table[oldest]
    return table


def _last_number(table: Table) -> int:
    """Of the latest of the agent's replies; the summary has none."""
    return next((reply.number for reply in reversed(table.values()) if reply.number), 0)


def facts(table: Table) -> Iterator[Fact]:
    """So that an id in a brief opens its row; the whole text is indexed as a message."""
    for key, reply in table.items():
        yield Fact(key, "reply", keep(reply.text, SHOWN), DONE, reply.at, f"by the {reply.by}")
