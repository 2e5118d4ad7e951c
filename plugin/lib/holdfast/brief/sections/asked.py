"""What the user said: the requests, the rules, and limits set in passing. Word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.brief.lines import Line, Sizes, one_line
from holdfast.state.facts import OPEN, SUPERSEDED
from holdfast.state.model import State
from holdfast.state.wording import sentences


def request(state: State, size: Sizes) -> Iterator[Line]:
    typed = [(key, r) for key, r in state.requests.items() if r.how in ("prompt", "queued")]
    if not typed:
        return
    key, last = typed[-1]
    first_key, first = typed[0]
    if size.goal and first_key != key:
        goal = one_line(first.text, size.goal)
        yield Line(f'The user first asked: "{goal}"', first_key)
        yield from _withdrawn(state, goal)
    # A short last word ("yes", "go on") says nothing without the request before it.
    if len(last.text) < 40 and len(typed) > 1 and (typed[-2][0] != first_key or not size.goal):
        before_key, before = typed[-2]
        yield Line(f'Before that: "{one_line(before.text, size.request)}"', before_key)
    label = "Last request" if size.tight else "The user's last request"
    yield Line(f'{label}: "{one_line(last.text, size.request)}"', key)


def _withdrawn(state: State, quoted: str) -> Iterator[Line]:
    """What was quoted just now and no longer holds: word for word must not mean out of date."""
    for key, rule in state.rules.items():
        if rule.standing == SUPERSEDED and (text := one_line(rule.text, 160)) in quoted:
            yield Line(f'Withdrawn since: "{text}"', key)


def rules(state: State, size: Sizes) -> Iterator[Line]:
    standing = [(key, rule) for key, rule in state.rules.items() if rule.standing == OPEN]
    for key, rule in reversed(standing[-size.rules :]):
        yield Line(f'- "{one_line(rule.text, size.rule)}"', key)


# Words with which people set limits, also where the sentence is no standing rule.
_LIMITS = re.compile(
    r"\b(?:always|never|don'?t|do not|must|make sure|from now on|instead|prefer|only|no longer"
    r"|stop|remember|ensure|should(?: not|n't)?|avoid)\b",
    re.I,
)


def said(state: State, size: Sizes) -> Iterator[Line]:
    """What the user also said that sets a limit, without being a rule: latest first."""
    if size.tight:
        return
    told = {rule.text for rule in state.rules.values()}
    room = size.rules
    for key, one in reversed(state.requests.items()):
        if len(one.text) > 1500:
            continue  # a pasted document, not the user's own words
        for sentence in sentences(one.text):
            if room and len(sentence) < 250 and sentence not in told and _LIMITS.search(sentence):
                yield Line(f'- "{one_line(sentence, size.rule)}"', key)
                room -= 1
