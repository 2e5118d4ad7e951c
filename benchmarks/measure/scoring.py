"""Scores of one brief at one boundary: what it grounds, what state it tells, what is stale.

Owns the outcome of a brief before weights, and the interval of a mean over sessions. Weights need
every session, so they come later.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from benchmarks.measure import brief_lines as L
from benchmarks.measure.brief_lines import plain_words
from benchmarks.measure.entities import (
    COMMAND,
    HASH,
    IDENTIFIER,
    PATH,
    PORT,
    TASK,
    TICKET,
    URL,
    Entity,
    chunks,
    classify,
    without_urls,
)
from benchmarks.measure.ground_truth import Failure
from benchmarks.measure.knowledge import contains_phrase, extract
from benchmarks.measure.prepared_boundary import PreparedBoundary, line_words
from benchmarks.measure.shell_commands import is_test

CHARS_PER_TOKEN = 4
MIN_WORD_OVERLAP = 0.6

_PASSED = re.compile(r"(?i)\b(?:pass(?:ed|es|ing)?|ok|green|succe\w+)\b|✓|✅")
_FAILED = re.compile(r"(?i)\b(?:fail\w*|error\w*|red|broken)\b|✗|❌")
_NOT_FAILED = re.compile(r"(?i)\b(?:0|no) (?:fail\w*|error\w*)")


@dataclass(slots=True)
class BriefScore:
    """What one brief achieved at one boundary."""

    chars: int
    violation: bool = False
    grounded: frozenset[Entity] = frozenset()
    mentioned: frozenset[Entity] = frozenset()
    entities: int = 0
    state: float | None = None
    state_parts: dict[str, float] = field(default_factory=dict)
    stale: int = 0
    stale_items: list[str] = field(default_factory=list)


def score_brief(
    brief: str, prepared: PreparedBoundary, max_chars: int | None, *, strict: bool = False
) -> BriefScore:
    """Score one brief. Longer than its bound, it counts as no brief at all, and is reported."""
    if max_chars is not None and len(brief) > max_chars:
        return BriefScore(chars=len(brief), violation=True, state=0.0)
    found = parse_mentions(brief, prepared)
    needed = set(prepared.need.entities)
    everything: set[Entity] = set()
    for mention in found:
        everything |= mention.entities
    parts = score_state(found, prepared)
    stale = find_stale(found, prepared)
    return BriefScore(
        chars=len(brief),
        grounded=frozenset(select_grounded(found, prepared, strict=strict)),
        mentioned=frozenset(everything & needed),
        entities=len(everything),
        state=sum(parts.values()) / len(parts) if parts else None,
        state_parts=parts,
        stale=len(stale),
        stale_items=stale,
    )


def score_state(found: list[LineMentions], prepared: PreparedBoundary) -> dict[str, float]:
    """Share of the true state that a brief tells, for each part that had something to tell."""
    truth = prepared.truth
    parts: dict[str, float] = {}
    if truth.open_tasks:
        shown = _tasks_shown_open(found)
        parts["tasks"] = _share([t in shown for t in truth.open_tasks])
    if truth.edited:
        paths = {p for m in found for p in m.paths}
        parts["edited"] = _share([p in paths for p in truth.edited])
    if truth.test:
        parts["test"] = _score_test(found, truth.test, truth.test_passed)
    if truth.open_errors:
        parts["errors"] = _share([_mentions_error(found, f) for f in truth.open_errors])
    if truth.branch:
        parts["branch"] = float(any(contains_phrase(m.line.text, truth.branch) for m in found))
    if truth.rules:
        lines = [plain_words(m.line.text) for m in found]
        parts["rules"] = _share([_is_said(rule, lines) for rule in truth.rules])
    return parts


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)


def _is_said(words: frozenset[str], lines: list[frozenset[str]]) -> bool:
    return any(len(words & line) >= MIN_WORD_OVERLAP * len(words) for line in lines)


def _tasks_shown_open(found: list[LineMentions]) -> set[str]:
    return {
        e.value
        for m in found
        if not m.line.labels & {L.DONE, L.CANCELLED, L.RESOLVED}
        for e in m.entities
        if e.kind == TASK
    }


def _score_test(found: list[LineMentions], command: str, passed: bool | None) -> float:
    """Half for the command, half for its verdict beside it."""
    score = 0.0
    for mention in found:
        text = mention.line.text
        if not contains_phrase(text, command):
            continue
        rest = _NOT_FAILED.sub(" ", text.replace(command, " "))
        right, wrong = (_PASSED, _FAILED) if passed else (_FAILED, _PASSED)
        verdict = bool(right.search(rest)) and not wrong.search(rest)
        score = max(score, 1.0 if verdict else 0.5)
    return score


def _mentions_error(found: list[LineMentions], failure: Failure) -> bool:
    """By the words of its message, or by the command that a line says has failed."""
    for mention in found:
        if len(failure.words) >= 2 and _is_said(failure.words, [plain_words(mention.line.text)]):
            return True
        if contains_phrase(mention.line.text, failure.command) and (
            L.ERROR in mention.line.labels
            or _FAILED.search(mention.line.text.replace(failure.command, " "))
        ):
            return True
    return False


def find_stale(found: list[LineMentions], prepared: PreparedBoundary) -> list[str]:
    """Things a brief shows as they no longer are."""
    truth = prepared.truth
    stale: list[str] = []
    for mention in found:
        labels = mention.line.labels
        over = labels & {L.DONE, L.CANCELLED, L.RESOLVED}
        shown_open = bool(labels & {L.TASK, L.OPEN}) and not over and L.COMMAND not in labels
        shown_present = bool(labels & {L.EDITED, L.READ, L.TOUCHED}) and L.DELETED not in labels
        for entity in sorted(mention.entities):
            if shown_open and entity.kind == TASK and entity.value in truth.closed_tasks:
                stale.append(f"task: {entity.value}")
            if shown_present and entity.kind == PATH and entity.value in truth.deleted:
                stale.append(f"file: {entity.value}")
        if L.ERROR in labels and not over:
            stale.extend(_fixed_shown(mention, prepared))
    return list(dict.fromkeys(stale))


def _fixed_shown(mention: LineMentions, prepared: PreparedBoundary) -> list[str]:
    """A fixed error under an error label, unless the line tells an open one."""
    words = plain_words(mention.line.text)
    truth = prepared.truth
    if any(_mentions_error([mention], failure) for failure in truth.open_errors):
        return []
    return [
        f"error: {f.line[:80]}"
        for f in truth.fixed_errors
        if len(f.words) >= 3 and len(f.words & words) >= MIN_WORD_OVERLAP * len(f.words)
    ]


# Grounding: which needed entities a brief really tells, and which it only drops as words.
#
# Owns the three rules. It is given what is true (Prepared) and a text; it chooses nothing.

MIN_SHARED = 2
SHARED_PART = 0.3

_SPACES = re.compile(r"\s+")
_KIND_LABEL = {HASH: L.COMMIT, TICKET: L.TICKET, URL: L.URL, PORT: L.PORT}


class LineMentions:
    """What one line of a brief mentions: entities, and for symbols the file they follow."""

    __slots__ = ("entities", "file_before", "in_commands", "line", "paths", "prose")

    def __init__(self, line: L.Line) -> None:
        self.line = line
        self.entities: set[Entity] = set()
        self.paths: list[str] = []
        self.file_before: dict[str, set[str]] = {}
        self.in_commands: set[Entity] = set()
        self.prose = ""


def parse_mentions(brief: str, prepared: PreparedBoundary) -> list[LineMentions]:
    """The lines of a brief with the entities each mentions, paths resolved."""
    return [_mention(line, prepared) for line in L.read_brief(brief)]


def _mention(line: L.Line, prepared: PreparedBoundary) -> LineMentions:
    knowledge = prepared.knowledge
    found = LineMentions(line)
    x = extract(line.text)
    found.entities.update(e for e in x.entities)
    folder, path, leads = line.folder, "", True
    for chunk in chunks(without_urls(line.text)):
        here = chunk.rstrip(":")
        if here.endswith("/") and len(here) > 1:
            folder = knowledge.paths.relative(here)
            continue
        held = classify(chunk)
        if not path and any(e.kind == IDENTIFIER for e in held.entities):
            leads = False
        if held.pathlike and (where := knowledge.paths.resolve(held.pathlike, folder)):
            path = where
            found.paths.append(path)
            found.entities.add(Entity(PATH, path))
        for entity in held.entities:
            if entity.kind == IDENTIFIER and path and leads:
                found.file_before.setdefault(entity.value, set()).add(path)
    flat = _SPACES.sub(" ", line.text)
    spoken = [c for c in knowledge.commands if c in flat and contains_phrase(flat, c)]
    found.entities.update(Entity(COMMAND, c) for c in spoken)
    found.prose = flat
    for command in sorted(spoken, key=len, reverse=True):
        found.prose = found.prose.replace(command, " ")
        found.in_commands |= knowledge.text_entities(command)
    low = flat.lower()
    tasks = [t for t in knowledge.tasks if t and t in low]
    # "run tests" inside "run tests and lint" is not another task
    found.entities.update(
        Entity(TASK, t) for t in tasks if not any(t != o and t in o for o in tasks)
    )
    return found


def find_grounded(brief: str, prepared: PreparedBoundary, *, strict: bool = False) -> set[Entity]:
    """The needed entities that a brief grounds."""
    return select_grounded(parse_mentions(brief, prepared), prepared, strict=strict)


def select_grounded(
    found: list[LineMentions], prepared: PreparedBoundary, *, strict: bool = False
) -> set[Entity]:
    """Grounded entities; strictly, only labels the definition names itself count."""
    needed = set(prepared.need.entities)
    held: set[Entity] = set()
    for mention in found:
        labels = mention.line.labels & L.NAMED_LABELS if strict else mention.line.labels
        for entity in mention.entities & needed - held:
            if (
                label_is_true(entity, labels, prepared)
                or (not strict and _part_of_command(entity, mention))
                or _symbol_of_file(entity, mention, prepared)
                or _shares_context(entity, mention, prepared)
            ):
                held.add(entity)
    return held


def _shares_context(entity: Entity, mention: LineMentions, prepared: PreparedBoundary) -> bool:
    """Rule i: the line shares its plain words with one line before the cut that holds it.

    Commands are entities, so their words are not plain: three commands in a row would otherwise
    vouch for each other.
    """
    words = line_words(mention.prose, entity)
    least = max(MIN_SHARED, SHARED_PART * len(words))
    if len(words) < MIN_SHARED:
        return False
    return any(len(words & context) >= least for context in prepared.contexts.get(entity, ()))


def label_is_true(entity: Entity, labels: frozenset[str], prepared: PreparedBoundary) -> bool:
    """Rule ii: a label over the entity says something that is true of it."""
    if not labels:
        return False
    knowledge, truth = prepared.knowledge, prepared.truth
    if L.ERROR in labels and (
        entity in prepared.in_errors or entity.value in truth.failed_commands
    ):
        return True
    if entity.kind == PATH:
        edited, read = entity.value in knowledge.edited, entity.value in knowledge.read
        return (
            (L.EDITED in labels and edited)
            or (L.READ in labels and read)
            or (L.TOUCHED in labels and (edited or read))
            or L.SEEN in labels
            or (L.DELETED in labels and entity.value in truth.deleted)
        )
    if entity.kind == COMMAND:
        return L.COMMAND in labels or (L.TEST in labels and is_test(entity.value))
    if entity.kind == TASK:
        return _task_label(entity.value, labels, prepared)
    return entity.kind in _KIND_LABEL and _KIND_LABEL[entity.kind] in labels


def _part_of_command(entity: Entity, mention: LineMentions) -> bool:
    """Rule ii for what stands inside a command that was run, below a label that says so."""
    return bool(mention.line.labels & {L.COMMAND, L.TEST}) and entity in mention.in_commands


def _task_label(subject: str, labels: frozenset[str], prepared: PreparedBoundary) -> bool:
    is_open = subject in prepared.truth.open_tasks
    if L.OPEN in labels:
        return is_open
    if labels & {L.DONE, L.CANCELLED}:
        return not is_open
    return L.TASK in labels


def _symbol_of_file(entity: Entity, mention: LineMentions, prepared: PreparedBoundary) -> bool:
    """Rule iii: a symbol on the line of a file in which it occurred.

    The line of a file begins with the file; where it names more, a symbol belongs to the one it
    follows. Otherwise a list of words in one line would be a line of every file in it.
    """
    if entity.kind != IDENTIFIER:
        return False
    return any(
        entity.value in prepared.knowledge.symbols.get(path, ())
        for path in mention.file_before.get(entity.value, ())
    )


# Intervals by resampling sessions, since boundaries of one session are not independent.
#
# Owns the one statistic of the benchmark. Seeded, so that the same run gives the same interval.

ROUNDS = 2000
SEED = 20260


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over boundaries and its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int


def estimate_mean(values: list[tuple[str, float]], rounds: int = ROUNDS) -> Estimate:
    """Macro mean of (session, value) pairs, with an interval over sessions."""
    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    sums: dict[str, tuple[float, int]] = {}
    for session, value in values:
        total, count = sums.get(session, (0.0, 0))
        sums[session] = (total + value, count + 1)
    groups = [sums[s] for s in sorted(sums)]
    mean = sum(v for _, v in values) / len(values)
    chooser = random.Random(SEED)
    means = []
    for _ in range(rounds):
        total, count = 0.0, 0
        for group_total, group_count in chooser.choices(groups, k=len(groups)):
            total += group_total
            count += group_count
        means.append(total / count)
    means.sort()
    last = len(means) - 1
    return Estimate(mean, means[round(0.025 * last)], means[round(0.975 * last)], len(values))
