"""Rules: standing instructions and corrections, word for word.

A request is not a rule: "add a test" is done once, "always add a test" holds. Only a
sentence with a cue for standing force becomes a rule, and a later sentence on the same
subject that corrects it supersedes it, so that a withdrawn rule is never given again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import Origin, UserSaid
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, keep, next_number, put
from holdfast.state.moment import Moment
from holdfast.state.patterns import any_of, lazily
from holdfast.state.wording import has_any, overlap, plain_words, sentences, small, without_code

LIMIT = 60
TEXT = 400
# A pasted log or document is not a list of rules, whatever words stand in it.
LONGEST_MESSAGE = 6000
LONGEST_RULE = 330

# The patterns and words below are for small letters (`wording.small`).

# A cue for standing force, said to the agent: where a sentence begins, or after a comma or
# a word such as "please". The same words in the middle of a description ("it always returns
# 0", "deterministic rather than heuristic") rule nothing.
_SAID = r"(?:^|[,;:.–—-] ?|\b(?:please|and|but|so|also|then|you|must|should|just) )"
_STANDING = lazily(
    rf"{_SAID}(?:"
    r"(?:always|never|do not|don't|dont|avoid|refrain)\b(?= \w)"
    r"|only (?:use|run|ever|touch|edit|change|commit|add|write)\b"
    r"|(?:prefer|stick (?:to|with)|no more|remember (?:to|that)|keep in mind)\b"
    r"|use .{2,60}? (?:instead of|rather than|not )"
    r")|^(?:(?:and|also|note that|here) )*we (?:always|never|only|use|don't|do not)\b"
    r"|\b(?:"
    r"(?:i|we) (?:really |generally |always |usually )?prefer\b"
    r"|from now on\b|going forward\b|in (?:the )?future\b(?! \w)|at all times\b"
    r"|(?:every time|whenever) (?:you|we)\b"
    r"|(?:must|mustn't|must not|should never|you (?:can't|cannot|may not|shouldn't|should not))\b"
    r"|not allowed\b|forbidden\b|required to\b|rule:|important:"
    r"|leave .{2,60}? (?:alone|as is|untouched)"
    # "Make sure that ..." asks for something once, unless it says when.
    r"|(?:make sure|be sure to|ensure)\b(?=.*\b(?:always|never|before|after|every|each|when)\b))"
)
_CORRECTION = lazily(
    r"\b(?:actually|instead|no longer|not .{1,40} any ?more|scrap (?:that|the)"
    r"|forget (?:that|the|about)"
    r"|change of plan|changed my mind|on second thoughts?|correction|ignore (?:that|the|my)|rather"
    r"|i was wrong|that's wrong|not what i|revert|drop (?:that|the rule)|you (?:can|may) (?:now )?)"
    r"|^(?:no|nope|wait|hmm|sorry)\b"
)
_WITHDRAWAL = lazily(
    r"\b(?:forget|scrap|drop|ignore|no longer|not .{1,40} any ?more|never ?mind|lift)\b"
)
# One of these stands in every sentence that _STANDING or _CORRECTION matches.
_CUES = any_of(
    "always", "never", "do not", "don't", "dont", "avoid", "refrain", "only", "prefer", "stick",
    "no more", "remember", "keep in mind", "use ", "we use", "from now on", "going forward",
    "future", "at all times", "every time", "whenever", "must", "you ca", "you may", "you should",
    "not allowed", "forbidden", "required to", "rule:", "important:", "leave ", "make sure",
    "be sure", "ensure", "actually", "instead", "no longer", "any more", "anymore", "scrap",
    "forget", "change", "second thought", "correction", "ignore", "rather", "wrong", "not what i",
    "revert", "drop ",
)  # fmt: skip
_BEGINNINGS = ("no", "wait", "hmm", "sorry")
# "don't know / don't think / can't find" speak of the speaker, not of the agent's conduct.
_SPEAKER = lazily(
    r"\b(?:i|we|it|he|she|they|that|this|which|you)\s+(?:really |just |still |probably )?"
    r"(?:do not|don't|dont|cannot|can't|should not|shouldn't|didn't|doesn't|won't)\b"
    r"|\b(?:don't|do not|dont) (?:know|think|see|understand|have|mean|worry|mind|get)\b"
    r"|\bif (?:you|we|it|i) (?:don't|can't|cannot|do not)\b"
)


# Diffs, tables, logs and places in files: words of a tool, not of the user.
_PASTED = lazily(
    r"^[+│╭╰├|$@%]|\S\.\w{1,5}:\d+|\blines? \d+|/(?:var|tmp|usr)/|[{};]\s*$|\w\(\w*\)|:=|=="
)
# "House rules: ..." says of everything in its paragraph that it holds.
_HEADINGS = ("rule", "convention", "guideline", "constraint", "principles")
_ANNOUNCED = lazily(
    r"^\W*(?:\w+ ){0,4}(?:rules?|conventions?|guidelines?|constraints?|principles)\b"
    r"[^.!?\n:]{0,60}:"
)
_PARAGRAPH = lazily(r"\n\s*\n")


class Rule(NamedTuple):
    number: int
    text: str
    standing: str
    superseded_by: str  # id of the rule or request that took its place
    turn: int
    at: Origin


def states_a_rule(sentence: str) -> bool:
    if len(sentence) > LONGEST_RULE or _asks(sentence):
        return False
    heard = small(sentence)
    if _STANDING.search(heard) is None or _PASTED.search(sentence):
        return False
    # "I don't think we should" has a cue only in the speaker's own verb.
    return _SPEAKER.search(heard) is None or _STANDING.search(_SPEAKER.sub(" ", heard)) is not None


def _asks(sentence: str) -> bool:
    """A question does not rule. "can you make sure ...?" is still a request for once."""
    return sentence.rstrip().endswith("?")


def on_user_said(table: dict[str, Rule], event: UserSaid, moment: Moment) -> dict[str, Rule]:
    if len(event.text) > LONGEST_MESSAGE:
        return table
    lowered = small(event.text)
    if not (_CUES.search(lowered) or has_any(lowered, (*_BEGINNINGS, *_HEADINGS))):
        return table
    for sentence, announced in _with_announcements(event.text):
        lowered = small(sentence)
        cued = announced or _CUES.search(lowered) or lowered.startswith(_BEGINNINGS)
        if not cued or _asks(sentence):
            continue
        corrects = _CORRECTION.search(lowered) is not None
        ruling = announced or states_a_rule(sentence)
        if not (ruling or corrects):
            continue
        text = keep(sentence, TEXT)
        key = f"r{next_number(table)}"
        subject = plain_words(sentence)
        withdraws = corrects and _WITHDRAWAL.search(lowered) is not None
        if any(rule.text == text and rule.standing == OPEN for rule in table.values()):
            continue
        replaced = [
            old
            for old, rule in table.items()
            if rule.standing == OPEN and _replaces(subject, corrects, plain_words(rule.text))
        ]
        if replaced:
            table = {
                name: rule._replace(standing=SUPERSEDED, superseded_by=key)
                if name in replaced
                else rule
                for name, rule in table.items()
            }
        # A correction of a rule is itself the rule now, unless it only lifts the old one.
        if ruling or (replaced and not withdraws):
            rule = Rule(int(key[1:]), text, OPEN, "", moment.turn, event.at)
            table = put(table, key, rule, LIMIT, lambda r: r.standing != OPEN)
    return table


def _with_announcements(text: str) -> list[tuple[str, bool]]:
    """Each sentence, and whether its paragraph said before that rules follow."""
    found: list[tuple[str, bool]] = []
    for paragraph in _PARAGRAPH.split(without_code(text)):
        announced = False
        for sentence in sentences(paragraph):
            heading = _ANNOUNCED.match(small(sentence))
            if heading is not None and heading.end() == len(sentence):
                announced = True
                continue
            announced = announced or heading is not None
            fits = len(sentence) <= LONGEST_RULE and not _asks(sentence)
            found.append((sentence, announced and fits))
    return found


def _replaces(subject: frozenset[str], corrects: bool, old: frozenset[str]) -> bool:
    shared = overlap(subject, old)
    if corrects:
        # "Actually, use spaces, not tabs" against "always indent with tabs": one shared
        # subject word of few is enough once the user says that they correct themselves.
        return shared >= 0.34 and bool(subject & old)
    # Two rules about one subject without a cue: only a near repetition replaces.
    return shared >= 0.75 and len(subject & old) >= 3


def facts(table: dict[str, Rule]) -> Iterator[Fact]:
    for key, rule in table.items():
        detail = f"superseded by {rule.superseded_by}" if rule.superseded_by else ""
        yield Fact(key, "rule", rule.text, rule.standing, rule.at, detail)
