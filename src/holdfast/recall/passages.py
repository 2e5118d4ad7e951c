"""Which stretch of what a search found answers it best, and what followed it.

The store finds what may answer; here its texts are cut into passages and weighed against each
other: those with every word first, then by how rare the words are that they share with the
question, later ones a little before earlier ones. What says little that is new beside better
passages stands behind them. The best is shown with what else its session has on the question.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from holdfast.fastpath.cue_index import STOP_WORDS, split_words
from holdfast.records import NamedTuple
from holdfast.session.cues import (
    ANNOUNCEMENTS,
    MAX_MESSAGES,
    OLDEST_WEIGHT,
    USUAL_WORDS,
    WHOLE,
    cut_passages,
)
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Hit, Message
from holdfast.store.search_query import CLOSED_FACT_WEIGHT
from holdfast.store.sql_store import Store

MAX_CANDIDATES = 150  # hits of the store that are looked at
MAX_CANDIDATES_OF_WORD = 40
MAX_TELLING_WORDS = 12
PASSAGE_CHARS = 400
# Questions are asked of what came of something: the user's words, mostly what was wanted, have no
# lead here, and what an earlier summary gathered has one.
SPEAKER_WEIGHTS = {"failed": 1.1, "summary": 1.2, "subagent": 0.7, "task": 0.8, "edited": 0.5}
# What the user or a note settled; any other fact is made of words that are found themselves.
STANDING = frozenset(("rule", "hold", "decision", "note"))
MATTER_CHARS = 1_600  # of the first hit, with all that is shown below it
MAX_ABOUT_FILE = 6  # edits of a file, and as many words about it
ANNOUNCEMENT_WEIGHT = 0.4  # "Let me read the file"
NEW_WORDS = 0.4  # share of words that a passage must add to better ones


class Passage(NamedTuple):
    hit: Hit
    text: str
    has_all: bool = False  # every word that was asked for stands in it


class Matter(NamedTuple):
    """A hit as it is shown."""

    passage: Passage
    also: list[Passage]  # of the same session, best first; not shown again as hits of their own


def search_passages(
    store: Store, query: str, *, session_id: str = "", project: str = "", kind: str = ""
) -> list[Passage]:
    """Those of all sessions, of a project or of one session that answer best, the best first."""
    find = partial(store.search, session_id=session_id, project=project, kind=kind)
    # With every word first; where those are few, with any of them.
    hits = list(find(query, limit=MAX_CANDIDATES))
    for word in list_telling_words(query) if len(hits) < MAX_CANDIDATES else ():
        hits += find(word, limit=MAX_CANDIDATES_OF_WORD)
    return rank_passages(query, hits)


def list_telling_words(query: str) -> list[str]:
    """The words of a question without those that stand everywhere, as typed."""
    typed = dict.fromkeys(word.strip("?!.,;:'\"()") for word in query.split())
    return [word for word in typed if word and word.lower() not in STOP_WORDS][:MAX_TELLING_WORDS]


def rank_passages(query: str, hits: Sequence[Hit]) -> list[Passage]:
    """Best first; what shares no whole word with the query comes last, as the store found it."""
    asked = frozenset(split_words(query))
    options = [word.lower() for word in query.split() if word[:1] == "-" and word[1:2].isalnum()]
    found = _list_stretches(hits)
    counted = [Counter(split_words(text)) for _, text, _ in found]
    spread = Counter(word for words in counted for word in words.keys() & asked)
    rarity = {word: math.log(1 + len(found) / (1 + spread[word])) for word in asked}
    scored = []
    for (hit, text, weight), words in zip(found, counted, strict=True):
        length = 0.25 + 0.75 * (words.total() or 1) / USUAL_WORDS
        shared = words.keys() & asked
        # Exact, because a set has another order in every process.
        score = weight * math.fsum(
            rarity[word] * words[word] * 2.2 / (words[word] + 1.2 * length) for word in shared
        )
        lowered = f" {text.lower()} " if options else ""
        whole = len(shared) == len(asked) and all(f" {one} " in lowered for one in options)
        scored.append((whole and bool(asked or options), score, Passage(hit, text, whole), words))
    scored.sort(key=lambda one: one[:2], reverse=True)
    return _without_repeats(scored)


def _list_stretches(hits: Sequence[Hit]) -> list[tuple[Hit, str, float]]:
    """What can be shown of the hits, and its weight: later ones have a little more."""
    said = "\n".join(_normalise_text(hit.message.text) for hit in hits if hit.message)
    kept = [hit for hit in hits if not _is_said(hit.fact, said)]
    moments = {time: number for number, time in enumerate(sorted({_time_of(hit) for hit in kept}))}
    return [
        (
            hit,
            text,
            weight * (OLDEST_WEIGHT + (1 - OLDEST_WEIGHT) * moments[_time_of(hit)] / len(kept)),
        )
        for hit in kept
        for text, weight in _cut_hit(hit)
    ]


def _is_said(fact: Fact | None, said: str) -> bool:
    """Whether a message says the same and more: its own words open as well, with what followed."""
    return fact is not None and fact.kind not in STANDING and _normalise_text(fact.text) in said


def _normalise_text(text: str) -> str:
    return " ".join(text.split()).lower().strip("…")  # a fact may be cut where its message is not


def _time_of(hit: Hit) -> str:
    return hit.fact.at.time if hit.fact else hit.message.time if hit.message else ""


def _describe_fact(fact: Fact) -> str:
    # Of a file, the names in it say little to a reader.
    detail = fact.detail.partition(";")[0] if fact.kind == "file" else fact.detail
    return f"{fact.text} ({detail.removesuffix(')').strip()})" if detail else fact.text


def _cut_hit(hit: Hit) -> Iterator[tuple[str, float]]:
    if hit.fact is not None:
        yield _describe_fact(hit.fact), CLOSED_FACT_WEIGHT if hit.fact.status != OPEN else 1.0
    elif hit.message is not None:
        weight = SPEAKER_WEIGHTS.get(hit.message.speaker, 1.0)
        for piece in _cut_message(hit.message):
            announces = piece.lower().startswith(ANNOUNCEMENTS)
            yield piece, weight * (ANNOUNCEMENT_WEIGHT if announces else 1.0)


def _without_repeats(scored: list[tuple[bool, float, Passage, Counter[str]]]) -> list[Passage]:
    """Each text once; what says little beside better ones stands behind what says more."""
    told: set[str] = set()
    shown: set[str] = set()
    taken: list[Passage] = []
    behind: list[Passage] = []
    for _, score, passage, words in scored:
        hit = passage.hit
        source = hit.fact.id if hit.fact else hit.message.row if hit.message else ""
        key = _normalise_text(passage.text) if score else f"{hit.session_id} {source}"
        if key in shown:
            continue
        shown.add(key)
        if not score:
            behind.append(passage._replace(text=hit.snippet))
        elif sum(word not in told for word in words) < NEW_WORDS * len(words):
            behind.append(passage)
        else:
            told.update(words)
            taken.append(passage)
    return taken + behind


def gather_matters(found: Sequence[Passage]) -> Iterator[Matter]:
    """The hits in their order, each text shown once."""
    shown: set[str] = set()
    for number, one in enumerate(found):
        if one.text in shown:
            continue
        room = 0 if number else MATTER_CHARS - len(one.text)
        also = []
        for other in found[1:] if room else ():
            same = other.hit.session_id == one.hit.session_id
            if same and other.text not in shown and len(other.text) <= room:
                also.append(other)
                shown.add(other.text)
                room -= len(other.text)
        yield Matter(one, also)


def list_about_file(store: Store, session_id: str, path: str) -> list[tuple[str, str]]:
    """What was done to a file and said of it, by whom, the latest few of each, in their order."""
    name = path.rpartition("/")[2]
    found: dict[str, list[tuple[int, str, str]]] = {"edited": [], "said": []}
    for number, message in enumerate(store.messages(session_id, MAX_MESSAGES)):
        edited, _, change = message.text.partition(": ")
        if message.speaker == "edited" and edited.endswith(path):
            found["edited"].append((number, "edited", change))
        elif message.speaker in ("user", "agent") and name in message.text:
            pieces = (piece for piece in _cut_message(message) if name in piece)
            found["said"] += [(number, message.speaker, one) for one in pieces]
    latest = [one for kind in found.values() for one in kind[-MAX_ABOUT_FILE:]]
    return [(who, text) for _, who, text in sorted(latest, key=lambda item: item[0])]


def _cut_message(message: Message) -> Iterator[str]:
    if message.speaker in WHOLE:
        yield message.text
    else:
        yield from cut_passages(message.text, PASSAGE_CHARS)
