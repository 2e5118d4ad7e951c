"""One sentence of the user, heard as a demand, and what a later one says about an earlier one.

Where a later sentence touches an earlier demand, that is no longer given as in force. Nothing
has to be understood for it: they share their subject, or name two values of one kind, and the
later one allows, changes or forbids. What it plainly replaces is REPLACED; where that is not
sure it is TOUCHED, and both are quoted in order. So are two that share a subject and no more:
the later is NEAR, and the reader judges. Pure.
"""

import re
from functools import lru_cache
from itertools import pairwise

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state import demand_cues as cues
from holdfast.state.guards import find_forbidden
from holdfast.state.prose import EMPTY_WORDS, lower_ascii_apostrophes

MAX_SENTENCE_CHARS = 330
# Who takes something back says so shortly.
MAX_TOUCHING_CHARS = 120
# Of a demand's subject, what words on it share with it: those that allow or change something, and
# any others.
MIN_TURNED_SHARE, MIN_CORE_SHARE = 0.34, 0.5
# What a sentence can be. A change is no demand of its own kind: the user's later word on one.
RULE, HOLD, MARKED, CHANGE, NOTHING = "rule", "hold", "marked", "change", ""
UNRELATED, NEAR, TOUCHED, REPLACED = 0, 1, 2, 3

_WORD = lazy_compile(r"[^\W\d_][\w'’./-]*\w|\d+[\w.-]*\w|[$€£]?\d+")
_PARTS = lazy_compile(r"[./_-]+")
_UNSPACED = lazy_compile(r"[\u3040-\u30ff\u3400-\u9fff]{2,}|[\uac00-\ud7af]{2,}")
# Endings of Korean verbs, which say nothing of the subject.
_ENDINGS = frozenset(
    "하지 지마 마세 세요 해주 주세 해도 도됩 됩니 니다 해야 하세 하고 습니 이제 아직".split()
)
# What Arabic writes before a word in one with it.
_ARTICLE = lazy_compile(r"(?:[وف]?[بكل]?ال|لل)(?=\w{3})")
_INFLECTED = lazy_compile(r"(?<=\w{3})(?:ть|те|[аеиоуыьюяйё])+$")
_KANA = lazy_compile(r"[\u3040-\u309f]{2}")
# Words of the frame of a sentence in other languages, and of English demands.
_FRAME = frozenset(
    """
    der die das den dem des ein eine einen und oder ist sind mit auf von für bei aus nach nicht nie
    niemals immer bitte kein keine keinen nur statt
    jetzt ab sofort künftig darfst dürfen soll sollen
    muss müssen werden wird wenn dann auch noch mehr
    doch sie ihr ich wir alle alles jede jeder jeden
    les des une est sont avec pour dans sur par pas plus jamais toujours tout tous toute toutes que
    qui les aux désormais dorénavant plutôt peux pouvez faut doit maintenant
    los las una unos con por para del que sin nunca siempre jamás todo todos toda todas ahora puedes
    partir adelante mejor solo
    não nunca sempre com para uma dos das pelo pela agora pode todos todas apenas
    non mai sempre con per una gli dei delle tutti tutte solo ora puoi adesso poi
    een het niet nooit altijd met voor van naar alle alleen vanaf nu mag voortaan
    nie nigdy zawsze dla oraz jest się wszystkie wszystkich tylko teraz można już możesz
    никогда всегда не для все всех всё это как или теперь можно только больше нельзя лучше
    asla her zaman için bir ile tüm bütün artık sonra bundan hiçbir
    set yet got per one two per via let lets let's can't cannot don't doesn't isn't won't you're
    it's we're i'd i'm i've that's mustn't needn't
    shouldn't fine okay ok yes enough allowed may might
    must needed required necessary free please whenever before while unless everything everywhere
    anywhere nowhere here there whole rest session conversation repo repository word words
    longer thing things rule rules quick update updated moved changed done over gone old first last
    time times go ahead straight directly direct again instead actually any each every ever
    calling called call safety hard constraint fact note preference goal state user wants want
    today tonight tomorrow
    important think like know look leave untouched alone skip stop put please too also
    """.split()
)
# Short words that are a subject all the same.
_SHORT = frozenset(("pr", "ci", "ui", "db", "qa", "go", "vm", "js", "ts"))
_SAME = {
    "respond": "answer", "response": "answer", "reply": "answer", "replie": "answer",
    "edit": "touch", "chang": "touch", "modif": "touch", "modify": "touch", "alter": "touch",
    "delete": "remov", "delet": "remov", "directory": "folder", "direct": "folder",
    "timestamp": "times", "clock": "times", "documentation": "docs", "document": "docs",
    "docum": "docs", "doc": "docs", "dir": "folder", "dependency": "depen", "deps": "depen",
    "package": "depen", "packa": "depen", "libraries": "depen", "library": "depen",
    "libra": "depen",
    "adding": "add", "added": "add",
    "answe": "answer", "repli": "answer", "respo": "answer", "timest": "times", "times": "times",
}  # fmt: skip
# Of one thing there is one value of a kind.
_VALUE_KINDS = tuple(
    frozenset(kind.split())
    for kind in (
        "utc gmt cet cest est pst pdt pacific eastern mountain central local helsinki berlin london"
        " tokyo paris madrid",
        "english german french spanish portuguese italian dutch polish russian turkish chinese"
        " japanese korean arabic finnish swedish norwegian danish greek british american deutsch"
        " englisch französisch anglais français allemand inglés español inglês português inglese"
        " alemán francés alemão francês tedesco francese duits frans niemiecku"
        " 日本語 英語 中文 英文 汉语 英语 中国語 한국어 영어 중국어"
        " italiano engels nederlands angielsku polsku английском русском ingilizce türkçe",
        "tabs tab spaces space tabulatoren leerzeichen tabulations espaces tabuladores"
        " espacios espaços tabulazioni spazi spaties tabulatory spacje табы пробелы"
        " タブ スペース 制表符 空格 탭 스페이스 공백",
        "metric imperial",
        "euro euros eur dollar dollars usd pound pounds gbp yen franc francs chf",
        "bullet bullets prose sentences paragraphs",
        "npm pnpm yarn bun",
        "pip uv poetry pipenv conda",
        "pytest unittest nose",
        "jest vitest mocha jasmine",
        "black ruff yapf autopep8",
        "docker podman",
        "postgres postgresql mysql sqlite mariadb mongodb redis",
        "camelcase snake_case kebab-case pascalcase camel snake kebab pascal",
        "terse short shorter brief concise detailed long longer verbose playful formal informal",
        "squash rebase merge",
    )
)
_TIME_ZONES, _LANGUAGES = _VALUE_KINDS[:2]
_UNSPACED_VALUES = [one for kind in _VALUE_KINDS for one in kind if ord(one[0]) > 0x3000]
_VERB_ENDINGS = ("ing", "ed", "es", "s")


_AT_ONCE = lazy_compile(r"[, ]*\bnow[.!]?$")


class Sentence(NamedTuple):
    text: str
    heard: str
    kind: str
    subject: frozenset[str]
    values: frozenset[str]
    changes: bool
    explicit: bool  # in plain words: what it changes needs no guess
    grants: bool
    forbids: bool
    requests: bool
    verb: str  # what is to be done, of a plain imperative


@lru_cache(maxsize=1024)  # each new sentence is compared with all demands that are known
def hear(text: str) -> Sentence:
    heard = lower_ascii_apostrophes(text)
    kind = find_kind(text)
    words = {*_WORD.findall(heard), *(word for word in _UNSPACED_VALUES if word in heard)}
    values = frozenset(word for word in words if any(word in kind for kind in _VALUE_KINDS))
    verb = cues.FIRST_VERB.match(heard)
    requests = cues.REQUEST.match(heard) is not None
    # "Push it now": of a request it says when.
    told = _AT_ONCE.sub("", heard) if requests else heard
    return Sentence(
        text,
        heard,
        kind,
        subject_stems(text),
        values,
        cues.CHANGE.search(told) is not None or cues.OTHER_CHANGE.search(told) is not None,
        cues.EXPLICIT_CHANGE.search(told) is not None,
        cues.GRANT.search(heard) is not None or cues.OTHER_GRANT.search(heard) is not None,
        cues.FORBIDS.search(heard) is not None,
        requests,
        stem(verb[1]) if verb else "",
    )


def find_kind(sentence: str) -> str:
    """Rule, hold, marked by the user, or nothing that is sure to be one."""
    if len(sentence) > MAX_SENTENCE_CHARS or is_question(sentence):
        return NOTHING
    heard = lower_ascii_apostrophes(sentence)
    if cues.RULE_LABEL.match(heard):
        return RULE
    if cues.NOTE_LABEL.match(sentence):
        return MARKED
    remark = cues.PASTED.search(sentence) or cues.STATUS.search(heard)
    # What the agent is to write somewhere: "Add a comment: never call this twice."
    if remark or _DICTATES.search(heard):
        return NOTHING
    if _is_hold(heard):
        return HOLD
    if cues.OTHER_STANDING.search(heard) or _is_rule(heard):
        return RULE
    if not _forbids_a_call(sentence, heard):
        return NOTHING
    return HOLD if cues.REQUEST.match(heard) else RULE  # with a request, until that is done


def _forbids_a_call(sentence: str, heard: str) -> bool:
    """Whether a tool call could be checked against it, so plain is what it forbids."""
    if _FOR_ONCE.search(heard) or _is_reported(heard, cues.FORBIDS):
        return False
    return any(find_forbidden(sentence))


_FOR_ONCE = lazy_compile(r"\b(?:this time|just this once|so far|is now)\b|:\s*$")


def _is_hold(heard: str) -> bool:
    waits = cues.OTHER_HOLD.search(heard) and cues.OTHER_STANDING.search(heard)
    if waits or cues.OTHER_HOLD_ALONE.search(heard):
        return True
    holds = "always" not in heard and cues.HOLD.search(cues.SPEAKER.sub(" ", heard))
    return bool(holds) and not _is_reported(heard, cues.HOLD)


def _is_rule(heard: str) -> bool:
    standing = cues.STANDING.search(heard)
    if standing is None or cues.ONE_OFF.search(heard) or _is_request_with(heard, standing):
        return False
    if _is_reported(heard, cues.STANDING):
        return False
    # "I don't think we should" has a cue only in the speaker's own verb.
    own = cues.SPEAKER.search(heard) is not None
    return not own or cues.STANDING.search(cues.SPEAKER.sub(" ", heard)) is not None


def _is_request_with(heard: str, cue: re.Match[str]) -> bool:
    """A request in which the cue only says of what: "Fix the case where it must not be empty"; or a
    remark with one behind it: "Guests must not see this; add a test for that"."""
    own = (",", ";", ":", ".", "without")  # "do it without adding dependencies" says how
    if cues.REQUEST.match(heard) and cue.start() and not cue[0].startswith(own):
        return not re.match(r"\W*(?:and|but|so|also|then|please)\b", cue[0])
    last = re.split(r"[,;] ", heard)[-1]
    points = last.rstrip(".!").endswith((" that", " it", " this", " them"))
    asks = cues.REQUEST.match(last) is not None and not last.startswith("see ")
    return points and asks and last != heard


_DICTATES = lazy_compile(
    r"^(?:(?:please|now|also|then|and) )*(?:add|write|document|put|note|insert|create|state|mention"
    r"|implement|include|append|say)\b(?:(?! before )[^,;]){0,50}?(?::| that (?!you\b)) ?(?=\S)"
    r"|^(?:(?:please|now|also|then|and) )*(?:explain|describe|tell me|show|check|verify|find out"
    r"|see"
    r"|test)\b[^,;]{0,30}? (?:why|that|whether|if|how)\b"
)


def _is_reported(heard: str, cue: re.Pattern[str]) -> bool:
    """Whether the cue stands behind words such as "the readme says": then it is the readme's."""
    reported, found = cues.REPORTED_SPEECH.search(heard), cue.search(heard)
    return reported is not None and found is not None and reported.end() <= found.end()


def is_plain_request(sentence: str) -> bool:
    """Asked for once, or a question: answered since, where something was said after it."""
    if is_question(sentence):
        return True
    heard = lower_ascii_apostrophes(sentence)
    return cues.REQUEST.match(heard) is not None and not find_kind(sentence)


def is_question(sentence: str) -> bool:
    """A question does not rule. "can you make sure ...?" is still a request for once."""
    return sentence.rstrip().endswith(("?", "？", "؟"))


@lru_cache(maxsize=1024)
def subject_stems(text: str) -> frozenset[str]:
    """The words that carry a sentence's subject, cut to where their endings begin."""
    heard = lower_ascii_apostrophes(text)
    found: set[str] = set()
    for word in _WORD.findall(heard):
        parts = [word, *_PARTS.split(word)] if _PARTS.search(word) else [word]
        found.update(
            stem(part.removesuffix("'s"))
            for part in parts
            if (len(part) > 2 or part in _SHORT) and part not in EMPTY_WORDS and part not in _FRAME
        )
    if not text.isascii():
        runs = _UNSPACED.findall(text)
        pairs = (run[at : at + 2] for run in runs for at in range(len(run) - 1))
        found.update(pair for pair in pairs if not _KANA.fullmatch(pair) and pair not in _ENDINGS)
    return frozenset(found)


def stem(word: str) -> str:
    if not word.isalpha():
        return word
    if "\u0600" < word[0] < "\u06ff":
        return _ARTICLE.sub("", word, 1)[:5]
    if "\u0400" < word[0] < "\u04ff":
        return (_INFLECTED.sub("", word) or word)[:4]
    for ending in _VERB_ENDINGS:
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word[: -len(ending)]
            break
    if len(word) > 4 and word[-1] == word[-2]:  # committ(ing)
        word = word[:-1]
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    word = _SAME.get(word, word)
    return word if word in _SAME.values() else word[:5]


def relate(later: Sentence, earlier: Sentence) -> int:
    """What a later sentence does to an earlier demand: the first step that knows says it."""
    pair = _Pair(later, earlier, later.subject & earlier.subject, find_clash(later, earlier))
    how = next((how for step in _STEPS if (how := step(pair)) is not None), UNRELATED)
    return NEAR if how == UNRELATED and _is_near(pair) else how


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
    if not shared or (later.requests and not turns) or len(later.text) > MAX_TOUCHING_CHARS:
        return False
    again = later.forbids and earlier.forbids and not later.grants
    if again or "://" in later.text or chooses_between(later.heard, earlier.heard):
        return False
    if turns:
        return len(shared) >= MIN_TURNED_SHARE * len(subject)
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
    later, earlier, shared = pair.later, pair.earlier, pair.shared
    if earlier.kind != HOLD or is_question(later.text):
        return None
    if cues.RELEASE.search(later.heard):
        waits = cues.WAITS_FOR_WORD.search(earlier.heard) is not None
        rest = subject_stems(cues.RELEASE.sub(" ", later.heard))
        return TOUCHED if shared or (waits and len(rest) <= 1) else None
    if later.kind != NOTHING:
        return None
    does = bool(later.verb) and later.verb in earlier.subject and not later.forbids
    asks = later.grants or (later.requests and _AT_ONCE.search(later.heard))
    return TOUCHED if does or (asks and shared) else None


def _as_other_value(pair: _Pair) -> int | None:
    """Another language, time zone, tool of the same kind."""
    later, clash = pair.later, pair.clash
    if clash and pair.shared:
        return None if later.changes else TOUCHED
    if not clash:
        return None
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
    does = later.verb in pair.shared and (things or earlier.subject == pair.shared)
    adds = later.verb in _ADDING and earlier.heard.startswith("no ")
    changes = later.verb not in _LOOKING and _PROTECTS.search(earlier.heard) is not None
    if earlier.heard.startswith("only ") and _is_within(later, earlier):
        return UNRELATED  # that is where it is to be done
    return TOUCHED if earlier.forbids and (does or adds or changes) else UNRELATED


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
    same = pair.overlap >= 0.75 and len(_drop_numbers(pair.shared)) > 2
    return TOUCHED if same and pair.later.kind != NOTHING else None


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
_ASKS = lazy_compile(  # also where no question mark stands
    r"(?:what|why|how|where|who|which|(?:can|could|should|shall|would|do|does|did|is|are|was|were|will)"
    r" (?:we|you|i|it|they|he|she|the|this|that|there|my|our|any))\b"
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
    words = _WORD.findall(sentence.heard)
    return frozenset(f"{one} {two}" for one, two in pairwise(words)) - _COMMON_PAIRS


def _drop_numbers(subject: frozenset[str]) -> list[str]:
    """Without values such as dates and versions, which are many words for one thing."""
    return [word for word in subject if not word[0].isdigit()]


def find_clash(later: Sentence, earlier: Sentence) -> frozenset[str]:
    new = later.values - earlier.values
    for kind in _VALUE_KINDS:
        if new & kind and earlier.values & kind:
            return new & kind
    return frozenset()
