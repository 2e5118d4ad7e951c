"""Terms: symbols in what was said, asked and run, wherever they stand.

Not facts by themselves: they tell the brief which of a file's symbols somebody cared about.
"""

from __future__ import annotations

from holdfast.events import AgentSaid, CommandRan, Searched, UserSaid
from holdfast.state.moment import Moment
from holdfast.state.symbols import symbols_in

LIMIT = 600
WINDOW = 8000

# symbol -> (said by the agent, typed in commands and searches, said by the user, last step)
Table = dict[str, tuple[int, int, int, int]]


def _count(table: Table, text: str, column: int, moment: Moment) -> Table:
    words = symbols_in(text[:WINDOW])
    if not words:
        return table
    new = dict(table)
    for word in sorted(words):
        known = list(new.pop(word, (0, 0, 0, 0)))
        known[column] += 1
        new[word] = (known[0], known[1], known[2], moment.step)
    while len(new) > LIMIT:
        new.pop(next(iter(new)))
    return new


def on_agent_said(table: Table, event: AgentSaid, moment: Moment) -> Table:
    return _count(table, event.text, 0, moment)


def on_command_ran(table: Table, event: CommandRan, moment: Moment) -> Table:
    return _count(table, event.command, 1, moment)


def on_searched(table: Table, event: Searched, moment: Moment) -> Table:
    return _count(table, event.pattern, 1, moment)


def on_user_said(table: Table, event: UserSaid, moment: Moment) -> Table:
    return _count(table, event.text, 2, moment)
