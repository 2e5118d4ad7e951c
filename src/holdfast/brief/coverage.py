"""What a text carries: whether a fact or a statement stands in it, in whatever words around it.

Facts are asked for by kind (`covers_fact`): a path by its end, an exact value by itself, words by
how many of them stand together. Strict on the side of telling again: a fact wrongly taken for
carried is lost, one wrongly taken for lost costs a line. A statement is carried as far as what it
tells, by the weight of its words, stands within one stretch of the text. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import fsum

from holdfast.brief.lines import content_words
from holdfast.state.facts import Fact
from holdfast.state.prose import split_sentences, subject_words

WINDOW_CHARS = 400  # characters of a text that count as one place for a statement
# Of the plain words of a sentence, how many must stand in one place of the summary. A rule needs
# nearly all of them: what a paraphrase drops is the very thing it forbade.
MIN_WORD_SHARE = 0.6
MIN_WORDS = 3
MIN_RULE_WORD_SHARE = 0.8
# Names that many folders have: told apart by the folder only.
COMMON_NAMES = frozenset(
    "index main mod lib app setup config types utils test tests conftest __init__ readme".split()
)


class TextCoverage:
    """A text to look for facts and statements in, prepared once for many questions."""

    def __init__(self, text: str) -> None:
        self._raw = text
        self.text = " ".join(text.lower().split())

    @cached_property
    def _sentences(self) -> list[frozenset[str]]:
        """The plain words of each place. Two sentences side by side count as one: summaries break
        sentences in lists."""
        found = [subject_words(sentence) for sentence in split_sentences(self._raw, 2000)]
        return [a | b for a, b in zip(found, [*found[1:], frozenset()], strict=False)]

    @cached_property
    def _windows(self) -> list[frozenset[str]]:
        """The words of each stretch, names and numbers whole."""
        step = WINDOW_CHARS // 2
        starts = range(0, max(1, len(self._raw) - step), step)
        return [content_words(self._raw[start : start + WINDOW_CHARS]) for start in starts]

    def contains(self, text: str) -> bool:
        """Whether the very words stand in it."""
        return " ".join(text.lower().split()) in self.text

    def covered_share(self, words: frozenset[str], weights: Mapping[str, float]) -> float:
        """How much of these words, by weight, stands in one place of it, 0 to 1."""
        total = fsum(weights.get(word, 1.0) for word in words)  # exact: a set has no order
        if not total:
            return 1.0
        most = max(fsum(weights.get(word, 1.0) for word in words & one) for one in self._windows)
        return most / total

    def contains_value(self, value: str) -> bool:
        """The exact value, not as a part of a longer one."""
        value = " ".join(value.lower().split())
        at = self.text.find(value) if value else -1
        while at >= 0:
            before, after = self.text[at - 1 : at] if at else "", self.text[at + len(value) :][:1]
            inner = value[0].isalnum() and (before.isalnum() or before == "_")
            outer = value[-1].isalnum() and (after.isalnum() or after == "_")
            if not inner and not outer:
                return True
            at = self.text.find(value, at + 1)
        return False

    def covers_sentence(self, sentence: str, share: float) -> bool:
        """Whether enough of the sentence's words stand together in one place."""
        if self.contains_value(sentence):
            return True
        wanted = subject_words(sentence)
        if len(wanted) < MIN_WORDS:
            return False  # one or two words stand together everywhere: "Task B"
        return any(len(wanted & place) >= share * len(wanted) for place in self._sentences)


def covers_fact(said: TextCoverage | str, fact: Fact) -> bool:
    if isinstance(said, str):
        said = TextCoverage(said)
    if fact.kind == "file":
        return said.contains_value(_path_end(fact.text))
    if fact.kind == "identifier":
        return said.contains_value(fact.text.partition(" ")[2])
    if fact.kind == "test":
        return _tells_test(said, fact)
    if fact.kind == "rule":
        return said.covers_sentence(fact.text, MIN_RULE_WORD_SHARE)
    if fact.kind == "request":
        parts = split_sentences(fact.text) or [fact.text]
        covered = sum(said.covers_sentence(part, MIN_WORD_SHARE) for part in parts)
        return covered >= MIN_WORD_SHARE * len(parts)
    return said.covers_sentence(fact.text, MIN_WORD_SHARE)


def _path_end(path: str) -> str:
    parts = path.rstrip("/").split("/")
    name = parts[-1]
    stem = name.partition(".")[0].lower()
    return "/".join(parts[-2:]) if stem in COMMON_NAMES and len(parts) > 1 else name


def _tells_test(said: TextCoverage, fact: Fact) -> bool:
    """By the names that fail: a command alone says nothing about what is red."""
    names = [part.strip() for part in fact.detail.partition(";")[2].split(",") if part.strip()]
    if not names:
        return said.covers_sentence(fact.text, MIN_WORD_SHARE)
    return all(said.contains_value(name.rpartition("::")[2] or name) for name in names[:3])
