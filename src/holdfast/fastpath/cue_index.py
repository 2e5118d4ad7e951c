"""What a session knows, by the words it is said in: a file that a fast hook can search.

Written whole after a compaction, where nobody waits (`session.cues`), and read in place: a search
touches the words that are asked for and the few passages that win, never the whole, so it costs
the same behind any history. Imported by the fast hooks: nothing but `os` and the `fastpath`.

    line 1           "holdfast-cues 2", what the file was made for, then sizes of the sections
    words            sorted lines "word weight start count", found by bisection
    postings         4 bytes each: passage number and how much the word says of it
    places           8 bytes each: where a passage starts in the texts, and how long it is
    texts            the passages as they are shown, the first letter for the speaker

A word is one of `split_words`, or a key that a whole thing is found by: `command_key`,
`program_key`, `error_key`. `RAREST` has no passages: it weighs what a name weighs that one passage
alone has, so that "enough" means the same in an index of any size.
"""

from __future__ import annotations

import os

from holdfast.fastpath.pending_texts import checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_HEADER = "holdfast-cues 2"
MAX_LINE_CHARS = 600
MAX_ASKED_WORDS = 48
MAX_POSTINGS = 4_000  # that one search looks at, those of the rarest words first
MAX_CANDIDATES = 40
WORD_WEIGHT = 100  # of a word, times the logarithm of how rare it is
RAREST = "*"
# What a passage has to share with what is asked, in tenths of the rarest name's weight; or this
# share of all that is asked where that is less, but no single common word; of a long text some.
MIN_TENTHS = 9
LEAST_TENTHS = 4
ENOUGH_SHARE = 60  # per cent
LEAST_SHARE = 15
NEW_WORDS = 0.4  # share of words that a passage must add to those before it
SECTIONS = ("words", "postings", "places", "texts")
_SHARED = 1 << 40  # a score carries above this the weight of the words that matched


class CueIndex:
    """An open index. `find` answers with passages, best first."""

    __slots__ = ("_file", "_starts", "built", "passages")

    def __init__(self, path: str) -> None:
        """Raises OSError where there is none, ValueError where the file is not ours."""
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            self.built, sizes, start = _parse_header(os.pread(self._file, 300, 0))
        except ValueError:
            os.close(self._file)
            raise
        self._starts = {}
        for name, size in zip(SECTIONS, sizes, strict=True):
            self._starts[name] = (start, size)
            start += size
        self.passages = sizes[2] // 8

    def close(self) -> None:
        os.close(self._file)

    def section(self, name: str, start: int = 0, size: int = -1) -> bytes:
        first, length = self._starts[name]
        return os.pread(self._file, length - start if size < 0 else size, first + start)

    def look_up(self, word: str) -> tuple[int, int, int] | None:
        """(weight, start, count) of a word's postings."""
        key = word.encode("utf-8", "replace")
        low, high = 0, self._starts["words"][1]
        while low < high:
            middle = (low + high) // 2
            begin = max(low, middle - 128)
            page = self.section("words", begin, min(high - begin, 512))
            cut = 0 if begin == low else page.find(b"\n") + 1
            end = page.rfind(b"\n")
            lines = page[cut:end].split(b"\n") if end > cut else []
            if not lines:
                return None
            if key < lines[0].partition(b" ")[0]:
                high = begin + cut
            elif key > lines[-1].partition(b" ")[0]:
                low = begin + end + 1
            else:
                for line in lines:
                    found, _, numbers = line.partition(b" ")
                    if found == key:
                        weight, start, count = numbers.split(b" ")
                        return int(weight), int(start), int(count)
                return None
        return None

    def find(
        self, asked: str, tenths: int = MIN_TENTHS, least: int = LEAST_TENTHS
    ) -> list[tuple[int, str]]:
        """(passage number, text) of what shares words of enough weight, best first."""
        words = list(dict.fromkeys(split_words(asked[:4_000])))[:MAX_ASKED_WORDS]
        entries = [entry for entry in map(self.look_up, words) if entry is not None]
        entries.sort(key=lambda entry: entry[2])
        rarest, total = self.look_up(RAREST), sum(entry[0] for entry in entries)
        tenth = rarest[0] // 10 if rarest else 0
        enough = min(tenths * tenth, total * ENOUGH_SHARE // 100)
        enough = max(enough, least * tenth, total * LEAST_SHARE // 100)
        scores: dict[int, int] = {}
        left = MAX_POSTINGS
        for weight, start, count in entries:
            left -= count
            if left < 0:
                break
            for posting in self._postings(start, count):
                passage = posting >> 8
                score = weight * ((posting & 0xFF) + _SHARED)
                scores[passage] = scores.get(passage, 0) + score
        fitting = [
            (score % _SHARED, number)
            for number, score in scores.items()
            if score >= enough * _SHARED
        ]
        fitting.sort(reverse=True)
        return [(number, self.text(number)) for _, number in fitting[:MAX_CANDIDATES]]

    def find_key(self, key: str) -> list[int]:
        """The passages of one key, in their order."""
        entry = self.look_up(key)
        if entry is None or entry[2] > MAX_POSTINGS:
            return []
        return [posting >> 8 for posting in self._postings(entry[1], entry[2])]

    def text(self, number: int) -> str:
        start, size = memoryview(self.section("places", number * 8, 8)).cast("I")
        return self.section("texts", start, size).decode("utf-8", "replace")

    def _postings(self, start: int, count: int) -> memoryview:
        return memoryview(self.section("postings", start * 4, count * 4)).cast("I")


def read_built(path: str) -> str:
    """What the index there was made for; "" where there is none."""
    try:
        with open(path, "rb") as file:
            return _parse_header(file.read(300))[0]
    except (OSError, ValueError):
        return ""


def _parse_header(beginning: bytes) -> tuple[str, list[int], int]:
    header = beginning.partition(b"\n")[0].decode("ascii", "replace")
    words = header.split(" ")
    if " ".join(words[:2]) != FILE_HEADER or len(words) != 3 + len(SECTIONS):
        raise ValueError(header)
    return words[2], [int(word) for word in words[3:]], len(header) + 1


def command_key(command: str) -> str:
    return f"${checksum(' '.join(command.split())[:300]):016x}"


def program_key(command: str) -> str:
    """The program and what it is asked to do: other forms of the same command share it."""
    words = [word for word in command.split() if "=" not in word]
    for place, word in enumerate(words):
        if word == "&&" and words[0] == "cd":
            words = words[place + 1 :]
            break
    asked = next((word for word in words[1:] if word.isalnum()), "")
    return f"${words[0].rpartition('/')[2]}+{asked}"[:60] if words else "$"


def error_key(line: str) -> str:
    """An error's line without what differs from one time to the next."""
    plain = "".join(" " if c.isdecimal() else c for c in line.lower())
    return f"!{checksum(' '.join(plain.split())[:160]):016x}"


ERROR_SIGNS = ("error", "fail", "not found", "denied", "refused", "no such", "cannot", "invalid")


def find_error_line(output: str) -> str:
    """The last line that speaks of an error; "" where none does."""
    for line in reversed(output[-8_000:].splitlines()):
        lowered = line.lower()
        if len(line.strip()) > 12 and any(sign in lowered for sign in ERROR_SIGNS):
            return line.strip()[:160]
    return ""


def choose_passages(found: list[tuple[int, str]], room: int) -> list[tuple[int, str]]:
    """As many as fit, each adding words that those before it do not have, in their order."""
    taken: list[tuple[int, str]] = []
    said: set[str] = set()
    for number, text in found:
        words = set(split_words(text))
        if len(text) + 3 > room or len(words - said) < NEW_WORDS * len(words):
            continue
        taken.append((number, text))
        said |= words
        room -= len(text) + 3
        if room < 120:
            break
    return sorted(taken)


STOP_WORDS = frozenset(
    "a an the of to in on for and or is are was were be been do does did what which who whom whose"
    " where when how why can could may might should shall will would must i my me we our you your"
    " it its this that these those there here with without from by at as into than then so if not"
    " no yes any all some one two still already have has had get got now new used use uses using"
    " about after before next over under up down out off per via just only also more most other"
    " another same such let please ok okay yet too very like make made go going continue".split()
)
MAX_WORD_CHARS = 60
MAX_PARTS = 12
MAX_WORDS = 400  # words of one text that are looked at
ENDINGS = ("tion", "ment", "ing", "ed", "es", "ly", "s")
JOINTS = "./_:-"

_KEPT = frozenset("./_:-#@+")
_PLAIN = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in _KEPT}
_PLAIN.update(dict.fromkeys(map(ord, "“”‘’«»„…—–、。，；：？！（）「」"), " "))
_PARTED = dict.fromkeys(map(ord, JOINTS + "#@+"), " ")


def split_words(text: str) -> Iterator[str]:
    """Each word that counts, in order; a word may come more than once.

    Plain string methods: a regular expression would cost a prompt's hook more than the search.
    Paths, options and dotted names count whole and by their parts, endings are cut to a stem, and
    scripts without spaces are cut into pairs of characters.
    """
    left = MAX_WORDS
    for raw in text.lower().replace("'s ", " ").translate(_PLAIN).split():
        left -= 1
        if left < 0:
            return
        word = raw.strip("./:-#@+")
        if not word:
            continue
        if not word.isascii() and word[0] >= "\u0e00":
            yield from _character_pairs(word)
            continue
        if len(word) <= MAX_WORD_CHARS and word not in STOP_WORDS:
            yield stem_word(word)
        parts = word.translate(_PARTED).split()
        if len(parts) > 1:
            for part in parts[-MAX_PARTS:]:  # of a long path its end
                if 2 < len(part) <= MAX_WORD_CHARS and part not in STOP_WORDS:
                    yield stem_word(part)


def stem_word(word: str) -> str:
    if len(word) > 4 and word.isalpha():
        for ending in ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) > 2:
                word = word[: -len(ending)]
                break
        if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "ls":
            return word[:-1]  # committed, commits
    return word[:-1] if len(word) > 3 and word[-1] == "e" and word.isalpha() else word


def _character_pairs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    for start in range(len(word) - 1):
        yield word[start : start + 2]
