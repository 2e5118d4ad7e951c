"""The next step: what the agent last said it would do, and its last words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, Origin
from holdfast.state.facts import DONE, OPEN, Fact, keep, keep_ends
from holdfast.state.moment import Moment
from holdfast.state.wording import sentences

_INTENT = re.compile(
    r"^(?:now|next|then)\b|\b(?:let me|i'll|i will|i need to|i'm going to|we need to"
    r"|next step|remaining|still (?:need|have) to|what's left|now i)\b",
    re.I,
)


class NextStep(NamedTuple):
    text: str  # the sentence that states an intention, "" when the last words state none
    last_words: str
    step: int
    at: Origin


Table = dict[str, NextStep]


def on_agent_said(table: Table, event: AgentSaid, moment: Moment) -> Table:
    text = event.text.strip()
    if len(text) < 3:
        return table
    intent = ""
    for sentence in reversed(sentences(text[-3000:])):
        if _INTENT.search(sentence) and not sentence.endswith("?"):
            intent = keep(sentence, 300)
            break
    return {"next": NextStep(intent, keep_ends(text, 900), moment.step, event.at)}


def facts(table: Table) -> Iterator[Fact]:
    for item in table.values():
        standing = OPEN if item.text else DONE
        yield Fact(
            "n1", "next_step", item.text or item.last_words, standing, item.at, item.last_words
        )
