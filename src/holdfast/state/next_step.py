"""The next step: what the agent last said it would do or asked, and its last words."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.redact.safe_truncation import truncate_output_safely
from holdfast.state.facts import DONE, OPEN, Fact, Position, writable
from holdfast.state.prose import lower_ascii_apostrophes, split_sentences
from holdfast.text import truncate, truncate_middle

MAX_LAST_WORDS_CHARS = 3000

_INTENT = lazy_compile(
    r"^(?:now|next|then)\b|\b(?:let me|i'll|i will|i need to|i'm going to|we need to"
    r"|next step|remaining|still (?:need|have) to|what's left|now i)\b",
    re.I,
)
# Said at the end of a message, so that its reader knows that the work goes on.
_GOES_ON = lazy_compile(
    r"\bnext\b[^.?!]{0,30}\b(?:i|we)\b|^next\b|\bi(?:'ll| will|'m going to| am going to)\b"
    r"|\blet me (?!know\b)|\bnow i\b|\bstill (?:need|have|has|to)\b|\bnot yet\b|\bremains? to\b"
    r"|\b(?:the )?(?:remaining|next) (?:steps?|tasks?|work|parts?|files?)\b",
)
_STEP_OF = lazy_compile(r"\b(?:step|part|task|phase) (\d{1,3}) (?:of|/) (\d{1,3})\b")
# Courtesy, and offers to do something else: the work itself is done.
_COURTESY = lazy_compile(
    r"\blet me know\b|\bif you\b|\bwhen(?:ever)? you\b|\bonce you\b|\bhappy to\b|\bfeel free\b"
    r"|\banything else\b|\bwould you like\b|\b(?:do you )?want me to\b|\bshall i also\b"
    r"|\bno (?:remaining|further)\b|\bnothing (?:is |was )?(?:left|remains)\b",
)
MAX_LAST_SENTENCES = 3


class NextStep(NamedTuple):
    last_words: str
    step: int
    at: Origin


Table = dict[str, NextStep]


def on_agent_said(table: Table, event: AgentSaid, position: Position) -> Table:
    """Only kept: every message replaces the one before, so most are never read."""
    text = event.text.strip()
    if len(text) < 3:
        return table
    new = writable(table)
    new["next"] = NextStep(
        truncate_output_safely(text, MAX_LAST_WORDS_CHARS), position.step, event.at
    )
    return new


def find_intention(item: NextStep) -> str:
    """The last sentence in which the agent says what it will do, "" when there is none."""
    for sentence in reversed(split_sentences(item.last_words[-1500:])):
        if _INTENT.search(sentence) and not sentence.endswith("?"):
            return truncate(sentence, 300)
    return ""


def find_unfinished(item: NextStep) -> str:
    """The sentence among the last in which the agent says that it is not done, "" for none.

    Stricter than `find_intention`: an offer or a courtesy is no work left, nor is step 3 of 3.
    """
    for sentence in reversed(split_sentences(item.last_words[-1500:])[-MAX_LAST_SENTENCES:]):
        lowered = lower_ascii_apostrophes(sentence)
        if sentence.endswith("?") or _COURTESY.search(lowered):
            continue
        count = _STEP_OF.search(lowered)
        if _GOES_ON.search(lowered) or (count and int(count[1]) < int(count[2])):
            return truncate(sentence, 300)
    return ""


def find_question(item: NextStep) -> str:
    """What the agent asked at the end of its last words and cannot go on without, "" for none."""
    last = split_sentences(item.last_words[-1500:])[-1:]
    if last and last[0].endswith("?") and not _COURTESY.search(lower_ascii_apostrophes(last[0])):
        return truncate(last[0], 300)
    return ""


def list_facts(table: Table) -> Iterator[Fact]:
    for item in table.values():
        intended = find_intention(item)
        status = OPEN if intended else DONE
        text = intended or truncate_middle(item.last_words, 300)
        yield Fact("n1", "next_step", text, status, item.at, item.last_words)
