"""Decisions: what was chosen, why, and what was rejected.

From the answers the user gave to the agent's questions, from notes, and from sentences in which the
agent itself says that it was decided. Anything less plain is only quoted (`requests`, `replies`),
since no pattern tells a decision from a thought. Sentences are kept whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, NoteTaken, Origin, UserSaid
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, keep, next_number, put
from holdfast.state.moment import Moment
from holdfast.state.patterns import lazily
from holdfast.state.wording import overlap, plain_words, sentences

LIMIT = 50
TEXT = 320
QUESTION = 160  # so that a long question leaves room for its answer

ANSWERED = " → "

_DECIDED = lazily(r"(?:(?:so|ok|okay|then),? )?(?:we|i)(?:'ve| have)? decided\b|decision:", re.I)
_REASON = lazily(
    r"\b(?:because|since|so that|as it|due to|in order to|to avoid|which (?:means|avoids))\b(.*)",
    re.I,
)
_REJECTED = lazily(
    r"\b(?:instead of|rather than|over|not)\s+(.{3,90}?)(?=[,.;)]|\s+(?:because|since|so)\b|$)",
    re.I,
)


class Decision(NamedTuple):
    number: int
    text: str
    reason: str
    rejected: str
    by: str  # "user" | "agent" | "note": what the agent asked us to keep
    standing: str
    step: int
    at: Origin
    question: str = ""  # the agent's, which the user answered; the text begins with it

    @property
    def answer(self) -> str:
        """What was decided, without the question."""
        return self.text[len(self.question) + len(ANSWERED) :] if self.question else self.text


def _put(
    table: dict[str, Decision], text: str, by: str, moment: Moment, at: Origin, question: str = ""
) -> dict[str, Decision]:
    subject = plain_words(text)
    new: dict[str, Decision] = {}
    for key, old in table.items():
        if old.text == text:
            return table
        if old.standing == OPEN and overlap(subject, plain_words(old.text)) >= 0.7:
            old = old._replace(standing=SUPERSEDED)  # the same choice, taken anew
        new[key] = old
    number = next_number(table)
    reason = _REASON.search(text)
    found = _REJECTED.search(text)
    rejected = found.group(1).strip() if found else ""
    decision = Decision(
        number,
        text,
        reason.group(0).strip()[:160] if reason else "",
        rejected[:120],
        by,
        OPEN,
        moment.step,
        at,
        question,
    )
    return put(new, f"d{number}", decision, LIMIT, lambda d: d.standing != OPEN)


_NOTED = {
    "decision": "",
    "rule": "A rule, in the agent's words: ",
    "next_step": "Next step: ",
}


def on_note_taken(
    table: dict[str, Decision], event: NoteTaken, moment: Moment
) -> dict[str, Decision]:
    """A rule that the agent notes is no word of the user, so it stands here."""
    label = _NOTED.get(event.kind)
    if label is None:
        return table
    return _put(table, keep(label + event.text, TEXT), "note", moment, event.at)


def on_agent_said(
    table: dict[str, Decision], event: AgentSaid, moment: Moment
) -> dict[str, Decision]:
    if "ecided" not in event.text and "ecision:" not in event.text:
        return table
    for sentence in sentences(event.text):
        if _DECIDED.match(sentence) and not sentence.endswith("?"):
            table = _put(table, keep(sentence, TEXT), "agent", moment, event.at)
    return table


def on_user_said(
    table: dict[str, Decision], event: UserSaid, moment: Moment
) -> dict[str, Decision]:
    """An answer to a question that the agent asked, with the question: it decides something."""
    if event.how != "answer":
        return table
    question = keep(event.about, QUESTION)
    answer = keep(event.text, TEXT)
    text = f"{question}{ANSWERED}{answer}" if question else answer
    return _put(table, text, "user", moment, event.at, question)


def facts(table: dict[str, Decision]) -> Iterator[Fact]:
    for key, decision in table.items():
        detail = "; ".join(
            filter(
                None, (f"by the {decision.by}", decision.rejected and f"not {decision.rejected}")
            )
        )
        yield Fact(key, "decision", decision.text, decision.standing, decision.at, detail)
