"""Must-know: the facts that an agent has to have after a compaction, and whether a text tells them.

The annotations are read from a folder. A language model wrote them, in one pass, after reading the
whole session and what came after; no person checked them. So briefs are compared with each other
on the same compactions, and less with the summary.

A text tells a fact when a stretch of 320 characters holds at least 70 % of its telling words. A
trap is an outdated or false statement; a line tells it as true when it holds 70 % of its words and
does not mark them as past.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WINDOW_CHARS = 320
# A word just before the first one found still belongs to the stretch.
LEAD_CHARS = 8
MIN_KEYWORD_SHARE = 0.7

_PAST = re.compile(
    r"supersed|correct|withdrawn|no longer|replaced|was:|done\b|complete|finished|cancel|pass"
    r"|resolved|fixed|took back|taken back|earlier|before that|dropped|rejected|later"
    r"|not to be redone",
    re.IGNORECASE,
)

Words = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Fact:
    kind: str
    must: int
    text: str
    words: Words
    in_summary: bool


@dataclass(frozen=True, slots=True)
class Trap:
    text: str
    words: Words


@dataclass(frozen=True, slots=True)
class Gold:
    """One annotated compaction."""

    session: str
    boundary: str
    repo: str
    facts: tuple[Fact, ...]
    traps: tuple[Trap, ...]


def read_gold(folder: Path) -> list[Gold]:
    found = []
    for path in sorted(folder.glob("*.gold.json")):
        one = json.loads(path.read_text("utf-8"))
        facts = tuple(
            Fact(
                f["kind"], int(f["must"]), f.get("text") or "", parse_keywords(f["words"]),
                f["in_summary"] == "yes",
            )
            for f in one["facts"]
        )  # fmt: skip
        traps = tuple(Trap(t.get("text") or "", parse_keywords(t["words"])) for t in one["traps"])
        found.append(Gold(one["session"], one["boundary"], one["repo"], facts, traps))
    return found


def parse_keywords(given: Sequence[str]) -> Words:
    """Telling words, each as its alternatives."""
    return tuple(tuple(word.lower().split("|")) for word in given)


def contains_keywords(telling: Words, text: str) -> bool:
    """Whether a lower-case text holds enough of the words, anywhere."""
    return sum(any(a in text for a in word) for word in telling) >= MIN_KEYWORD_SHARE * len(telling)


class Reader:
    """One text, asked for many facts. Where a word stands is looked up once."""

    def __init__(self, text: str) -> None:
        self.lines = [line.lower() for line in text.split("\n") if line.strip()]
        self.text = "\n".join(self.lines)
        self._places: dict[str, list[int]] = {}

    def _places_of(self, word: str) -> list[int]:
        known = self._places.get(word)
        if known is None:
            known = self._places[word] = []
            at = self.text.find(word)
            while at >= 0:
                known.append(at)
                at = self.text.find(word, at + 1)
        return known

    def tells(self, telling: Words) -> bool:
        enough = MIN_KEYWORD_SHARE * len(telling)
        placed = [[(a, self._places_of(a)) for a in word if a] for word in telling]
        always = sum("" in word for word in telling)
        if always + sum(any(p for _, p in word) for word in placed) < enough:
            return False
        for start in sorted({i for word in placed for _, places in word for i in places}):
            low, high = max(0, start - LEAD_CHARS), start + WINDOW_CHARS
            found = always
            for word in placed:
                found += any(_inside(a, places, low, high) for a, places in word)
            if found >= enough:
                return True
        return False

    def states_as_true(self, trap: Trap) -> str:
        """The line that tells a trap as true, or nothing."""
        for line in self.lines:
            if contains_keywords(trap.words, line) and not _PAST.search(line):
                return line
        return ""


def _inside(word: str, places: list[int], low: int, high: int) -> bool:
    at = bisect_left(places, low)
    return at < len(places) and places[at] + len(word) <= high


@dataclass(frozen=True, slots=True)
class MustKnowScore:
    """What one text tells of one annotated compaction, in weight."""

    boundary: str
    session: str
    repo: str
    weight: int
    told: int
    in_summary: int
    together: int
    lost: int
    lost_told: int
    traps: int
    traps_told: int
    chars: int
    kinds: dict[str, tuple[int, int]]
    missed: tuple[str, ...]
    trapped: tuple[str, ...]


def score_must_know(gold: Gold, text: str) -> MustKnowScore:
    reader = Reader(text)
    kinds: dict[str, tuple[int, int]] = {}
    weight = told = together = in_summary = lost = lost_told = 0
    missed = []
    for fact in gold.facts:
        known = reader.tells(fact.words)
        weight += fact.must
        told += fact.must * known
        in_summary += fact.must * fact.in_summary
        together += fact.must * (known or fact.in_summary)
        if not fact.in_summary:
            lost += fact.must
            lost_told += fact.must * known
        all_of, got = kinds.get(fact.kind, (0, 0))
        kinds[fact.kind] = (all_of + fact.must, got + fact.must * known)
        if not known:
            words_ = " ".join("|".join(w) for w in fact.words)
            lost_mark = "" if fact.in_summary else ", lost by the summary"
            missed.append(f"{fact.kind} {fact.must}{lost_mark}: {fact.text} [{words_}]")
    trapped = [
        f"{trap.text} << {line}" for trap in gold.traps if (line := reader.states_as_true(trap))
    ]
    return MustKnowScore(
        gold.boundary, gold.session, gold.repo, weight, told, in_summary, together, lost,
        lost_told, len(gold.traps), len(trapped), len(text), kinds, tuple(missed), tuple(trapped),
    )  # fmt: skip
