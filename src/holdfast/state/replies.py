"""Replies: what the agent said, in its own words, and what the client's summaries told.

The agent's words are quoted in briefs and never judged here: whether a sentence decided
something or gave something up was wrong more often than right, while a quotation is true in
every language. Thinking is not an event, code blocks are left out, both ends of a long text
stay. Bounded by size: the oldest go first.
"""

from collections.abc import Iterator

from holdfast.events import AgentSaid, Origin, SummaryGiven
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_message_safely, truncate_safely
from holdfast.state import facts
from holdfast.state.facts import DONE, Fact, FactKind, Position
from holdfast.state.prose import strip_code

MAX_REPLY_CHARS = 5_000
MAX_SUMMARY_CHARS = 14_000
MAX_TOTAL_CHARS = 240_000
MAX_FACT_CHARS = 200
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

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, Reply]


def on_agent_said(table: Table, event: AgentSaid, position: Position) -> Table:
    text = event.text.strip()
    if len(text) > MAX_REPLY_CHARS:
        text = strip_code(text).strip()
    text = truncate_message_safely(text, MAX_REPLY_CHARS)
    return _put_reply(table, text, "agent", position, event.at)


def on_summary_given(table: Table, event: SummaryGiven, position: Position) -> Table:
    """Only the latest: it tells what the ones before it did, as far as anything does."""
    if SUMMARY_KEY in table:
        table = facts.writable(table)
        del table[SUMMARY_KEY]
    text = truncate_message_safely(event.text.strip(), MAX_SUMMARY_CHARS)
    return _put_reply(table, text, "summary", position, event.at)


def _put_reply(table: Table, text: str, by: str, position: Position, at: Origin) -> Table:
    if len(text) < 3:
        return table
    latest = next(reversed(table), None)
    upto = (table[latest].upto if latest else 0) + len(text)
    # Of the latest of the agent's replies; the summary has none.
    last = next((reply.number for reply in reversed(table.values()) if reply.number), 0)
    number = 0 if by == "summary" else 1 + last
    table = facts.writable(table)
    table[KIND.fact_id(number)] = Reply(
        number, text, by, position.turn, position.step, position.epoch, at, upto
    )
    while len(table) > 1:
        oldest = next(iter(table))
        if upto - table[oldest].upto < MAX_TOTAL_CHARS:
            break
        del table[oldest]
    return table


def list_facts(table: Table) -> Iterator[Fact]:
    """So that an id in a brief opens its row; the whole text is indexed as a message."""
    for key, reply in table.items():
        text = truncate_safely(reply.text, MAX_FACT_CHARS)
        yield Fact(key, KIND.name, text, DONE, reply.at, f"by the {reply.by}")


KIND = FactKind("reply", "a", Reply, list_facts, plural="Replies", field="replies")
