"""What the user demands now: rules and holds in force, word for word, and what became of others.

The one owner of that question: brief, steering, handoff, search, status, the SDK and the guards ask
`list_standing` and `list_demands`. Only the user's own typed words count (`typed_words`). A
hold ("don't commit yet") stands until it is released, with the turn it was given in; a rule
until a later sentence touches it (`demand_relations.relate`): from then on it is not given as in
force, and stands, where it is not plain that it was replaced, beside the words that touch it, both
with their turns. Words that only speak of the same thing end nothing, but it is given as in force
no more without them. Of two demands in one sentence the other goes on.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from holdfast.events import Origin, UserSaid
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import demand_cues as cues
from holdfast.state import facts
from holdfast.state.demand_relations import (
    MAX_TOUCHING_CHARS,
    NEAR,
    REPLACED,
    TOUCHED,
    UNRELATED,
    find_clash,
    may_change_something,
    relate,
)
from holdfast.state.demand_sentences import (
    CHANGE,
    HOLD,
    MARKED,
    MAX_SENTENCE_CHARS,
    NOTHING,
    RULE,
    Sentence,
    hear,
    is_plain_request,
    is_question,
    subject_stems,
)
from holdfast.state.facts import DONE, OPEN, SUPERSEDED, Fact, FactKind, Position
from holdfast.state.prose import lower_ascii_apostrophes, split_sentences
from holdfast.state.typed_words import PARAGRAPH, strip_quoted_text
from holdfast.text import collapse_whitespace

MAX_RULES = 60
MAX_RULE_CHARS = 400
# A pasted log or document is not a list of rules, whatever words stand in it.
MAX_SCANNED_CHARS = 6000

# A sentence may hold two demands; each stands or falls by itself.
_CLAUSES = lazy_compile(
    r"[,;]?\s+(?:and|but)\s+(?=(?:always|never(?! (?:more|less|fewer) than)|do not|don't|please)\b)"
)
_PARTS = lazy_compile(
    r"[,;]\s+(?:(?:and|but|also|und|et|y|e|i|и|ve)\s+)?|\s+(?:and|but|und|et|y|e|и|ve)\s+|[，；、。]"
    r"|、(?:そして)?|،\s*و?"
)
_TELLING = lazy_compile(r"\b(?:where|which|when|because|since) (?:we|it|they|i)\b[^,;.]*$")
# Words that point at the sentence before: without it nobody knows what is demanded.
_POINTS_BACK = lazy_compile(r"\b(?:it|this|that|these|those|them|exceed)\b(?! \w+ (?:is|are)\b)")
_WIDENS = lazy_compile(r"(?:i mean|(?:and )?(?:that|this|same|it) (?:goes|holds|applies|counts))\b")
_OF_IT = lazy_compile(r"(?:it|they|he|she) (?:should|must|may|needs?|has|have|can|can't)\b", re.I)
# What ends a list of rules: how something is, by the way, or what comes now.
_REMARKS = lazy_compile(
    r"^(?:the|this|that|it|we|i|there) [\w-]+ (?:is|are|was|were|has|have) (?!always|never|only"
    r"|to)|\bby the way\b|\b(?:jetzt|maintenant|ahora|agora|adesso|teraz|сейчас|теперь)\b|现在"
)
_REASON = lazy_compile(
    r"\s*(?:they|it|that|this|because|since|so|which|we|i|as|the|there|he|she|you|for|weil|denn"
    r"|die|da|car|parce|elle|il|porque|pues|perché|want|omdat|bo|ponieważ|потому|так как|çünkü)\b",
    re.I,
)
_LEANS = lazy_compile(
    r"\s*(?:must|may|might|should|shall|can|cannot|will|would|is|are|was|has|have|needs?|does"
    r"|ought|wird|muss|darf|soll|ist|doit|peut|est|debe|puede|es|deve|pode|é|moet|mag)\b"
)
BEFORE_THIS_SESSION = -1  # as a turn
MAX_NEAR = 2  # of what was said of the thing since
MAX_AROUND_CHARS = 140  # of what changes something, told with all that was said beside it


class Rule(NamedTuple):
    number: int
    text: str
    status: str
    superseded_by: str  # id of the words that took its place, or touch it
    turn: int
    at: Origin
    kind: str = RULE
    before: str = ""  # ids of what these words touch
    unsure: bool = False  # whether its place was taken is the reader's to judge


class Typed(NamedTuple):
    """A sentence of the user."""

    text: str
    kind: str
    around: str  # the paragraph in which it stands, "" where that holds a tool's lines


class Demand(NamedTuple):
    """One thing the user demands now, with the earlier words that it touches."""

    id: str
    rule: Rule
    earlier: tuple[tuple[str, Rule], ...]
    since: tuple[tuple[str, Rule], ...] = ()  # of a hold: what may have released it


def list_standing(table: dict[str, Rule]) -> list[tuple[str, str, str]]:
    """(id, the user's sentence, later words on the same thing or "") of every rule and hold that
    nothing took back, holds first."""
    near = _list_near(table)
    return [
        (key, table[key].text, table[near[key][-1]].text if key in near else "")
        for key in sorted(_list_open(table), key=lambda key: table[key].kind != HOLD)
    ]


def list_demands(table: dict[str, Rule], *kinds: str) -> list[Demand]:
    """Demands of these kinds, latest first. What they may have changed stands with them, and no
    more by itself; a hold goes on until it is plainly released, with what was said since."""
    near = _list_near(table)
    found = []
    for key, rule in reversed(table.items()):
        since = tuple((one, table[one]) for one in near.get(key, ()))
        if rule.status != OPEN or (kinds and rule.kind not in kinds):
            continue
        if since and rule.kind != HOLD:
            continue
        earlier = tuple((old, table[old]) for old in _list_earlier(table, key))
        if rule.kind == CHANGE and not earlier and rule.before:
            known = [old for old in rule.before.split() if old in table]
            if not any(table[old].superseded_by == key for old in known):
                continue
        found.append(Demand(key, rule, earlier, since))
    return found


def _list_near(table: dict[str, Rule]) -> dict[str, list[str]]:
    """Of each demand that goes on, the later words that speak of the same thing, oldest first."""
    near: dict[str, list[str]] = {}
    for key, rule in table.items():
        for old in rule.before.split() if rule.status == OPEN else ():
            if old in table and table[old].status == OPEN:
                near.setdefault(old, []).append(key)
    return near


def _list_earlier(table: dict[str, Rule], key: str) -> list[str]:
    """What these words may have changed, and what that may have changed before."""
    found: set[str] = set()
    wanted = [key]
    while wanted:
        later = wanted.pop()
        before = table[later].before.split()
        for old, one in table.items():
            touched = one.unsure and one.superseded_by == later
            near = one.status == OPEN and one.kind != HOLD and old in before
            if (touched or near) and old not in found:
                found.add(old)
                wanted.append(old)
    return sorted(found - {key}, key=lambda name: int(name[1:]))


def on_user_said(table: dict[str, Rule], event: UserSaid, position: Position) -> dict[str, Rule]:
    if len(event.text) > MAX_SCANNED_CHARS or event.source in ("lead", "peer"):
        return table
    known = frozenset(table)  # what is said at once is a list, and corrects only in plain words
    for typed in list_typed_demands(event.text):
        table = _take_sentence(table, typed, known, event.at, position.turn)
    return table


def _take_sentence(
    table: dict[str, Rule], typed: Typed, known: frozenset[str], at: Origin, turn: int
) -> dict[str, Rule]:
    text, kind, around = typed
    if any(rule.text == text and rule.status == OPEN for rule in table.values()):
        return table
    later = hear(text)._replace(kind=kind)
    touched = _find_touched(table, later, known, around)
    if kind == NOTHING and not touched and not _may_change_any(table, later):
        return table
    made = kind or (_kind_of_change(later, touched) if touched else CHANGE)
    key = _id_of(made, facts.next_number(table))
    before = [old for old, _, _ in touched]
    asks = made == RULE and any(map(is_plain_request, split_sentences(around)))
    if not kind and not asks and 0 < len(around) <= MAX_AROUND_CHARS:
        text = around  # "read it, looks fine. go ahead": what it speaks of stands beside it
        for said, rule in table.items():
            if rule.text == text and rule.turn == turn:
                key, before = said, [*rule.before.split(), *before]
    for old, how, left in touched:
        if how == NEAR:
            continue
        rule = table[old]
        table = {
            **table,
            old: rule._replace(status=SUPERSEDED, superseded_by=key, unsure=how != REPLACED),
        }
        if left:
            number = facts.next_number(table) + 1
            rest = rule._replace(number=number, text=left)
            table = facts.put_record(
                table, _id_of(rule.kind, number), rest, MAX_RULES, facts.is_past
            )
    said = truncate_safely(text, MAX_RULE_CHARS)
    rule = Rule(int(key[1:]), said, OPEN, "", turn, at, made, " ".join(dict.fromkeys(before)))
    table = facts.put_record(table, key, rule, MAX_RULES, facts.is_past)
    for old, words in _list_near(table).items():
        spare = [one for one in words if table[one].kind == CHANGE and table[one].before == old]
        if len(words) > MAX_NEAR and spare:
            table = {name: one for name, one in table.items() if name != spare[0]}
    return table


def _may_change_any(table: dict[str, Rule], later: Sentence) -> bool:
    """Words that plainly allow or change something, nobody can tell of which demand."""
    if len(later.text) > MAX_TOUCHING_CHARS or later.requests or is_question(later.text):
        return False
    plain = later.explicit or (later.grants and not cues.OPINION.search(later.heard))
    return plain and bool(later.subject) and bool(_list_open(table))


def _list_open(table: dict[str, Rule]) -> list[str]:
    return [key for key, one in table.items() if one.status == OPEN and one.kind in (RULE, HOLD)]


def list_carried(earlier: Sequence[str], said: Iterable[str]) -> list[tuple[int, str, str]]:
    """Of an earlier session's demands those that hold after what was said in this one: (place
    among them, what is left of it, the words since that may have changed it or "")."""
    table: dict[str, Rule] = {}
    for place, text in enumerate(earlier):
        kind = hear(text).kind or RULE
        at = Origin("", place, place, "")
        key = _id_of(kind, place + 1)
        table[key] = Rule(place + 1, text, OPEN, "", BEFORE_THIS_SESSION, at, kind)
    for turn, text in enumerate(said):
        event = UserSaid(Origin("", turn, turn, ""), text)
        table = on_user_said(table, event, Position(turn))
    near = _list_near(table)
    found = []
    for key, rule in table.items():
        if rule.turn == BEFORE_THIS_SESSION and (rule.status == OPEN or rule.unsure):
            later = table.get(near[key][-1] if key in near else rule.superseded_by)
            found.append((rule.at.start, rule.text, later.text if later else ""))
    return found


def _id_of(kind: str, number: int) -> str:
    return (HOLD_KIND if kind == HOLD else KIND).fact_id(number)


def _kind_of_change(later: Sentence, touched: list[tuple[str, int, str]]) -> str:
    """Words that only lift something, or ask for something once, are no rule themselves."""
    if all(how == NEAR or key.startswith(HOLD_KIND.letter) for key, how, _ in touched):
        return CHANGE
    lifts = cues.WITHDRAWAL.search(later.heard) is not None and "," not in later.heard
    return CHANGE if lifts or later.grants or later.requests or not later.changes else RULE


def _find_touched(
    table: dict[str, Rule], later: Sentence, known: frozenset[str], around: str
) -> list[tuple[str, int, str]]:
    """(id, how, what of it goes on) of the demands that a sentence touches."""
    found = []
    for key, rule in table.items():
        if rule.status != OPEN or (key not in known and not later.explicit):
            continue
        if later.text in rule.text and rule.text == around:
            continue
        earlier = hear(rule.text)._replace(kind=rule.kind)
        how = relate(later, earlier)
        if how != UNRELATED:
            parts, left = 1, ""
            if how != NEAR and rule.kind != CHANGE:
                parts, left = _split_off(rule.text, later)
            whole = how == REPLACED and parts > 1 and not left  # a part of it may go on
            found.append((key, TOUCHED if whole else how, left))
    if found or is_question(later.text):
        return found
    standing = [key for key in _list_open(table) if key in known]
    if cues.REFERS.search(later.heard):
        return [(key, TOUCHED, "") for key in standing[-1:]]
    # Of one demand alone, or one hold, it has not to be said that it is meant.
    held = [key for key in standing if table[key].kind == HOLD]
    for key in standing if len(standing) == 1 else held if len(held) == 1 else ():
        rule = table[key]
        if may_change_something(later, hear(rule.text)._replace(kind=rule.kind)):
            return [(key, NEAR, "")]
    return found


def _split_off(text: str, later: Sentence) -> tuple[int, str]:
    """Of how many parts a sentence is, and what goes on of it where one of them was taken back."""
    parts = [part for part in _PARTS.split(text) if part and part.strip()]
    if any(_REASON.match(part) for part in parts[1:]):
        return 1, ""  # the rest only says why
    if len(parts) < 2 or not all(map(subject_stems, parts)):
        return 1, ""
    taken = [bool(find_clash(later, hear(part))) for part in parts]
    if not any(taken):
        taken = [
            not subject_stems(part).isdisjoint(later.subject)
            or bool(hear(part).values & later.values)
            for part in parts
        ]
    left = [part for part, gone in zip(parts, taken, strict=True) if not gone]
    # "... and must never be shared" says nothing without what it speaks of.
    if len(left) in (0, len(parts)):
        return len(parts), ""
    heard = left[0].lower()
    if taken[0] and (_LEANS.match(heard) or _POINTS_BACK.search(heard)):
        return len(parts), ""
    return len(parts), "; ".join(part.strip(" .。") for part in left)


def list_typed_demands(text: str) -> Iterator[Typed]:
    """Each of the user's own sentences with its kind; "" for one that demands nothing by itself."""
    drafts = False
    for paragraph in PARAGRAPH.split(strip_quoted_text(text)):
        pasted = any(map(cues.PASTED.search, paragraph.split("\n")))
        around = "" if pasted else collapse_whitespace(paragraph)
        sentences = split_sentences(paragraph)
        for sentence, kind in _read_paragraph(sentences):
            described = kind == RULE and _is_described(sentence, sentences)
            yield Typed(sentence, NOTHING if drafts or described else kind, around)
            drafts = drafts or cues.DRAFTS.match(lower_ascii_apostrophes(sentence)) is not None


def _is_described(sentence: str, sentences: Sequence[str]) -> bool:
    """Whether it says how a thing behaves, and the next sentence asks about that."""
    behind = sentences[sentences.index(sentence) + 1 :] if sentence in sentences else ()
    if not behind or cues.ADDRESSED.search(lower_ascii_apostrophes(sentence)):
        return False
    return cues.ASKS_OF_IT.match(lower_ascii_apostrophes(behind[0])) is not None


def _read_paragraph(sentences: Sequence[str]) -> Iterator[tuple[str, str]]:
    many = False
    before = labelled = ""
    for sentence in sentences:
        heard = lower_ascii_apostrophes(sentence)
        heading = cues.ANNOUNCES_MANY.match(heard)
        kind = hear(sentence).kind
        together = f"{labelled} {sentence}"
        label = cues.RULE_LABEL.match(heard) is not None or kind == MARKED
        goes_on = kind or (hear(labelled).kind == MARKED and not is_plain_request(sentence))
        if labelled and goes_on and not label and len(together) <= MAX_SENTENCE_CHARS:
            labelled = together  # it says on what the label began
            continue
        if labelled:
            yield labelled, hear(labelled).kind
            labelled = ""
        if heading is not None and heading.end() == len(sentence):
            many, before = True, ""
            continue
        fits = len(sentence) <= MAX_SENTENCE_CHARS and not is_question(sentence)
        many = (many or heading is not None) and not _REMARKS.search(heard)
        if fits and many and not cues.REQUEST.match(heard):
            yield sentence, RULE
        elif label:
            labelled = sentence
        else:
            yield from _read_sentence(sentence, before)
        before = sentence
    if labelled:
        yield labelled, hear(labelled).kind


def _read_sentence(sentence: str, before: str) -> Iterator[tuple[str, str]]:
    told = ""
    made_to = cues.MADE_TO.search(sentence.partition(",")[0])
    asks = cues.REQUEST.match(lower_ascii_apostrophes(sentence))
    if made_to and asks and not hear(sentence[: made_to.start()]).kind:
        yield sentence, NOTHING  # "Add a hook that never lets ..."
        return
    if _OF_IT.match(sentence) and cues.REQUEST.match(lower_ascii_apostrophes(before)):
        yield sentence, NOTHING  # "Write a prompt for it. It should never ..." says what to write
        return
    for clause in _CLAUSES.split(sentence):
        kind = hear(clause).kind
        # "... branches where we add files but don't change the tree" tells, not rules.
        if kind and _TELLING.search(lower_ascii_apostrophes(told)):
            kind = NOTHING
        told = clause
        heard = lower_ascii_apostrophes(clause)
        if kind and before and not is_question(before):
            together = f"{before} {clause}"
            points = len(subject_stems(clause)) < 3 and _POINTS_BACK.search(heard)
            if (points or _WIDENS.match(heard)) and len(together) <= MAX_SENTENCE_CHARS:
                clause = together
        yield clause, kind


def list_facts(table: dict[str, Rule]) -> Iterator[Fact]:
    return (fact for fact in _list_all(table) if fact.kind == RULE)


def list_holds(table: dict[str, Rule]) -> Iterator[Fact]:
    return (fact for fact in _list_all(table) if fact.kind == HOLD)


def _list_all(table: dict[str, Rule]) -> Iterator[Fact]:
    near = _list_near(table)
    for key, rule in table.items():
        detail = f"superseded by {rule.superseded_by}" if rule.superseded_by else ""
        status = rule.status
        if key in near:
            detail = "; ".join(f'said since [{one}]: "{table[one].text}"' for one in near[key])
        elif rule.kind == CHANGE and status == OPEN:
            status, detail = DONE, f"said of {rule.before}" if rule.before else ""
        yield Fact(key, HOLD if rule.kind == HOLD else RULE, rule.text, status, rule.at, detail)


KIND = FactKind(
    RULE,
    "r",
    Rule,
    list_facts,
    gap=facts.AskedInGap("Rule the user gave", most=24, rank=2),
    counted_in="rules",
    main=True,
    status_words={OPEN: "in force", DONE: "may change a rule", SUPERSEDED: "withdrawn"},
)
HOLD_KIND = FactKind(
    HOLD,
    "h",
    None,
    list_holds,
    field=KIND.table,
    gap=facts.AskedInGap("On hold until the user releases it", most=12, rank=1),
    counted_in="holds",
    main=True,
    status_words={OPEN: "on hold", SUPERSEDED: "released"},
)


KINDS = (HOLD_KIND, KIND)
