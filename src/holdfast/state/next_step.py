"""The next step: what the agent last said it would do or asked, and its last words."""

from collections.abc import Callable, Iterator

from holdfast.events import AgentSaid, Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_output_safely
from holdfast.state import facts
from holdfast.state.facts import DONE, OPEN, Fact, FactKind, Position
from holdfast.state.prose import lower_ascii_apostrophes, split_sentences
from holdfast.text import truncate, truncate_middle

MAX_LAST_WORDS_CHARS = 3000

_INTENT = lazy_compile(
    r"^(?:now|next|then)\b|\b(?:let me|i'll|i will|i need to|i'm going to|we need to|next step"
    r"|remaining|still (?:need|have) to|what's left|now i)\b",
)
# Said at the end of a message, so that its reader knows that the work goes on.
_GOES_ON = lazy_compile(
    r"\bnext\b[^.?!]{0,30}\b(?:i|we)\b|^next\b|\bi(?:'ll| will|'m going to| am going to)\b"
    r"|\blet me (?!know\b)|\bnow i\b|\bstill (?:need|have|has|to)\b|\bnot yet\b|\bremains? to\b"
    r"|\b(?:the )?(?:remaining|next) (?:steps?|tasks?|work|parts?|files?)\b",
)
_BLOCKED = lazy_compile(
    r"(?<!not )\b(?:blocked|blocking) (?:by|on)\b(?!:? no)|\bwaiting (?:for|on)\b"
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
    new = facts.writable(table)
    new["next"] = NextStep(
        truncate_output_safely(text, MAX_LAST_WORDS_CHARS), position.step, event.at
    )
    return new


def find_intention(item: NextStep) -> str:
    """The last sentence in which the agent says what it will do, "" when there is none."""
    return _find_last(item, 0, lambda said: bool(_INTENT.search(said)) and said[-1] != "?")


def find_unfinished(item: NextStep) -> str:
    """The sentence among the last in which the agent says that it is not done, "" for none.

    Stricter than `find_intention`: an offer or a courtesy is no work left, nor is step 3 of 3.
    """
    return _find_last(item, MAX_LAST_SENTENCES, _goes_on)


def _goes_on(said: str) -> bool:
    if said.endswith("?") or _COURTESY.search(said):
        return False
    count = _STEP_OF.search(said)
    unfinished = count is not None and int(count[1]) < int(count[2])
    return unfinished or _GOES_ON.search(said) is not None


def find_blocker(item: NextStep) -> str:
    """What the agent said at the end that it waits for or is held up by, "" for nothing."""
    return _find_last(
        item,
        MAX_LAST_SENTENCES,
        lambda said: bool(_BLOCKED.search(said) and not _COURTESY.search(said)),
    )


def find_question(item: NextStep) -> str:
    """What the agent asked at the end of its last words and cannot go on without, "" for none."""
    return _find_last(item, 1, lambda said: said[-1] == "?" and not _COURTESY.search(said))


def _find_last(item: NextStep, among: int, says: Callable[[str], bool]) -> str:
    """The last sentence of which this is true in small letters; `among` so many, 0 for all."""
    for sentence in reversed(split_sentences(item.last_words[-1500:])[-among:]):
        if says(lower_ascii_apostrophes(sentence)):
            return truncate(sentence, 300)
    return ""


def list_facts(table: Table) -> Iterator[Fact]:
    for item in table.values():
        intended = find_intention(item)
        status = OPEN if intended else DONE
        text = intended or truncate_middle(item.last_words, 300)
        yield Fact(KIND.fact_id(1), KIND.name, text, status, item.at, item.last_words)


KIND = FactKind("next_step", "n", NextStep, list_facts, field="next_step", main=True)
