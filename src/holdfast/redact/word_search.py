"""Finds many words in one text: those that have a letter in common share a search for it."""

import re
from collections.abc import Iterable, Iterator

from holdfast.redact.token_shapes import compile_once

# The letters from which to search for a word. A search costs 0.3 ms per MB, and the more the more
# often its letter occurs; so few and rare ones.
_LETTERS = "(<@xvkwb6pghul"


class WordSearch:
    """Where any of these words stands in a text."""

    __slots__ = ("_by_letter",)

    def __init__(self, words: Iterable[str]) -> None:
        by_letter: dict[str, list[tuple[int, str]]] = {}
        for word in dict.fromkeys(words):
            letter = next((letter for letter in word if letter >= "\x80"), "")
            # Between two other letters of the word it is told from most of its kind at once.
            letter = letter or "(" * word.endswith("(")
            letter = letter or next((letter for letter in _LETTERS if letter in word[1:-1]), word)
            at = max(0, word.find(letter, 1))
            by_letter.setdefault(letter, []).append((at, word))
        self._by_letter = [
            (letter, _around(letter, words), words) for letter, words in by_letter.items()
        ]

    def hits(self, text: str) -> Iterator[tuple[int, str]]:
        """Where a word begins, and the word; not in order."""
        for letter, source, words in self._by_letter:
            if letter not in text:
                continue  # hardly any text has all scripts
            for match in compile_once(source).finditer(text):
                for before, word in words:
                    if text.startswith(word, match.start() - before):
                        yield match.start() - before, word


def _around(letter: str, words: list[tuple[int, str]]) -> str:
    if letter == words[0][1]:
        return re.escape(letter)
    behind: dict[str, list[str]] = {}
    for at, word in words:
        sign, rest = word[at + 1 : at + 2], word[at + 2 :]
        found = f"(?<={re.escape(word[: at + 2])}){re.escape(rest)}"
        behind.setdefault(sign, []).append(found)
    firsts = "".join(re.escape(word[at - 1]) for at, word in words if at)
    before = f"(?<=[{firsts}]{re.escape(letter)})" if all(at for at, _ in words) else ""
    tails = "|".join(f"{re.escape(sign)}(?:{'|'.join(found)})" for sign, found in behind.items())
    after = "" if "" in behind else f"(?=[{''.join(map(re.escape, behind))}])"
    return f"{re.escape(letter)}{after}{before}(?:{tails})"
