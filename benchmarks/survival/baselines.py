"""Plain contestants: messages, lines and keywords, without any idea of what matters.

Owns the baselines that a brief has to beat. Each is honest about the bound: it stops before it.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable

from benchmarks.measure.entities import WEIGHTS, Entity
from benchmarks.measure.session_files import ASSISTANT, INPUT, RESULT, SUMMARY, USER
from benchmarks.survival.candidate import Case
from benchmarks.survival.reference_maps import build_view

SHORTEST_LINE = 20
LONGEST_LINE = 300
RECENT_PIECES = 60

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


def nothing(case: Case, max_chars: int) -> str:  # noqa: ARG001 - the shape of a briefer
    """No brief at all."""
    return ""


def last_messages(case: Case, max_chars: int) -> str:
    """The end of the dialogue, newest kept, cut at the front."""
    kept: list[str] = []
    left = max_chars
    for source, text in reversed(_dialogue(case)):
        line = f"{'User' if source == USER else 'Assistant'}: {text.strip()}"
        if len(line) + 1 > left:
            kept.append(line[: max(0, left - 1)])
            break
        kept.append(line)
        left -= len(line) + 1
    return "\n".join(reversed(kept))


def random_lines(case: Case, max_chars: int) -> str:
    """Lines of everything before the cut, drawn with a seed of the boundary."""
    lines = _lines(case, (USER, ASSISTANT, INPUT, RESULT))
    random.Random(case.boundary_uuid).shuffle(lines)
    return _fill(lines, max_chars)


def tfidf_lines(case: Case, max_chars: int) -> str:
    """Lines whose words are frequent lately and rare among lines."""
    lines = _lines(case, (USER, ASSISTANT, INPUT, RESULT))
    words = [frozenset(_WORD.findall(line)) for line in lines]
    df = Counter(w for held in words for w in held)
    recent = Counter(
        w
        for p in build_view(case).text.reading.pieces[-RECENT_PIECES:]
        for w in _WORD.findall(p.text)
    )
    count = max(len(lines), 1)
    value = {w: math.log1p(recent[w]) * math.log(count / n) for w, n in df.items()}
    ranked = sorted(
        range(len(lines)),
        key=lambda i: (-sum(value[w] for w in words[i]) / math.sqrt(len(lines[i])), i),
    )
    return _fill((lines[i] for i in ranked), max_chars)


def dialogue_cover(case: Case, max_chars: int) -> str:
    """Dialogue lines that together cover the most entity weight per character (greedy)."""
    view = build_view(case)
    lines = _lines(case, (USER, ASSISTANT, SUMMARY))
    held = [view.knowledge.text_entities(line) for line in lines]
    left, covered = max_chars, set[Entity]()
    chosen: list[int] = []

    def gain(i: int) -> float:
        new = held[i] - covered
        return sum(WEIGHTS[e.kind] * view.scores.get(e, 0.1) for e in new) / (len(lines[i]) + 1)

    # lazy greedy: gains only fall, so an outdated one is recomputed when it comes up
    queue = sorted(((gain(i), i) for i in range(len(lines)) if held[i]), reverse=True)
    while queue:
        value, i = queue.pop(0)
        now = gain(i)
        if queue and now < value and now < queue[0][0]:
            place = next((n for n, q in enumerate(queue) if q[0] <= now), len(queue))
            queue.insert(place, (now, i))
            continue
        if now <= 0:
            break
        if len(lines[i]) + 1 <= left:
            left -= len(lines[i]) + 1
            covered |= held[i]
            chosen.append(i)
    return "\n".join(lines[i] for i in sorted(chosen))


def keyword_soup(case: Case, max_chars: int) -> str:
    """The entities most likely to be needed, as a bare list: what must not win."""
    view = build_view(case)
    ranked = sorted(
        view.scores.items(),
        key=lambda s: (-WEIGHTS[s[0].kind] * s[1] / (len(s[0].value) + 2), s[0]),
    )
    kept: list[str] = []
    left = max_chars
    for entity, _ in ranked:
        if len(entity.value) + 2 > left:
            break
        kept.append(entity.value)
        left -= len(entity.value) + 2
    return ", ".join(kept)


def summary_cut(case: Case, max_chars: int) -> str:
    """The client's own summary, cut to the same size: what equal tokens would have told."""
    text = case.summary or ""
    at = text.find("Summary:")
    return (text[at:] if at >= 0 else text)[:max_chars]


def summary_best_part(case: Case, max_chars: int) -> str:
    """The stretch of the summary that holds most of the need, chosen with foresight.

    An upper bound for the summary at equal size, so that a comparison cannot be blamed on where
    the summary was cut.
    """
    if case.future is None or not case.summary:
        return ""
    knowledge, needed = case.future.knowledge, set(case.future.need.entities)
    lines = case.summary.splitlines()
    held = [knowledge.text_entities(line) & needed for line in lines]
    best, best_value = (0, 0), -1.0
    for start in range(len(lines)):
        size, inside, end = 0, set[Entity](), start
        while end < len(lines) and size + len(lines[end]) + 1 <= max_chars:
            size += len(lines[end]) + 1
            inside |= held[end]
            end += 1
        value = sum(WEIGHTS[e.kind] for e in inside)
        if value > best_value:
            best, best_value = (start, end), value
    return "\n".join(lines[best[0] : best[1]])


def _dialogue(case: Case) -> list[tuple[str, str]]:
    pieces = build_view(case).text.reading.pieces
    return [(p.source, p.text) for p in pieces if p.source in (USER, ASSISTANT)]


def _lines(case: Case, sources: tuple[str, ...]) -> list[str]:
    """Distinct lines of some sources, neither trivial nor endless, in order."""
    found: dict[str, None] = {}
    for piece in build_view(case).text.reading.pieces:
        if piece.source in sources:
            for line in piece.text.splitlines():
                text = line.strip()
                if SHORTEST_LINE <= len(text) <= LONGEST_LINE:
                    found[text] = None
    return list(found)


def _fill(lines: Iterable[str], max_chars: int) -> str:
    """Lines in the given order while they fit."""
    kept: list[str] = []
    left = max_chars
    for line in lines:
        if len(line) + 1 <= left:
            kept.append(line)
            left -= len(line) + 1
        elif left < SHORTEST_LINE:
            break
    return "\n".join(kept)
