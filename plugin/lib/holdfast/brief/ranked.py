"""The ranked sections of a brief: files with symbols, commands, exact values, notes.

Turns candidates into offers, has the best of them chosen for the room that is left, and
renders them. What a thing is worth is decided in `candidates`, `weights` and `selection`.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief import candidates, weights
from holdfast.brief.lines import one_line, short_paths
from holdfast.brief.paths import short_names, split
from holdfast.brief.ranker import probability, warmth
from holdfast.brief.role import RANKED, Role
from holdfast.brief.selection import Chosen, FileOffer, LineOffer, SymbolOffer, choose
from holdfast.state.facts import OPEN, RESOLVED
from holdfast.state.model import State

VALUE_NOTE = 0.05
FLOOR = 0.00001  # next to nothing still beats an empty line, where there is room
LAST_EDITED = 20
EDITED = 0.6  # what an edited file is worth at least, where there is room for all of them


def chosen_for(state: State, role: Role, budget: int, tight: bool) -> Chosen:
    headings = {p.section: p.heading(tight) for p in role.parts if p.section in RANKED}
    ranked = sorted(
        (
            (probability(c.features, weights.FILE), c)
            for c in candidates.file_candidates(state)
            if section_of(c) in headings
        ),
        key=lambda pair: (-pair[0], pair[1].path),
    )[: candidates.FILES]
    edited = set() if tight else _last_edited(state)
    files = [
        FileOffer(
            c.path,
            section_of(c),
            max(p * weights.VALUE[section_of(c)], EDITED if c.file.path in edited else 0.0),
        )
        for p, c in ranked
    ]
    symbols = [
        SymbolOffer(c.symbol, c.paths, warmth(c.features, weights.SYMBOL))
        for c in candidates.symbol_candidates(state, ranked)
    ]
    offers = (*_command_offers(state), *_identifier_offers(state), *_note_offers(state))
    lines = [offer for offer in offers if offer.section in headings]
    if role.focus != 1.0:
        files, symbols = _focused(state, role.focus, ranked, files, symbols)
    names = _short(ranked) if tight else {}
    return choose(files, symbols, lines, budget, headings, FLOOR, names)


def _short(ranked: list[tuple[float, candidates.FileCandidate]]) -> dict[str, str]:
    """In a tight brief, files that were never opened go by the shortest end that is theirs."""
    ends = short_names([c.path for _, c in ranked])
    return {c.path: ends[c.path] for _, c in ranked if section_of(c) == "named"}


def _focused(
    state: State,
    factor: float,
    ranked: list[tuple[float, candidates.FileCandidate]],
    files: list[FileOffer],
    symbols: list[SymbolOffer],
) -> tuple[list[FileOffer], list[SymbolOffer]]:
    from holdfast.brief.focus import focus

    near = focus(state).paths
    shown = {c.path for _, c in ranked if c.file.path in near}
    return (
        [f._replace(value=f.value * factor) if f.path in shown else f for f in files],
        [s._replace(value=s.value * factor) if shown.intersection(s.paths) else s for s in symbols],
    )


def _last_edited(state: State) -> set[str]:
    """What was edited last is part of the state, whatever the chance that it is needed."""
    changed = [file for file in state.files.values() if file.changed and file.standing == OPEN]
    changed.sort(key=lambda file: file.changed_step)
    return {file.path for file in changed[-LAST_EDITED:]}


def section_of(candidate: candidates.FileCandidate) -> str:
    if candidate.file.changed:
        return "changed"
    return "read" if candidate.file.read else "named"


def _settled(state: State) -> set[str]:
    """Commands whose failure is over: a merge that was mended, a test that a wider run passes."""
    mended = {key for key, end in state.dead_ends.items() if end.standing == RESOLVED}
    return mended | {e.deed for e in state.errors.values() if e.standing == RESOLVED}


def _command_offers(state: State) -> Iterator[LineOffer]:
    settled = _settled(state)
    for candidate in candidates.command_candidates(state):
        command = state.commands[candidate.key]
        outcome = "ok" if command.ok else "failed"
        if not command.ok and candidate.key in settled:
            outcome = "settled since"
        elif not command.ok and command.outcome:
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
        value = VALUE_NOTE * (1 if decision.by == "agent" else 2) / (1 + rank / 4)
        yield LineOffer("decisions", f"- {one_line(decision.text, 180)}", value)
    finished = [s for s in state.subagents.values() if s.standing != OPEN and s.result]
    for rank, subagent in enumerate(reversed(finished[-4:])):
        text = f"- {one_line(subagent.about, 60)}: {one_line(subagent.result, 120)}"
        yield LineOffer("results", text, VALUE_NOTE / (1 + rank))


def rendered(chosen: Chosen, section: str) -> Iterator[str]:
    files = [path for path, where in chosen.files.items() if where == section]
    lines = chosen.lines.get(section, [])
    if not files and not lines:
        return
    yield chosen.headings[section]
    yield from lines
    folders: dict[str, list[str]] = {}
    for path in files:
        if path in chosen.names:
            yield chosen.names[path] + _symbols(chosen, path)
            continue
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
