"""One sentence of the user, heard as a demand: its kind, its subject, what it allows. Pure."""

import re
from functools import lru_cache

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state import demand_cues as cues
from holdfast.state.guards import find_forbidden
from holdfast.state.prose import EMPTY_WORDS, lower_ascii_apostrophes

MAX_SENTENCE_CHARS = 330
# What a sentence can be. A change is no demand of its own kind: the user's later word on one.
RULE, HOLD, MARKED, CHANGE, NOTHING = "rule", "hold", "marked", "change", ""

WORD = lazy_compile(r"[^\W\d_][\w'’./-]*\w|\d+[\w.-]*\w|[$€£]?\d+")
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
VALUE_KINDS = tuple(
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
_UNSPACED_VALUES = [one for kind in VALUE_KINDS for one in kind if ord(one[0]) > 0x3000]
_VERB_ENDINGS = ("ing", "ed", "es", "s")


AT_ONCE = lazy_compile(r"[, ]*\bnow[.!]?$")


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
    words = {*WORD.findall(heard), *(word for word in _UNSPACED_VALUES if word in heard)}
    values = frozenset(word for word in words if any(word in kind for kind in VALUE_KINDS))
    verb = cues.FIRST_VERB.match(heard)
    requests = cues.REQUEST.match(heard) is not None
    # "Push it now": of a request it says when.
    told = AT_ONCE.sub("", heard) if requests else heard
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
    heard = lower_ascii_apostrophes(sentence)
    general = cues.GENERAL.search(heard) is not None
    asks = is_question(sentence) and not (general and cues.ASKED_FOR.match(heard))
    if len(sentence) > MAX_SENTENCE_CHARS or asks or cues.NO_DEMAND.search(heard):
        return NOTHING
    if cues.RULE_LABEL.match(heard):
        return RULE
    if cues.NOTE_LABEL.match(sentence):
        return MARKED
    code = cues.PASTED.search(sentence) and not (general or heard.startswith(("always", "never")))
    remark = code or cues.STATUS.search(heard)
    # What the agent is to write somewhere: "Add a comment: never call this twice."
    if remark or _DICTATES.search(heard):
        return NOTHING
    if _is_hold(heard):
        return HOLD
    reported = _is_reported(heard, cues.GENERAL)
    if cues.GRANT.search(heard) and not cues.BINDS.search(heard):
        return NOTHING  # "feel free to start it whenever you want" allows
    if cues.OTHER_STANDING.search(heard) or _is_rule(heard) or (general and not reported):
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
    r"^(?:(?:please|now|also|then|and) )*(?:add|write|document|put|note|insert|create|state"
    r"|mention|implement|include|append|say)\b(?:(?! before )[^,;]){0,50}?(?::"
    r"| that (?!you\b)) ?(?=\S)|^(?:(?:please|now|also|then|and) )*(?:write|draft|create|make"
    r"|prepare|add|put together)\b[^:]{0,80}\b(?:docs?|document|page|section|template|readme|guide"
    r"|checklist|text|e?-?mail|post|message|comment|prompt|policy|slides?)\b[^:]*: ?\w"
    r"|^(?:(?:please|now|also|then|and) )*(?:explain|describe|tell me|show|check|verify|find out"
    r"|see|test)\b[^,;]{0,30}? (?:why|that|whether|if|how)\b"
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
    for word in WORD.findall(heard):
        parts = [word, *_PARTS.split(word)] if _PARTS.search(word) else [word]
        found.update(
            stem(part.removesuffix("'s"))
            for part in parts
            if (len(part) > 2 or part in _SHORT)
            and part not in EMPTY_WORDS
            and part not in _FRAME
            and not part.endswith(("'re", "'ve", "'ll"))
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
