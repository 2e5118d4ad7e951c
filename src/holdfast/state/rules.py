"""Rules: standing instructions and corrections, word for word.

A request is not a rule: "add a test" is done once, "always add a test" holds. Only a
sentence with a cue for standing force becomes a rule, and a later sentence on the same
subject that corrects it supersedes it, so that a withdrawn rule is never given again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import Origin, UserSaid
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, keep, put
from holdfast.state.moment import Moment
from holdfast.state.wording import overlap, plain_words, sentences

LIMIT = 60
TEXT = 400
# A pasted log or document is not a list of rules, whatever words stand in it.
LONGEST_MESSAGE = 6000
LONGEST_RULE = 330

_STANDING = re.compile(
    r"\b(?:always|never|from now on|going forward|in future|every time|whenever|at all times"
    r"|(?:do not|don't|dont|must not|mustn't|should not|shouldn't|should never|cannot|can't)"
    r"(?= \w+)|must\b|avoid|prefer(?!ence)|only (?:use|run|ever|touch|edit|change|commit)"
    r"|use .{2,60}? (?:instead of|rather than|not )|instead of|rather than"
    r"|make sure|be sure to|ensure|remember (?:to|that)|keep in mind|stick (?:to|with)"
    r"|no more\b|not allowed|forbidden|required to|rule:|important:|note that we"
    r"|we (?:always|never|use)"
    r"|let's (?:avoid|not|keep|stick)|leave .{2,60}? (?:alone|as is|untouched))",
    re.I,
)
_CORRECTION = re.compile(
    r"\b(?:actually|instead|no longer|not .{1,40} any ?more|scrap (?:that|the)"
    r"|forget (?:that|the|about)"
    r"|change of plan|changed my mind|on second thoughts?|correction|ignore (?:that|the|my)|rather"
    r"|i was wrong|that's wrong|not what i|revert|drop (?:that|the rule)|you (?:can|may) (?:now )?)"
    r"|^(?:no|nope|wait|hmm|sorry)\b",
    re.I,
)
_WITHDRAWAL = re.compile(
    r"\b(?:forget|scrap|drop|ignore|no longer|not .{1,40} any ?more|never ?mind|lift)\b", re.I
)
# A question asks; it does not rule. "can you make sure ...?" is still a request for once.
_QUESTION = re.compile(r"\?\s*$")
# "don't know / don't think / can't find" speak of the speaker, not of the agent's conduct.
_SPEAKER = re.compile(
    r"\b(?:i|we|it|he|she|they|that|this|which|you)\s+(?:really |just |still |probably )?"
    r"(?:do not|don't|dont|cannot|can't|should not|shouldn't|didn't|doesn't|won't)\b"
    r"|\b(?:don't|do not|dont) (?:know|think|see|understand|have|mean|worry|mind|get)\b"
    r"|\bif (?:you|we|it|i) (?:don't|can't|cannot|do not)\b",
    re.I,
)


class Rule(NamedTuple):
    number: int
    text: str
    standing: str
    superseded_by: str  # id of the rule or request that took its place
    turn: int
    at: Origin


def states_a_rule(sentence: str) -> bool:
    if len(sentence) > LONGEST_RULE or _QUESTION.search(sentence):
        return False
    cue = _STANDING.search(sentence)
    if cue is None:
        return False
    # "I don't think we should" has a cue only in the speaker's own verb.
    return (
        _SPEAKER.search(sentence) is None
        or _STANDING.search(_SPEAKER.sub(" ", sentence)) is not None
    )


def on_user_said(table: dict[str, Rule], event: UserSaid, moment: Moment) -> dict[str, Rule]:
    if len(event.text) > LONGEST_MESSAGE:
        return table
    for sentence in sentences(event.text):
        corrects = _CORRECTION.search(sentence) is not None
        ruling = states_a_rule(sentence)
        if not (ruling or corrects):
            continue
        text = keep(sentence, TEXT)
        key = f"r{1 + max((rule.number for rule in table.values()), default=0)}"
        subject = plain_words(sentence)
        withdraws = corrects and _WITHDRAWAL.search(sentence) is not None
        if any(rule.text == text and rule.standing == OPEN for rule in table.values()):
            continue
        replaced = [
            old
            for old, rule in table.items()
            if rule.standing == OPEN and _replaces(subject, corrects, plain_words(rule.text))
        ]
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
