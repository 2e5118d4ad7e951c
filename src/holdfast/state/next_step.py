"""The next step: what the agent last said it would do, and its last words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, Origin
from holdfast.state.facts import DONE, OPEN, Fact, clip, clip_middle, keep_ends, writable
from holdfast.state.moment import Moment
from holdfast.state.patterns import lazily
from holdfast.state.wording import sentences

LAST_WORDS = 3000

_INTENT = lazily(
    r"^(?:now|next|then)\b|\b(?:let me|i'll|i will|i need to|i'm going to|we need to"
    r"|next step|remaining|still (?:need|have) to|what's left|now i)\b",
    re.I,
)


class NextStep(NamedTuple):
    last_words: str
    step: int
    at: Origin


Table = dict[str, NextStep]


def on_agent_said(table: Table, event: AgentSaid, moment: Moment) -> Table:
    """Only kept: every message replaces the one before, so most are never read."""
    text = event.text.strip()
    if len(text) < 3:
        return table
    new = writable(table)
    new["next"] = NextStep(keep_ends(text, LAST_WORDS), moment.step, event.at)
    return new


def intention(item: NextStep) -> str:
    """The last sentence in which the agent says what it will do, "" when there is none."""
    for sentence in reversed(sentences(item.last_words[-1500:])):
        if _INTENT.search(sentence) and not sentence.endswith("?"):
            return clip(sentence, 300)
    return ""


def facts(table: Table) -> Iterator[Fact]:
    for item in table.values():
        intended = intention(item)
        standing = OPEN if intended else DONE
        text = intended or clip_middle(item.last_words, 300)
        yield Fact("n1", "next_step", text, standing, item.at, item.last_words)
