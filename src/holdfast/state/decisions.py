"""Decisions: what was chosen, why, and what was rejected.

From the answers the user gave to the agent's questions, from notes, and from sentences in which the
agent itself says that it was decided. Anything less plain is only quoted (`requests`,
`replies`), since no pattern tells a decision from a thought. Sentences are kept whole.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, NoteTaken, Origin, UserSaid
from holdfast.lazy_regex import lazy_compile
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, Position, next_number, put_record
from holdfast.state.prose import split_sentences, subject_words, word_overlap

MAX_DECISIONS = 50
MAX_DECISION_CHARS = 320
QUESTION = 160  # so that a long question leaves room for its answer

ANSWERED = " → "

_DECIDED = lazy_compile(
    r"(?:(?:so|ok|okay|then),? )?(?:we|i)(?:'ve| have)? decided\b|decision:", re.I
)
_REASON = lazy_compile(
    r"\b(?:because|since|so that|as it|due to|in order to|to avoid|which (?:means|avoids))\b(.*)",
    re.I,
)
_REJECTED = lazy_compile(
    r"\b(?:instead of|rather than|over|not)\s+(.{3,90}?)(?=[,.;)]|\s+(?:because|since|so)\b|$)",
    re.I,
)


class Decision(NamedTuple):
    number: int
    text: str
    reason: str
    rejected: str
    by: str  # "user" | "agent" | "note": what the agent asked us to keep
    status: str
    step: int
    at: Origin
    question: str = ""  # the agent's, which the user answered; the text begins with it

    @property
    def answer(self) -> str:
        """What was decided, without the question."""
        return self.text[len(self.question) + len(ANSWERED) :] if self.question else self.text


def _put(
    table: dict[str, Decision],
    text: str,
    by: str,
    position: Position,
    at: Origin,
    question: str = "",
) -> dict[str, Decision]:
    subject = subject_words(text)
    new: dict[str, Decision] = {}
    for key, old in table.items():
        if old.text == text:
            return table
        if old.status == OPEN and word_overlap(subject, subject_words(old.text)) >= 0.7:
            old = old._replace(status=SUPERSEDED)  # the same choice, taken anew
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
        position.step,
        at,
        question,
    )
    return put_record(new, f"d{number}", decision, MAX_DECISIONS, lambda d: d.status != OPEN)


_NOTED = {
    "decision": "",
    "rule": "A rule, in the agent's words: ",
    "next_step": "Next step: ",
}


def on_note_taken(
    table: dict[str, Decision], event: NoteTaken, position: Position
) -> dict[str, Decision]:
    """A rule that the agent notes is no word of the user, so it stands here."""
    label = _NOTED.get(event.kind)
    if label is None:
        return table
    return _put(
        table, truncate_safely(label + event.text, MAX_DECISION_CHARS), "note", position, event.at
    )


def on_agent_said(
    table: dict[str, Decision], event: AgentSaid, position: Position
) -> dict[str, Decision]:
    if "ecided" not in event.text and "ecision:" not in event.text:
        return table
    for sentence in split_sentences(event.text):
        if _DECIDED.match(sentence) and not sentence.endswith("?"):
            table = _put(
                table, truncate_safely(sentence, MAX_DECISION_CHARS), "agent", position, event.at
            )
    return table


def on_user_said(
    table: dict[str, Decision], event: UserSaid, position: Position
) -> dict[str, Decision]:
    """An answer to a question that the agent asked, with the question: it decides something."""
    if event.source != "answer":
        return table
    question = truncate_safely(event.about, QUESTION)
    answer = truncate_safely(event.text, MAX_DECISION_CHARS)
    text = f"{question}{ANSWERED}{answer}" if question else answer
    return _put(table, text, "user", position, event.at, question)


def list_facts(table: dict[str, Decision]) -> Iterator[Fact]:
    for key, decision in table.items():
        detail = "; ".join(
            filter(
                None, (f"by the {decision.by}", decision.rejected and f"not {decision.rejected}")
            )
        )
        yield Fact(key, "decision", decision.text, decision.status, decision.at, detail)
