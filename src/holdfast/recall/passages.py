"""Which stretch of what a search found answers it best, and what followed it.

The store finds what may answer; here its texts are cut into passages and weighed against each
other: those with every word first, then by how rare the words are that they share with the
question, later ones a little before earlier ones. What says little that is new beside better
passages stands behind them. The best are shown with what came next: who asks where something was
said mostly wants to know what came of it. The very best is shown with what else its session has on
the question.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from holdfast.fastpath.cue_index import STOP_WORDS, split_words
from holdfast.records import NamedTuple
from holdfast.session.cues import MAX_MESSAGES, OLDEST_WEIGHT, USUAL_WORDS, WHOLE, cut_passages
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Hit, Message
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
STANDING_WEIGHT = 1.1
FACT_WEIGHT = 0.5
CLOSED_FACT_WEIGHT = 0.4
FOLLOWED_CHARS = 300  # of what came next, for the best hits
MAX_FOLLOWED = 3
MATTER_CHARS = 1_600  # of the first hit, with all that is shown below it
MAX_ABOUT_FILE = 6  # edits of a file, and as many words about it
ANNOUNCEMENT_WEIGHT = 0.4  # "Let me read the file"
NEW_WORDS = 0.4  # share of words that a passage must add to better ones
_ANNOUNCES = ("let me ", "now let me ", "i'll ", "now i'll ", "i will ", "first, let me ")


class Passage(NamedTuple):
    hit: Hit
    text: str
    has_all: bool = False  # every word that was asked for stands in it


class Following(NamedTuple):
    """What came right after a passage, in its order."""

    speaker: str
    text: str


class Matter(NamedTuple):
    """A hit as it is shown."""

    passage: Passage
    following: list[Following]
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


def _weigh_fact(fact: Fact) -> float:
    if fact.status != OPEN:
        return CLOSED_FACT_WEIGHT
    return STANDING_WEIGHT if fact.kind in STANDING else FACT_WEIGHT


def _describe_fact(fact: Fact) -> str:
    # Of a file, the names in it say little to a reader.
    detail = fact.detail.partition(";")[0] if fact.kind == "file" else fact.detail
    return f"{fact.text} ({detail.removesuffix(')').strip()})" if detail else fact.text


def _cut_hit(hit: Hit) -> Iterator[tuple[str, float]]:
    if hit.fact is not None:
        yield _describe_fact(hit.fact), _weigh_fact(hit.fact)
    elif hit.message is not None:
        weight = SPEAKER_WEIGHTS.get(hit.message.speaker, 1.0)
        for piece in _cut_message(hit.message):
            announces = piece.lower().startswith(_ANNOUNCES)
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


def gather_matters(found: Sequence[Passage], conversation: Conversation) -> Iterator[Matter]:
    """The hits in their order, each text shown once."""
    shown: set[str] = set()
    for number, one in enumerate(found):
        if one.text in shown:
            continue
        following = (
            conversation.list_following(one, FOLLOWED_CHARS) if number < MAX_FOLLOWED else []
        )
        shown.update(said.text for said in following)
        used = len(one.text) + sum(len(said.text) for said in following)
        room = 0 if number else MATTER_CHARS - used
        also = []
        for other in found[1:] if room else ():
            same = other.hit.session_id == one.hit.session_id
            if same and other.text not in shown and len(other.text) <= room:
                also.append(other)
                shown.add(other.text)
                room -= len(other.text)
        yield Matter(one, following, also)


class Conversation:
    """What was said and done in sessions, in its order; each is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[str, Sequence[Message]] = {}

    def list_following(self, passage: Passage, room: int) -> list[Following]:
        """What came after a passage, as far as `room` characters go."""
        hit = passage.hit
        messages = self._read_messages(hit.session_id)
        row = hit.message.row if hit.message else hit.fact.at.row if hit.fact else ""
        place = next((n for n, one in enumerate(messages) if row and one.row == row), None)
        if place is None:
            return []
        found: list[Following] = []
        own = list(_cut_message(messages[place]))
        reached = own.index(passage.text) + 1 if passage.text in own else 1 if hit.message else 0
        for number, message in enumerate(messages[place:]):
            for text in own[reached:] if number == 0 else _cut_message(message):
                room -= len(text) + 1
                if room < 0:
                    return found
                found.append(Following(message.speaker, text))
        return found

    def list_about_file(self, session_id: str, path: str) -> list[Following]:
        """What was done to a file and said of it, the latest few of each, in their order."""
        name = path.rpartition("/")[2]
        found: dict[str, list[tuple[int, Following]]] = {"edited": [], "said": []}
        for number, message in enumerate(self._read_messages(session_id)):
            edited, _, change = message.text.partition(": ")
            if message.speaker == "edited" and edited.endswith(path):
                found["edited"].append((number, Following("edited", change)))
            elif message.speaker in ("user", "agent") and name in message.text:
                pieces = (piece for piece in _cut_message(message) if name in piece)
                found["said"] += [(number, Following(message.speaker, one)) for one in pieces]
        latest = [one for kind in found.values() for one in kind[-MAX_ABOUT_FILE:]]
        return [one for _, one in sorted(latest, key=lambda item: item[0])]

    def _read_messages(self, session_id: str) -> Sequence[Message]:
        if session_id not in self._read:
            self._read[session_id] = self._store.messages(session_id, MAX_MESSAGES)
        return self._read[session_id]


def _cut_message(message: Message) -> Iterator[str]:
    if message.speaker in WHOLE:
        yield message.text
    else:
        yield from cut_passages(message.text, PASSAGE_CHARS)
