"""Corrections: which words of the user a later sentence of the user takes the place of.

Judged by the sentences alone: they share their subject, and the later one says that it changes
something, or names another number in the same frame. The earlier words are not dropped: they
stand beside the later ones, as what was said before, and no longer by themselves. Where only a
part of a sentence is taken back, the rest goes on standing. Pure.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from holdfast.brief.lines import content_words
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.demand_relations import chooses_between
from holdfast.state.prose import lower_ascii_apostrophes

# Only so far back: a slip is corrected soon, and every pair is looked at.
MAX_SENTENCES_BACK = 120
MAX_SENTENCE_CHARS = 400
# A word that stands in more of the user's sentences is what the session is about: two sentences
# that share it need not speak of the same thing.
MAX_SENTENCES_OF_SUBJECT = 4
# Beside an earlier sentence quoted in full; with more words, it is said again and not taken back.
MAX_WORDS_AROUND = 6
# So many numbers in the same frame are one thing after another ("fix bug 11", "fix bug 18", ...),
# and none of them takes another's place.
MIN_SERIES = 3

_QUESTION_MARKS = ("?", "？")

# "Not this but that", in the words people use for it; also in a few other languages. These are
# looked for in small letters.
_CHANGES = lazy_compile(
    r"\b(?:actually|instead|rather|sorry|correction|scratch that|scrap|forget|never ?mind"
    r"|no longer|no more|not .{1,40} any ?more|any ?more|change of (?:mind|plan)|changed my mind"
    r"|on second thoughts?|after all|make (?:it|that)|switch|back to|drop|withdraw"
    r"|take (?:that )?back|undo|revert|cancel|ignore (?:that|what|my)|i was wrong|was wrong|wait"
    r"|hold on|oops|i meant|not needed|no need|stop \w+ing|you (?:can|may) now|now it'?s|doch"
    r"|lieber|stattdessen|statt|nicht mehr|vergiss|mejor|en vez|ya no|en lugar|plutôt|finalement"
    r"|au lieu|ne .{1,30} plus|invece|anzi|non più|em vez|na verdade|не надо|вместо|лучше|بل|بدلا"
    r"|아니요?|말고|대신)\b|やっぱり|代わりに|もう.{0,12}ない|ではなく|じゃなくて|改成|改为|不再|还是|不对|而不是"
)
# In a question only these ask for something else; "how can we make it start faster?" does not.
_ASKS_FOR_OTHER = lazy_compile(
    r"\b(?:instead|rather|lieber|stattdessen|mejor|plutôt|invece|вместо|лучше)\b|代わりに|改成"
)
# Changes something, or decides one thing after another, in the same words.
_SUGGESTS = lazy_compile(r"\blet's (?:call|use|make|do|go)\b")
# What a sentence turns down by name: "four, not two", "pull rather than fetch".
_DENIED = lazy_compile(
    r"\b(?:not|than|instead of|without|no|statt|nicht|kein\w*)\s+((?:\S+\s+)?\S+)"
)
_DENIES = lazy_compile(r"^(?:no|nope|nein|non|nee)\b[,.! ]")
_NAMES = lazy_compile(r"\b(?:[^\W\d]+[\d_]\w*|\d+[^\W\d]\w*)\b")  # letters and digits in one
_UNSPACED = lazy_compile(r"[\u3040-\u30ff\u3400-\u9fff]{2,}")
_ENDING = lazy_compile(r"[\u3040-\u309f]{2}")
_CLAUSE = lazy_compile(
    r"[,;]\s*(?:(?:and|but|also)\s+)?|\s+(?:and|but)\s+(?=(?:always|never|do|don't)\b)", re.I
)


class Correction(NamedTuple):
    later: int  # place of the sentence that corrects
    earlier: int
    taken: str  # the words that no longer stand
    left: str  # what still stands of the earlier sentence, "" for nothing


def find_corrections(
    said: Sequence[str],
    messages: Sequence[int] = (),
    asked: Callable[[str], bool] | None = None,
) -> list[Correction]:
    """Of sentences in the order in which the user said them; each is corrected at most once.

    `messages` says which sentences were said at once: those are a list, not a correction. With
    `asked`, the corrections of the sentences for which it is true, which takes less.
    """
    wanted = None
    if asked is not None:
        wanted = frozenset(place for place, text in enumerate(said) if asked(text))
        if not wanted:
            return []
    return list(_find(tuple(said), tuple(messages), wanted))


# A compaction composes two texts of one state: the second asks the same.
@lru_cache(maxsize=2)
def _find(
    said: tuple[str, ...], messages: tuple[int, ...], wanted: frozenset[int] | None
) -> tuple[Correction, ...]:
    heard = [_hear(text) for text in said]
    often = Counter(word for one in heard for word in one.words)
    common = frozenset(word for word, times in often.items() if times > MAX_SENTENCES_OF_SUBJECT)
    series = _find_series(heard)
    # Where each word was said so far, and each sentence with one number: every pair would be many.
    places: dict[str, list[int]] = {}
    single: list[int] = []
    found: dict[int, Correction] = {}
    for later, one in enumerate(heard):
        # Without a word in common nothing can be taken back: most are not looked at.
        change = None if one.words.isdisjoint(places) else _read_change(one)
        if change is not None:
            near = set() if change.changes or not one.numbers else set(single)
            about = change.subject - common
            for word in about if change.changes else change.denied:
                near.update(places.get(word, ()))
            for earlier in sorted(near - found.keys(), reverse=True):
                at_once = messages and messages[earlier] == messages[later]
                if at_once or later - earlier > MAX_SENTENCES_BACK:
                    continue
                old = heard[earlier]
                turned = _takes_back(one, change, old, about, series)
                if turned is not None and _corrects(one, old.words, turned):
                    taken, left = _split(old.text, one, turned)
                    found[earlier] = Correction(later, earlier, taken, left)
        if wanted is not None and later not in wanted:
            continue
        for word in one.words:
            places.setdefault(word, []).append(later)
        if len(one.numbers) == 1:
            single = [*single[-MAX_SENTENCES_BACK:], later]
    return tuple(sorted(found.values()))


class _Heard(NamedTuple):
    text: str
    lowered: str
    words: frozenset[str]
    numbers: frozenset[str]  # of the words
    names: tuple[str, ...]  # of what is counted or one of several
    frame: frozenset[str]  # the words around the numbers


def _hear(text: str) -> _Heard:
    words = subject_words(text) if len(text) <= MAX_SENTENCE_CHARS else frozenset()
    numbers = _numbers(words)
    names = tuple(_NAMES.findall(text)) if numbers else ()
    lowered = lower_ascii_apostrophes(text)
    return _Heard(text, lowered, words, numbers, names, words - numbers)


class _Change(NamedTuple):
    """That a sentence changes something, or may."""

    changes: bool  # it says so
    plainly: bool  # and not by a suggestion alone
    denied: frozenset[str]  # the words of what it turns down
    subject: frozenset[str]  # of what it changes something


def _read_change(one: _Heard) -> _Change | None:
    text = one.lowered
    says = _ASKS_FOR_OTHER if text.endswith(_QUESTION_MARKS) else _CHANGES
    plainly = says.search(text) is not None or _DENIES.match(text) is not None
    changes = plainly or _SUGGESTS.search(text) is not None
    denied = subject_words(" ".join(_DENIED.findall(text)))
    if not changes and not one.numbers and not denied:
        return None
    without = _SUGGESTS.sub(" ", _CHANGES.sub(" ", text)) if changes else ""
    return _Change(changes, plainly, denied, subject_words(without) if changes else one.words)


def _takes_back(
    one: _Heard,
    change: _Change,
    old: _Heard,
    about: frozenset[str],
    series: frozenset[frozenset[str]],
) -> bool | None:
    """Whether it says that it changes something about the old one; None where it cannot be
    about that."""
    if old.text == one.text or old.text.endswith(_QUESTION_MARKS):
        return None  # a question demands nothing that could be taken back
    if len(one.words) > len(old.words) + MAX_WORDS_AROUND and old.lowered in one.lowered:
        return None  # said again among other things, or shown in what was pasted
    turned = change.changes or not change.denied.isdisjoint(old.words)
    if turned and about.isdisjoint(old.words):
        return None  # they share nothing but the word that says "I change something"
    if turned and not change.changes and chooses_between(one.lowered, old.lowered):
        return None
    if not turned:
        # Without such a word only another number can correct: see `_corrects`.
        if len(old.numbers) != 1 or old.frame in series:
            return None
        if old.names != one.names:
            return None  # the next one of several: "service 1 on s1", "service 2 on s2"
    of_another = len(old.words - one.words) > 1
    if of_another and change.changes and not change.plainly and _SUGGESTS.search(old.lowered):
        return None  # of another thing: "let's use A for the cart", "let's use B for tax"
    return turned


def subject_words(text: str) -> frozenset[str]:
    """What a sentence is about. Where no spaces stand between words, every two letters side by
    side count as one, but for endings, which Japanese writes in letters of their own."""
    words = content_words(text)
    if text.isascii():
        return words
    pairs = (run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(len(run) - 1))
    return words.union(pair for pair in pairs if not _ENDING.fullmatch(pair))


def _find_series(heard: Sequence[_Heard]) -> frozenset[frozenset[str]]:
    """The frames in which the user said many numbers."""
    numbers: dict[frozenset[str], set[str]] = {}
    for one in heard:
        if len(one.numbers) == 1:
            numbers.setdefault(one.frame, set()).update(one.numbers)
    return frozenset(frame for frame, said in numbers.items() if len(said) >= MIN_SERIES)


def _corrects(later: _Heard, earlier: frozenset[str], changes: bool) -> bool:
    shared = later.words & earlier
    if not shared:
        return False
    # The same frame around another number: "wait 5 seconds", "wait 20 seconds".
    if len(later.numbers - earlier) == 1 and len(shared - later.numbers) >= 2:
        old = _numbers(earlier)
        if len(old) == 1 and len(earlier - old - later.words) <= 1:
            return True
    return changes and len(earlier) <= 14 and 3 * len(shared) >= min(len(later.words), len(earlier))


def _numbers(found: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in found if word[0].isdigit())


def _split(text: str, later: _Heard, changes: bool) -> tuple[str, str]:
    """The clause that is taken back, and the others, which still stand."""
    clauses = [part for part in _CLAUSE.split(text) if part and part.strip()]
    if len(clauses) < 2 or any(len(subject_words(part)) < 2 for part in clauses):
        return text, ""
    taken = [part for part in clauses if _corrects(later, subject_words(part), changes)]
    if not taken or len(taken) == len(clauses):
        return text, ""
    return "; ".join(taken), "; ".join(part for part in clauses if part not in taken)
