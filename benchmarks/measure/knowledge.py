"""What a session's text holds, piece by piece, and what was known before a boundary.

Owns the join of rows and entities: which paths exist, which entities were seen, which files were
edited or read, which symbols occurred in which file. It judges no brief.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure.entities import (
    COMMAND,
    IDF_KINDS,
    PATH,
    PORT,
    TASK,
    URL,
    Entity,
    PathResolver,
    chunks,
    classify,
    ports,
    urls,
    without_urls,
)
from benchmarks.measure.session_files import (
    INPUT,
    RESULT,
    Call,
    Piece,
    Session,
    SessionPieces,
    list_cwds,
    list_roots,
    read_pieces,
)
from benchmarks.measure.shell_commands import list_commands, list_lookups

EDIT_TOOLS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_FILE_FIELDS = ("file_path", "notebook_path", "path")
_HIT = re.compile(r"^([^\s:]+\.[A-Za-z0-9]{1,8})[:-]\d+[:-](.*)$")
_SPACES = re.compile(r"\s+")
_PRINTERS = frozenset({"cat", "bat", "head", "tail", "sed", "less", "more", "nl"})


@dataclass(slots=True)
class Extract:
    """What one piece of text holds; path tokens are resolved later, per boundary."""

    entities: frozenset[Entity]
    tokens: tuple[str, ...]


def extract(text: str) -> Extract:
    """The entities of a text that need no session to be told apart, and its path tokens."""
    entities: set[Entity] = {Entity(URL, u) for u in urls(text)}
    entities.update(Entity(PORT, p) for p in ports(text))
    tokens: dict[str, None] = {}
    for chunk in dict.fromkeys(chunks(without_urls(text))):
        found = classify(chunk)
        entities.update(found.entities)
        if found.pathlike:
            tokens[found.pathlike] = None
    return Extract(frozenset(entities), tuple(tokens))


def normalize_text(text: str) -> str:
    """Case and spacing taken away: how task subjects are compared."""
    return _SPACES.sub(" ", text).strip().lower()


def read_file_field(call: Call) -> str:
    """The file a call names in its own field, as written there."""
    for name in _FILE_FIELDS:
        value = call.input.get(name)
        if isinstance(value, str) and value and (name != "path" or classify(value).pathlike):
            return value
    return ""


def task_subjects(call: Call) -> list[str]:
    """Subjects a task tool's input spells out."""
    if call.tool == "TaskCreate" and isinstance(call.input.get("subject"), str):
        return [call.input["subject"]]
    if call.tool == "TodoWrite" and isinstance(call.input.get("todos"), list):
        return [
            t["content"]
            for t in call.input["todos"]
            if isinstance(t, dict) and isinstance(t.get("content"), str)
        ]
    return []


def created_task_id(call: Call) -> str:
    """The id the client gave to a created task."""
    details: Any = call.details
    if isinstance(details, dict) and isinstance(details.get("task"), dict):
        return str(details["task"].get("id", ""))
    match = re.search(r"Task #(\w+) created", call.result or "")
    return match.group(1) if match else ""


class SessionText:
    """A session read once: pieces with their extracts, reused by each of its boundaries."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.roots = list_roots(list_cwds(session.rows))
        self.reading: SessionPieces = read_pieces(session.rows, 0, len(session.rows))
        self.extracts: list[Extract] = [extract(p.text) for p in self.reading.pieces]
        self.commands: dict[int, list[str]] = {}
        for call in self.reading.calls:
            command = call.input.get("command")
            if call.tool == "Bash" and isinstance(command, str):
                self.commands[id(call)] = list_commands(command, self.roots)

    def commands_of(self, call: Call) -> list[str]:
        return self.commands.get(id(call), [])

    def rare_kinds(self) -> set[Entity]:
        """Every entity of the session whose weight depends on how many sessions have it."""
        return {e for x in self.extracts for e in x.entities if e.kind in IDF_KINDS}


@dataclass(slots=True)
class Knowledge:
    """What was known before one boundary."""

    paths: PathResolver
    entities: set[Entity] = field(default_factory=set)
    commands: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    edited: dict[str, None] = field(default_factory=dict)
    read: dict[str, None] = field(default_factory=dict)
    symbols: dict[str, set[str]] = field(default_factory=dict)

    def text_entities(self, text: str, found: Extract | None = None) -> set[Entity]:
        """The known entities that a text mentions."""
        x = found if found is not None else extract(text)
        held = {e for e in x.entities if e in self.entities}
        held.update(Entity(PATH, p) for t in x.tokens if (p := self.paths.resolve(t)))
        held.update(self.mentioned(text))
        return held

    def mentioned(self, text: str) -> set[Entity]:
        """Known commands and tasks that a text spells out."""
        held: set[Entity] = set()
        flat = _SPACES.sub(" ", text)
        for command in self.commands:
            if " " in command and len(command) >= 8 and contains_phrase(flat, command):
                held.add(Entity(COMMAND, command))
        low = flat.lower()
        for folded in self.tasks:
            if len(folded) >= 8 and folded in low:
                held.add(Entity(TASK, folded))
        return held


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text with nothing grown onto either end."""
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        before = text[start - 1] if start else " "
        behind = text[end : end + 2]
        if not (before.isalnum() or before in "_/.-") and _ends_here(behind):
            return True
        start = text.find(phrase, start + 1)
    return False


def _ends_here(behind: str) -> bool:
    if not behind or not (behind[0].isalnum() or behind[0] in "_/.-"):
        return True
    return behind[0] == "." and (len(behind) == 1 or behind[1].isspace())


def build_knowledge(text: SessionText, index: int) -> Knowledge:
    """Everything known from the rows before a boundary."""
    paths = PathResolver(text.roots)
    knowledge = Knowledge(paths)
    pairs = [
        (p, x) for p, x in zip(text.reading.pieces, text.extracts, strict=True) if p.row < index
    ]
    calls = [c for c in text.reading.calls if c.row < index]
    for call in calls:
        if (name := read_file_field(call)) and not (call.error and call.tool in ("Read", "Glob")):
            paths.learn(name)
    paths.learn_mentions({t for _, x in pairs for t in x.tokens})
    for _, x in pairs:
        knowledge.entities.update(x.entities)
    knowledge.entities.update(Entity(PATH, p) for p in paths.known)
    for call in calls:
        for command in text.commands_of(call):
            knowledge.commands.setdefault(command, command)
            knowledge.entities.add(Entity(COMMAND, command))
        for subject in task_subjects(call):
            knowledge.tasks[normalize_text(subject)] = subject
            knowledge.entities.add(Entity(TASK, normalize_text(subject)))
        _note_file(call, knowledge)
        _note_shell_reads(call, text.roots, knowledge)
    for piece, x in pairs:
        _note_symbols(piece, x, knowledge)
    _drop_port_numbers(knowledge.entities)
    return knowledge


def _drop_port_numbers(entities: set[Entity]) -> None:
    """What is known as a port is not known again as a number."""
    for entity in [e for e in entities if e.kind == PORT]:
        entities.discard(Entity("number", entity.value))


def _note_file(call: Call, knowledge: Knowledge) -> None:
    name = read_file_field(call)
    path = knowledge.paths.resolve(name) if name else ""
    if not path or call.error:
        return
    if call.tool in EDIT_TOOLS:
        knowledge.edited.pop(path, None)
        knowledge.edited[path] = None
    else:
        knowledge.read.pop(path, None)
        knowledge.read[path] = None


def _note_shell_reads(call: Call, roots: list[str], knowledge: Knowledge) -> None:
    """Files printed by the shell were read as well."""
    command = call.input.get("command")
    if call.tool != "Bash" or not isinstance(command, str) or call.error:
        return
    for look in list_lookups(command, roots):
        words = look.split(" ")
        if words[0] not in _PRINTERS:
            continue
        for word in words[1:]:
            if path := knowledge.paths.resolve(word.strip("\"'")):
                knowledge.read.pop(path, None)
                knowledge.read[path] = None


def _note_symbols(piece: Piece, x: Extract, knowledge: Knowledge) -> None:
    """Which identifiers occurred in which file: its own text, or a search hit inside it."""
    call = piece.call
    if call is None or piece.source not in (INPUT, RESULT):
        return
    name = read_file_field(call)
    path = knowledge.paths.resolve(name) if name else ""
    own = (
        call.tool in EDIT_TOOLS
        or call.tool == "Read"
        or (call.tool == "Grep" and piece.source == RESULT)
    )
    if path and own and not call.error:
        _add_symbols(knowledge, path, x.entities)
    if piece.source == RESULT and call.tool in ("Grep", "Bash"):
        for line in piece.text.splitlines():
            hit = _HIT.match(line) if ":" in line and len(line) < 2000 else None
            if hit and (where := knowledge.paths.resolve(hit.group(1))):
                _add_symbols(knowledge, where, extract(hit.group(2)).entities)


def _add_symbols(knowledge: Knowledge, path: str, entities: Iterable[Entity]) -> None:
    held = knowledge.symbols.setdefault(path, set())
    held.update(e.value for e in entities if e.kind == "identifier")
