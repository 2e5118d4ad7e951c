"""Reference maps: a plain prototype, and the same with perfect foresight as the ceiling.

Owns two contestants that show what the format can do. They share the benchmark's own extraction;
the product's brief does not come from here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from benchmarks.measure.entities import COMMAND, HASH, IDENTIFIER, PATH, TASK, TICKET, URL, Entity
from benchmarks.measure.ground_truth import Truth, build_truth
from benchmarks.measure.knowledge import Knowledge, SessionText, build_knowledge
from benchmarks.measure.session_files import ASSISTANT, INPUT, RESULT, USER, Session
from benchmarks.survival.candidate import Case

# A mention fades to 1/e over this many tool calls, and what the agent typed itself counts five
# times what it only saw in output. Round numbers, chosen once and not tuned: a prototype.
FADE_CALLS = 60.0
SOURCE_WEIGHT = {USER: 1.0, ASSISTANT: 1.0, INPUT: 1.0, RESULT: 0.2}
HEADER_PART = 0.35


@dataclass(slots=True)
class CaseView:
    """What the rows before a cut say, read once per case."""

    text: SessionText
    knowledge: Knowledge
    truth: Truth
    scores: dict[Entity, float] = field(default_factory=dict)
    in_file: dict[tuple[str, str], float] = field(default_factory=dict)


def build_view(case: Case) -> CaseView:
    """The view of a case, shared by everything that asks for it."""
    kept = case.scratch.get("view")
    if isinstance(kept, CaseView):
        return kept
    rows = case.rows_before
    text = SessionText(Session(case.session_id, case.path, rows, ""))
    knowledge = build_knowledge(text, len(rows))
    view = CaseView(text, knowledge, build_truth(text, len(rows), knowledge))
    _weigh(view)
    case.scratch["view"] = view
    return view


def _weigh(view: CaseView) -> None:
    """Recency times frequency, for every entity and for every symbol in its file."""
    text, paths = view.text, view.knowledge.paths
    done = 0
    number: dict[int, int] = {}
    for call in text.reading.calls:
        done += 1
        number[id(call)] = done
    at = 0
    for piece, x in zip(text.reading.pieces, text.extracts, strict=True):
        if piece.call is not None:
            at = number[id(piece.call)]
        value = SOURCE_WEIGHT.get(piece.source, 0.1) * math.exp((at - done) / FADE_CALLS)
        held = list(x.entities)
        held += [Entity(PATH, p) for t in x.tokens if (p := paths.resolve(t))]
        if piece.call is not None and piece.source == INPUT:
            held += [Entity(COMMAND, c) for c in text.commands_of(piece.call)]
        for entity in held:
            view.scores[entity] = view.scores.get(entity, 0.0) + value
    for path, symbols in view.knowledge.symbols.items():
        own = view.scores.get(Entity(PATH, path), 0.0)
        for symbol in symbols:
            view.in_file[path, symbol] = own


def short_path(path: str, knowledge: Knowledge) -> str:
    """The shortest end of a path that still means only this path."""
    parts = path.split("/")
    for i in range(len(parts) - 1, 0, -1):
        end = "/".join(parts[i:])
        if knowledge.paths.resolve(end) == path:
            return end
    return path


class BoundedText:
    """Lines under a hard bound: sections of files with symbols, and sections of single lines."""

    def __init__(self, max_chars: int) -> None:
        self.left = max_chars
        self.head: list[str] = []
        self.sections: dict[str, dict[str, list[str]]] = {}

    def say(self, line: str) -> bool:
        if len(line) + 1 > self.left:
            return False
        self.left -= len(line) + 1
        self.head.append(line)
        return True

    def add(self, section: str, line: str, symbol: str = "") -> bool:
        """Open a section and a line where needed, and put a symbol on the line."""
        lines = self.sections.get(section)
        cost = 0 if lines is not None else len(section) + 1
        row = lines.get(line) if lines is not None else None
        cost += 0 if row is not None else len(line) + 1
        cost += len(symbol) + 2 if symbol else 0
        if cost > self.left:
            return False
        self.left -= cost
        row = self.sections.setdefault(section, {}).setdefault(line, [])
        if symbol:
            row.append(symbol)
        return True

    def text(self, order: list[str]) -> str:
        out = list(self.head)
        for section in order:
            if section not in self.sections:
                continue
            out.append(section)
            for line, symbols in self.sections[section].items():
                out.append(f"{line}: {', '.join(symbols)}" if symbols else line)
        return "\n".join(out)


EDITED_FILES, READ_FILES, COMMANDS = "Edited files:", "Read files:", "Commands run:"
SEEN_FILES, COMMITS, TICKETS, URLS = "Files seen in output:", "Commits:", "Tickets:", "URLs:"
OPEN_TASKS, DONE_TASKS = "Open tasks:", "Done tasks:"
ORDER = [
    OPEN_TASKS,
    DONE_TASKS,
    EDITED_FILES,
    READ_FILES,
    COMMANDS,
    COMMITS,
    TICKETS,
    URLS,
    SEEN_FILES,
]


def prototype_map(case: Case, max_chars: int) -> str:
    """A state header, then a map of files and symbols, then commands; recency x frequency."""
    view = build_view(case)
    sheet = BoundedText(max_chars)
    _header(view, sheet, round(max_chars * HEADER_PART))
    for _, section, line, symbol in _candidates(view):
        sheet.add(section, line, symbol)
        if sheet.left < 12:
            break
    return sheet.text(ORDER)


def _header(view: CaseView, sheet: BoundedText, part: int) -> None:
    """The state, most useful first, in at most its part of the sheet."""
    truth = view.truth
    floor = sheet.left - part
    if truth.branch:
        sheet.say(f"Branch: {truth.branch}")
    if truth.test:
        sheet.say(f"Last test: `{truth.test}` {'passed' if truth.test_passed else 'failed'}")
    for failure in truth.open_errors[-2:]:
        sheet.say(f"Open error: `{failure.command[:80]}` failed: {failure.line[:120]}")
    for subject in truth.open_tasks[:6]:
        if sheet.left > floor:
            sheet.add(OPEN_TASKS, f"- {view.knowledge.tasks.get(subject, subject)}")
    for path in reversed(truth.edited):
        if sheet.left > floor:
            sheet.add(EDITED_FILES, short_path(path, view.knowledge))


def _candidates(view: CaseView) -> list[tuple[float, str, str, str]]:
    """Everything that could be told, best value per character first."""
    found: list[tuple[float, str, str, str]] = []
    knowledge = view.knowledge
    best: dict[str, str] = {}
    for (path, symbol), value in view.in_file.items():
        if path not in knowledge.edited and path not in knowledge.read:
            continue
        held = best.get(symbol)
        if held is None or (value, path) > (view.in_file[held, symbol], held):
            best[symbol] = path
    for symbol, path in best.items():
        score = 0.6 * view.scores.get(Entity(IDENTIFIER, symbol), 0.0)
        found.append((score / (len(symbol) + 2), _section(path, view), path, symbol))
    for path in {*knowledge.edited, *knowledge.read} - view.truth.deleted:
        cost = len(short_path(path, knowledge)) + 1
        score = view.scores.get(Entity(PATH, path), 0.0)
        found.append((score / cost, _section(path, view), path, ""))
    for command in knowledge.commands:
        score = 2.0 * view.scores.get(Entity(COMMAND, command), 0.0)
        found.append((score / (len(command) + 1), COMMANDS, command, ""))
    found = [f for f in found if f[2] not in view.truth.deleted]
    found.sort(key=lambda f: (-f[0], f[2], f[3]))
    return [
        (v, s, line if s == COMMANDS else short_path(line, knowledge), sym)
        for v, s, line, sym in found
    ]


def _section(path: str, view: CaseView) -> str:
    return EDITED_FILES if path in view.knowledge.edited else READ_FILES


def foresight_map(case: Case, max_chars: int) -> str:
    """The same map, told which entities will be needed: the ceiling of the format."""
    if case.future is None:
        return ""
    view = build_view(case)
    sheet = BoundedText(max_chars)
    needed = sorted(case.future.need.entities, key=lambda e: (e.kind == IDENTIFIER, len(e.value)))
    paths = {e.value for e in needed if e.kind == PATH}
    for entity in needed:
        placed = _place(entity, view, paths)
        if placed is not None:
            sheet.add(*placed)
    return sheet.text(ORDER)


def _place(entity: Entity, view: CaseView, paths: set[str]) -> tuple[str, str, str] | None:
    """Where in the map an entity can truly stand."""
    knowledge, kind, value = view.knowledge, entity.kind, entity.value
    if kind == PATH:
        touched = value in knowledge.edited or value in knowledge.read
        there = touched and value not in view.truth.deleted
        section = _section(value, view) if there else SEEN_FILES
        return section, short_path(value, knowledge), ""
    if kind == IDENTIFIER:
        files = [p for p, symbols in knowledge.symbols.items() if value in symbols]
        if files:
            used = {*knowledge.edited, *knowledge.read} - view.truth.deleted
            file = min(files, key=lambda p: (p not in paths, p not in used, len(p), p))
            section = _section(file, view) if file in used else SEEN_FILES
            return section, short_path(file, knowledge), value
    if kind == TASK:
        is_open = value in view.truth.open_tasks
        return (OPEN_TASKS if is_open else DONE_TASKS), f"- {value}", ""
    plain = {COMMAND: COMMANDS, HASH: COMMITS, TICKET: TICKETS, URL: URLS}
    return (plain[kind], value, "") if kind in plain else None
