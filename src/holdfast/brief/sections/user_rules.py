"""The rules that the user gave and that are in force. Word for word."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.section_lines import Line, SizeLimits, truncate_line
from holdfast.state.facts import OPEN
from holdfast.state.model import State


def rules(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [(key, rule) for key, rule in state.rules.items() if rule.status == OPEN]
    for key, rule in reversed(still_open[-size.rules :]):
        yield Line(f'- [{key}] "{truncate_line(rule.text, size.rule)}"', key)
