"""compose(state, max_chars) -> Brief: text for a reader, inside a hard budget.

Header first, then a map of files with the symbols worked on, commands with outcomes, exact
identifiers, and notes. Pure: the same state and budget give the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.brief import candidates, header, weights
from holdfast.brief.header import Line, Sizes, one_line, short_paths
from holdfast.brief.paths import split
from holdfast.brief.ranker import probability, warmth
from holdfast.brief.selection import Chosen, FileOffer, LineOffer, SymbolOffer, choose
from holdfast.state.facts import OPEN
from holdfast.state.model import State

HEADINGS = {
    "changed": "Edited files:",
    "read": "Read files:",
    "named": "Files seen in output:",
    "commands": "Commands run:",
    "identifiers": "Exact values:",
    "decisions": "Decisions:",
    "results": "Finished subagents:",
}
VALUE_NOTE = 0.05
FLOOR = 0.0005
LAST_EDITED = 20
EDITED = 0.6  # what an edited file is worth at least, where there is room for all of them
# The header is worth most per character, but not all of a small brief.
HEADER_SHARE = 0.5
# Below this, not all of the last edited files can be told.
TIGHT = 3000


class Brief(NamedTuple):
    text: str
    facts: tuple[str, ...]  # ids of what it tells


def compose(state: State, max_chars: int, *, title: str = "") -> Brief:
    """A brief of at most `max_chars` characters; empty when nothing is known or fits."""
    size = header.sizes(max_chars)
    lines = _header(state, size, title, max_chars)
    used = sum(len(line.text) + 1 for line in lines)
    chosen = _choose(state, max_chars - used, max_chars < TIGHT)
    body = list(_body(chosen))
    text = "\n".join([line.text for line in lines] + body)
    told = [line.fact for line in lines if line.fact]
    told += [f"f{file.number}" for file in state.files.values() if file.path in chosen.files]
    assert len(text) <= max_chars, "a brief outgrew its budget"
    return Brief(text, tuple(told))


def _header(state: State, size: Sizes, title: str, max_chars: int) -> list[Line]:
    room = int(max_chars * HEADER_SHARE)
    lines = [Line(title, "")] if title and len(title) < max_chars else []
    used = sum(len(line.text) + 1 for line in lines)
    groups: Iterable[Iterator[Line]] = (
        header.request_lines(state, size),
        header.rule_lines(state, size),
        header.task_lines(state, size),
        header.test_lines(state, size),
        header.error_lines(state, size),
        header.place_lines(state, size),
        header.dead_end_lines(state, size),
        header.said_lines(state, size),
    )
    for group in groups:
        pending: list[Line] = []  # a heading waits for its first entry
        for line in group:
            pending.append(line)
            if line.fact or not line.text.endswith(":"):
                cost = sum(len(entry.text) + 1 for entry in pending)
                if used + cost > room:
                    break
                lines += pending
                used += cost
                pending = []
    return lines


def _choose(state: State, budget: int, tight: bool) -> Chosen:
    ranked = sorted(
        ((probability(c.features, weights.FILE), c) for c in candidates.file_candidates(state)),
        key=lambda pair: (-pair[0], pair[1].path),
    )[: candidates.FILES]
    edited = set() if tight else _last_edited(state)
    files = [
        FileOffer(
            c.path,
            _section(c),
            max(p * weights.VALUE[_section(c)], EDITED if c.file.path in edited else 0.0),
        )
        for p, c in ranked
    ]
    symbols = [
        SymbolOffer(c.symbol, c.paths, warmth(c.features, weights.SYMBOL))
        for c in candidates.symbol_candidates(state, ranked)
    ]
    lines = [*_command_offers(state), *_identifier_offers(state), *_note_offers(state)]
    return choose(files, symbols, lines, budget, HEADINGS, FLOOR)


def _last_edited(state: State) -> set[str]:
    """What was edited last is part of the state, whatever the chance that it is needed."""
    changed = [file for file in state.files.values() if file.changed and file.standing == OPEN]
    changed.sort(key=lambda file: file.changed_step)
    return {file.path for file in changed[-LAST_EDITED:]}


def _section(candidate: candidates.FileCandidate) -> str:
    if candidate.file.changed:
        return "changed"
    return "read" if candidate.file.read else "named"


def _command_offers(state: State) -> Iterator[LineOffer]:
    for candidate in candidates.command_candidates(state):
        command = state.commands[candidate.key]
        outcome = "ok" if command.ok else "failed"
        if not command.ok and command.outcome:
            outcome += f": {one_line(command.outcome, 60)}"
        text = f"`{one_line(short_paths(command.text, state), 240)}` {outcome}"
        value = probability(candidate.features, weights.COMMAND) * weights.VALUE["commands"]
        yield LineOffer("commands", text, value)


def _identifier_offers(state: State) -> Iterator[LineOffer]:
    for candidate in candidates.identifier_candidates(state):
        item = state.identifiers[candidate.key]
        context = one_line(item.context.replace(item.value, ""), 36)
        text = f"- {item.sort} {item.value}" + (f": {context}" if context else "")
        value = probability(candidate.features, weights.IDENTIFIER) * weights.VALUE["identifiers"]
        yield LineOffer("identifiers", text, value)


def _note_offers(state: State) -> Iterator[LineOffer]:
    latest = [d for d in state.decisions.values() if d.standing == OPEN]
    for rank, decision in enumerate(reversed(latest[-12:])):
        value = VALUE_NOTE * (2 if decision.by == "user" else 1) / (1 + rank / 4)
        yield LineOffer("decisions", f"- {one_line(decision.text, 180)}", value)
    finished = [s for s in state.subagents.values() if s.standing != OPEN and s.result]
    for rank, subagent in enumerate(reversed(finished[-4:])):
        text = f"- {one_line(subagent.about, 60)}: {one_line(subagent.result, 120)}"
        yield LineOffer("results", text, VALUE_NOTE / (1 + rank))


def _body(chosen: Chosen) -> Iterator[str]:
    for section, heading in HEADINGS.items():
        files = [path for path, where in chosen.files.items() if where == section]
        lines = chosen.lines.get(section, [])
        if not files and not lines:
            continue
        yield heading
        yield from lines
        folders: dict[str, list[str]] = {}
        for path in files:
            folders.setdefault(split(path)[0], []).append(path)
        for folder, inside in folders.items():
            if not folder or len(inside) == 1:
                for path in inside:
                    yield path + _symbols(chosen, path)
                continue
            yield folder
            for path in inside:
                yield f" {split(path)[1]}{_symbols(chosen, path)}"


def _symbols(chosen: Chosen, path: str) -> str:
    symbols = chosen.symbols.get(path)
    return f": {' '.join(symbols)}" if symbols else ""
