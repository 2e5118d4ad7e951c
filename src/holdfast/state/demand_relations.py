"""What a later sentence of the user says about an earlier demand.

Where it touches that, the demand is no longer given as in force. Nothing has to be understood for
it: they share their subject, or name two values of one kind, and the later one allows, changes or
forbids. What it plainly replaces is REPLACED; where that is not sure it is TOUCHED, and both are
quoted in order. So are two that share a subject and no more: the later is NEAR, and the reader
judges. Pure.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state import demand_cues as cues
from holdfast.state.demand_sentences import (
    AT_ONCE,
    CHANGE,
    HOLD,
    MARKED,
    NOTHING,
    VALUE_KINDS,
    WORD,
    Sentence,
    is_question,
    stem,
    subject_stems,
)

# Who takes something back says so shortly.
MAX_TOUCHING_CHARS = 120
MAX_NEWS_CHARS = 60  # "QA pinged", which may be what a hold waits for
# Of a demand's subject, what words on it share with it: those that allow or change something, and
# any others.
MIN_TURNED_SHARE, MIN_CORE_SHARE = 0.34, 0.5
UNRELATED, NEAR, TOUCHED, REPLACED = 0, 1, 2, 3
_TIME_ZONES, _LANGUAGES = VALUE_KINDS[:2]


def relate(later: Sentence, earlier: Sentence) -> int:
    """What a later sentence does to an earlier demand: the first step that knows says it."""
    pair = _Pair(later, earlier, later.subject & earlier.subject, find_clash(later, earlier))
    how = next((how for step in _STEPS if (how := step(pair)) is not None), UNRELATED)
    return NEAR if how == UNRELATED and _is_near(pair) else how


def may_change_something(later: Sentence, earlier: Sentence) -> bool:
    """Whether short words that are no demand, question or request are likely about the one demand
    that there is: they lift or allow something in plain words, or name another number for it."""
    heard = _HESITATES.sub("", later.heard)
    asks = later.requests and not _CHANGES_IT.match(heard)
    if later.kind or asks or len(later.text) > MAX_TOUCHING_CHARS or _ASKS.match(heard):
        return False
    others_named = _find_names(later) - _find_names(earlier)
    if cues.PASTED.search(later.text) or " = " in heard or others_named:
        return False
    if any(cue.search(heard) for cue in (cues.LIFTS, cues.OTHER_GRANT, cues.OTHER_CHANGE)):
        return True
    if len(heard) > MAX_NEWS_CHARS or _OF_THIS.match(heard) or heard.endswith(":"):
        return False
    if earlier.kind == HOLD:
        return cues.RELEASE.search(heard) is not None or _HAPPENED.search(heard) is not None
    numbers, others = (set(_NUMBER.findall(one.heard)) for one in (later, earlier))
    return bool(numbers and others) and numbers.isdisjoint(others)


class _Pair(NamedTuple):
    later: Sentence
    earlier: Sentence
    shared: frozenset[str]
    clash: frozenset[str]  # values of one kind of which the two name different ones

    @property
    def overlap(self) -> float:
        sizes = (len(_drop_numbers(one.subject)) for one in (self.later, self.earlier))
        return len(self.shared) / max(1, min(sizes))


def _is_near(pair: _Pair) -> bool:
    """Whether it speaks of what the demand is about, and does not only say it again, ask, or order
    work on it."""
    later, earlier = pair.later, pair.earlier
    if is_question(later.text) or _ASKS.match(later.heard) or earlier.kind == CHANGE:
        return False
    shared, subject = _drop_numbers(pair.shared), _drop_numbers(earlier.subject)
    turns = later.grants or later.changes
    if pair.shared <= _EVERYDAY and pair.overlap < MIN_CORE_SHARE:
        return False  # "the commit of last night"
    if not shared or (later.requests and not turns) or len(later.text) > MAX_TOUCHING_CHARS:
        return False
    again = later.forbids and earlier.forbids and not later.grants
    if again or "://" in later.text or chooses_between(later.heard, earlier.heard):
        return False
    if turns:
        return len(shared) >= MIN_TURNED_SHARE * len(subject)
    if later.kind == NOTHING and _DIRECTS.search(later.heard):
        return True
    core = len(shared) >= max(2, MIN_CORE_SHARE * len(subject)) and pair.overlap >= MIN_CORE_SHARE
    return core and later.kind == NOTHING


def _as_talk(pair: _Pair) -> int | None:
    """A question is talk; so is a long explanation, and what goes on about words that only changed
    something."""
    later = pair.later
    if later.explicit:
        return None
    long = len(later.text) > MAX_TOUCHING_CHARS or pair.earlier.kind == CHANGE
    talk = later.kind == NOTHING and long
    return UNRELATED if talk or is_question(later.text) else None


def _as_release(pair: _Pair) -> int | None:
    """Of a hold: the user's word that it waits for, or the thing itself asked for or allowed."""
    later, earlier = pair.later, pair.earlier
    if earlier.kind != HOLD or is_question(later.text):
        return None
    occasion = _OCCASION.search(earlier.heard)
    things = pair.shared - {later.verb} - (subject_stems(occasion[0]) if occasion else set())
    if cues.RELEASE.search(later.heard):
        waits = cues.WAITS_FOR_WORD.search(earlier.heard) is not None
        rest = subject_stems(cues.RELEASE.sub(" ", later.heard))
        if pair.shared or (waits and len(rest) <= 1):
            return TOUCHED if 2 * len(things) >= len(rest) or len(rest) <= 1 else NEAR
    if later.kind != NOTHING:
        return None
    act = subject_stems(earlier.heard[: occasion.start()] if occasion else earlier.heard)
    for verb, clause in _list_orders(later):
        if verb in act and not later.forbids:
            others = subject_stems(clause) - {verb}
            if not others or others & earlier.subject:
                return TOUCHED
            return NEAR if cues.GOES_ON.match(later.heard) else None  # of another thing
    asks = later.grants or (later.requests and AT_ONCE.search(later.heard))
    if asks and pair.shared:
        return TOUCHED if 2 * len(things) >= len(later.subject) - 1 else NEAR
    return NEAR if _may_end(pair) else None


def _list_orders(later: Sentence) -> Iterator[tuple[str, str]]:
    """Each part of a sentence with the verb that it begins with: "looks good, commit it"."""
    for clause in _CLAUSES.split(later.heard):
        found = cues.FIRST_VERB.match(clause)
        if found is not None:
            yield stem(found[1]), clause[found.start(1) :]


def _may_end(pair: _Pair) -> bool:
    """Whether a hold's occasion may have come: what it waits for is spoken of, or what it keeps
    from being changed is asked for, short and without a name."""
    later, earlier = pair.later, pair.earlier
    if later.requests:
        changes = later.verb and later.verb not in _LOOKING and _PROTECTS.search(earlier.heard)
        return bool(changes) and later.subject <= {later.verb}
    occasion = _OCCASION.search(earlier.heard)
    if occasion is None or not _HAPPENED.search(later.heard):
        return False
    told = subject_stems(later.heard) - _NEWS
    return not told.isdisjoint(subject_stems(occasion[0]))


def _as_other_value(pair: _Pair) -> int | None:
    """Another language, time zone, tool of the same kind."""
    later, clash = pair.later, pair.clash
    asks = later.requests and not (later.changes or cues.LIFTS.search(later.heard))
    if asks and {stem(value) for value in clash} <= {later.verb}:
        return None  # "rebase it" only asks for work
    if not clash or (pair.shared and later.changes):
        return None
    if pair.shared:
        return TOUCHED
    rest = later.subject - {stem(value) for value in later.values}
    alone = clash <= _TIME_ZONES or not rest or (len(rest) == 1 and not later.requests)
    plain = later.changes or later.kind != NOTHING or alone
    return TOUCHED if plain and (alone or not clash <= _LANGUAGES) else None


def _as_other_measure(pair: _Pair) -> int | None:
    """Said again with another measure: "the cap is 5 MB", "the cap is 8 MB"."""
    old = _MEASURE.sub(r"\1 #", pair.earlier.heard)
    same = "#" in old and old == _MEASURE.sub(r"\1 #", pair.later.heard)
    return REPLACED if same and pair.later.heard != pair.earlier.heard else None


def _as_forbidden_words(pair: _Pair) -> int | None:
    """What was forbidden is said again, and not forbidden: "never skip the ...", "skip the ..."."""
    found = _FORBIDDEN.search(pair.earlier.heard)
    if found is None:
        return None
    heard, words = pair.later.heard, re.escape(found[1])
    again = re.search(rf"(?<!never )(?<!not )(?<!n't )\b{words}\b", heard)
    verb = found[1].split()[0]
    says = verb not in _OF_ANYTHING or pair.shared - {stem(verb)}
    if not again and says and not pair.later.forbids:
        again = re.search(rf"\b(?:we|you|let's) (?:\w+ )?{re.escape(verb)}\b", heard)
    return TOUCHED if again else None


def _as_another_thing(pair: _Pair) -> int | None:
    """Nothing shared, or no more than a verb: "You can edit README.md" of "Don't touch a.yml"."""
    if not pair.shared:
        phrases = _pair_words(pair.later) & _pair_words(pair.earlier)
        adds = pair.later.verb in _ADDING and pair.earlier.heard.startswith("no ")
        return TOUCHED if pair.later.grants and (phrases or adds) else UNRELATED
    named, others = _find_names(pair.later), _find_names(pair.earlier)
    apart = bool(named) and bool(others) and named.isdisjoint(others) and not pair.clash
    says_so = pair.later.changes and not pair.later.grants
    return UNRELATED if apart and len(pair.shared) == 1 and not says_so else None


def _as_change(pair: _Pair) -> int | None:
    later, shared = pair.later, pair.shared
    fact = pair.earlier.kind == MARKED and not later.requests  # a fact is nothing but its value
    near = pair.clash or pair.overlap >= 0.3 or len(shared) > 1 or fact
    heard = _HESITATES.sub("", later.heard)
    weak = not later.explicit and not cues.CHANGE.search(heard) and heard != later.heard
    if weak and not pair.clash and pair.shared <= _EVERYDAY:
        return None  # "no, we removed it on purpose" only hesitates
    if not later.changes or not near or chooses_between(later.heard, pair.earlier.heard):
        return None
    sure = pair.clash or (later.explicit and (pair.overlap >= 0.6 or len(shared) > 2))
    return REPLACED if sure else TOUCHED


def chooses_between(later: str, earlier: str) -> bool:
    """Whether "your test, not the code" only chooses between two things of which the earlier words
    turn down neither: "write the test before the code" is not changed by it."""
    choice = _CHOICE.search(later)
    if choice is None or cues.CHANGE.search(_CHOICE.sub(" ", later)):
        return False
    return set(map(stem, choice.groups())) <= subject_stems(_CHOICE.sub(r"\1", earlier))


def _as_request(pair: _Pair) -> int | None:
    """Asked for once: it touches what forbids just that."""
    later, earlier = pair.later, pair.earlier
    if not later.requests or later.grants or later.kind != NOTHING:
        return None
    things = pair.shared - {later.verb}
    forbidden = cues.FORBIDS.search(earlier.heard)
    behind = subject_stems(earlier.heard[forbidden.end() :]) if forbidden else frozenset()
    does = later.verb in pair.shared & behind and (things or earlier.subject == pair.shared)
    adds = later.verb in _ADDING and earlier.heard.startswith("no ")
    if earlier.heard.startswith("only ") and _is_within(later, earlier):
        return UNRELATED  # that is where it is to be done
    if earlier.forbids and (does or adds):
        return NEAR if earlier.kind == HOLD else TOUCHED
    kept = _PROTECTS.search(earlier.heard, forbidden.start() if forbidden else 0)
    changes = kept and earlier.kind != HOLD and later.verb not in _LOOKING
    return NEAR if earlier.forbids and changes else UNRELATED


def _as_permission(pair: _Pair) -> int | None:
    later = pair.later
    return TOUCHED if later.grants and (not later.requests or pair.overlap >= 0.5) else None


def _as_opposite(pair: _Pair) -> int | None:
    """What was demanded is forbidden: "always squash", "no squashing"."""
    demanded = _DEMANDED.search(pair.earlier.heard)
    if demanded is not None and stem(demanded[1]) in map(stem, _REFUSED.findall(pair.later.heard)):
        return TOUCHED
    return None


def _as_same_subject(pair: _Pair) -> int | None:
    """Of two demands that plainly speak of one thing nobody has to say which of them holds."""
    words = len(_drop_numbers(pair.shared))
    same = pair.overlap >= 0.75 and words > 2
    counts = [set(_COUNT.findall(one.heard)) for one in (pair.later, pair.earlier)]
    other = words > 1 and all(counts) and counts[0].isdisjoint(counts[1])
    return TOUCHED if (same or other) and pair.later.kind != NOTHING else None


# In this order: a release may be a request, a change may be a permission.
_STEPS = (
    _as_talk,
    _as_release,
    _as_other_measure,
    _as_other_value,
    _as_forbidden_words,
    _as_another_thing,
    _as_change,
    _as_permission,
    _as_request,
    _as_opposite,
    _as_same_subject,
)
_COMMON_PAIRS = frozenset("in the|of the|to the|on the|for the|it is|you can|in this".split("|"))
# What is done with anything says nothing alone: "let's use SQLite" of "never use floats".
_OF_ANYTHING = frozenset("use add write run make change put set do have call create keep".split())
# What nearly every sentence about work is about.
_NEWS = frozenset(map(stem, "back done over ready live green clean here gone good".split()))
_EVERYDAY = frozenset(
    map(stem, "add change check code commit edit file fix make push remove run test update".split())
)
_ADDING = frozenset(map(stem, "add install introduce use pull create bring".split()))
_LOOKING = frozenset(
    stem(verb)
    for verb in """look read check find show open list explain tell compare review describe count
    search summarize summarise investigate analyse analyze print run test measure see""".split()
)
_PROTECTS = lazy_compile(
    r"\b(?:touch|edit|change|modify|alter|untouched|unchanged|alone|hands off|frozen|read-only"
    r"|out of|off[- ]limits)\b"
)
_FORBIDDEN = lazy_compile(
    r"\b(?:never|don't|dont|do not) (\w{3,} (?!the|an?|to|my|our|this|that|it|your)\w+"
    r"|\w{3,} \w+ \w+)"
)
_HESITATES = lazy_compile(  # and goes on to the next thing
    r"^(?:(?:no|nope|wait|hmm+|sorry|ok|oh|and|und|now|jetzt|nun|maintenant|ahora|agora|adesso|ora"
    r"|nu|teraz|теперь|şimdi|现在|이제|الآن)(?!\w)[,.! ]*)+|\bactually\b"
)
_DIRECTS = lazy_compile(
    r"\b(?:stop|use|only (?:where|when|if|for|in|on)|please|pls|leave|keep|skip|drop|whatever"
    r"|wants? (?:it|them)|suffit|suffi\w+|basta|reicht|genügt)\b"
)
_OF_THIS = lazy_compile(r"(?:(?:if|and|so|but) )?(?:i(?!'m )|this|that|it|there|we|things?)\b")
_CHANGES_IT = lazy_compile(r"(?:make|set|change|turn) (?:it|that|this)\b")
_COUNT = lazy_compile(r"\b(?:\d+|one|two|three|four|five|six|eight|ten|twenty)\b")
_NUMBER = lazy_compile(r"(?<![\w.-])\d+(?![\w-]*[a-z]{3})")
_CLAUSES = lazy_compile(r"[,;.!:–—] ?|\b(?:and|so|then) ")
_HAPPENED = lazy_compile(  # of what a hold waits for
    r"(?:\b(?:is|are|was|were|went|came|has|have|got)|'s|'ve) (?:now |all |just |been "
    r"|finally )*(?:done|over|through|ready|live|complete|back|clean|green|here|gone|in|out|up|ok"
    r"|okay|fine|good|merged|approved|signed|cleared|lifted|\w{3,}ed)\b|\b(?:all good|in place"
    r"|says? (?:it|ok|yes|go))\b|^(?:i )?(?:had|talked|spoke|read|looked|checked|reviewed|saw)\b"
    r"|^\w{3,}ed[,.!]|^\S+(?: \S+){0,2} (?:\w{3,}ed|said)(?:[.!,]|$| (?:it|that|today|now|just|an?"
    r"|yesterday|in|off|on|out|ok|yes)\b)|\b(?:fertig|erledigt|ya (?:lo|la|está)|listo|hecho"
    r"|c'est fait|terminé|fatto|feito|já|klaar|gotowe|готово|hazır|bitti)\b|好了|完成|終わ|완료"
    r"|끝났"
)
_OCCASION = lazy_compile(
    r"\b(?:until|till|before|while|once|unless|waiting for|as long as)\b[^:;]*|, \w+(?:'s| is"
    r"| are) .*"
)
_ASKS = lazy_compile(  # also where no question mark stands
    r"(?:what|why|how|where|who|which|(?:can|could|should|shall|would|do|does|did|is|are|was|were"
    r"|will) (?:we|you|i|it|they|he|she|the|this|that|there|my|our|any))\b"
)
_MEASURE = lazy_compile(
    r"\b(is|are|be|to|under|below|above|over|within|exceed|most|least|than) [$€£]?\d[\d.,:/-]*\d?"
)
_CHOICE = lazy_compile(r"([\w-]+), not (?:the |your |my |an? )?([\w-]+)")
_DEMANDED = lazy_compile(r"\balways (\w{3,})")
_REFUSED = lazy_compile(r"\b(?:no|never|not|don't|dont|stop|without|avoid) (?:more |any )?(\w{3,})")
_NAME = lazy_compile(r"(?<![\w])[\w-]*[./_]\w[\w./_-]*|`[^`]+`|\b[\w-]+/(?=\W|$)")


def _find_names(sentence: Sentence) -> frozenset[str]:
    """Files, folders, identifiers: what a sentence calls by its own name."""
    return frozenset(name.strip("`/.") for name in _NAME.findall(sentence.heard))


def _is_within(later: Sentence, earlier: Sentence) -> bool:
    places = tuple(_find_names(earlier))
    named = _find_names(later)
    return bool(places and named) and all(name.startswith(places) for name in named)


def _pair_words(sentence: Sentence) -> frozenset[str]:
    """Two words side by side, where no single one says what it is about: "use any"."""
    words = WORD.findall(sentence.heard)
    return frozenset(f"{one} {two}" for one, two in pairwise(words)) - _COMMON_PAIRS


def _drop_numbers(subject: frozenset[str]) -> list[str]:
    """Without values such as dates and versions, which are many words for one thing."""
    return [word for word in subject if not word[0].isdigit()]


def find_clash(later: Sentence, earlier: Sentence) -> frozenset[str]:
    new = later.values - earlier.values
    for kind in VALUE_KINDS:
        if new & kind and earlier.values & kind:
            return new & kind
    return frozenset()
