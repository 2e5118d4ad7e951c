"""Decisions: what was chosen, why, and what was rejected.

From the agent's words, from the answers the user gave to its questions, and from what the
user decided in passing. Sentences are kept whole: a reason cut from its decision is noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, NoteTaken, Origin, UserSaid
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, keep, next_number, put
from holdfast.state.moment import Moment
from holdfast.state.patterns import lazily
from holdfast.state.wording import (
    DECIDING,
    has_any,
    overlap,
    plain_words,
    sentences,
    sentences_with,
    small,
)

LIMIT = 50
TEXT = 320

# Both patterns are for small letters.
_DECIDED = lazily(
    r"\b(?:(?:(?:i|we)(?:'ve|'ll)?)?(?:decided|chose|opted|settled)\b|decision:"
    r"|(?:let's|i'll|we'll|we should|i will|going to) (?:go|stick) with|going with"
    r"|(?:i'll|we'll|i will|let's|i'm going to|we should|better to) (?:use|keep|make|put|do|take"
    r"|move|add)\b"
    r".{3,160}?\b(?:instead of|rather than|because|since|so that)"
    r"|(?:use|using|used|chose|prefer|keep|kept)\b.{2,120}?\b(?:instead of|rather than)\b"
    r"|(?:chose|prefer)\b.{2,80}?\bover\b"
    r"|the (?:best|right|cleanest|simplest|correct|better) "
    r"(?:approach|fix|option|way|solution) (?:is|would be)\b)"
)
# One of these stands in every text of the user in which _USER_DECIDED matches a sentence.
_USER_CUES = (
    "let's", "go with", "i prefer", "i decided", "i want us", "we decided", "we agreed",
    " instead", " rather", "option ",
)  # fmt: skip
_USER_DECIDED = lazily(
    r"\b(?:let's (?:go with|use|do|keep|not|avoid|leave)|go with|i (?:prefer|decided|want us)"
    r"|we (?:decided|agreed)|use .{2,60}? (?:instead|rather)|option [a-d1-9]\b)"
)
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
    by: str  # "agent" | "user" | "note": what the agent asked us to keep
    standing: str
    step: int
    at: Origin


def _put(
    table: dict[str, Decision], text: str, by: str, moment: Moment, at: Origin, rejected: str = ""
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
    if not rejected:
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
    )
    return put(new, f"d{number}", decision, LIMIT, lambda d: d.standing != OPEN or d.by == "agent")


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
    for sentence in decides(event.text):
        table = _put(table, keep(sentence, TEXT), "agent", moment, event.at)
    return table


def decides(text: str) -> list[str]:
    """The sentences in which the agent chooses something."""
    return [
        sentence
        for sentence, lowered in sentences_with(text, DECIDING)
        if len(sentence) > 30 and _DECIDED.search(lowered) and not sentence.endswith("?")
    ]


def on_user_said(
    table: dict[str, Decision], event: UserSaid, moment: Moment
) -> dict[str, Decision]:
    if event.how == "answer":
        text = keep(f"{event.about} → {event.text}" if event.about else event.text, TEXT)
        return _put(table, text, "user", moment, event.at)
    if len(event.text) > 4000 or not has_any(small(event.text), _USER_CUES):
        return table
    for sentence in sentences(event.text):
        if _USER_DECIDED.search(small(sentence)) and not sentence.endswith("?"):
            table = _put(table, keep(sentence, TEXT), "user", moment, event.at)
    return table


def facts(table: dict[str, Decision]) -> Iterator[Fact]:
    for key, decision in table.items():
        detail = "; ".join(
            filter(
                None, (f"by the {decision.by}", decision.rejected and f"not {decision.rejected}")
            )
        )
        yield Fact(key, "decision", decision.text, decision.standing, decision.at, detail)
