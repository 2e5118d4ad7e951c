"""The rules that the user gave and that are in force. Word for word."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, Sizes, one_line
from holdfast.state.facts import OPEN
from holdfast.state.model import State


def rules(state: State, size: Sizes) -> Iterator[Line]:
    standing = [(key, rule) for key, rule in state.rules.items() if rule.standing == OPEN]
    for key, rule in reversed(standing[-size.rules :]):
        yield Line(f'- [{key}] "{one_line(rule.text, size.rule)}"', key)
