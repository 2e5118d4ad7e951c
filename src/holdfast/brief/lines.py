"""Lines: what a brief is made of. How much of each kind may be quoted, how decisions, paths and
commands are shown in a line, and how a text is cut into pieces that can be quoted. Pure.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from holdfast.lazy_regex import lazy_compile
from holdfast.state.decisions import Decision
from holdfast.state.model import State
from holdfast.state.prose import strip_code
from holdfast.text import collapse_whitespace, truncate_line, truncate_words


class Line(NamedTuple):
    text: str
    fact_id: str = ""  # its id, "" for a line that tells none
    below: tuple[str, ...] = ()  # lines of a file that are shown under it


class SizeLimits(NamedTuple):
    """How much of each kind the stated sections may quote; grows with the budget."""

    tight: bool
    request: int  # characters of the last request
    last_words: int  # characters of what the agent said last
    line: int  # characters of an ordinary line
    rules: int
    rule: int
    open_tasks: int
    done_tasks: int
    errors: int
    dead_ends: int
    checks: int
    commits: int
    files: int


# A section: what a state has to say on one subject, the weightiest first.
Section = Callable[[State, SizeLimits], Iterator[Line]]


def size_limits(max_chars: int) -> SizeLimits:
    if max_chars < 3000:
        return SizeLimits(True, max(80, max_chars // 6), 200, 70, 4, 120, 6, 2, 2, 1, 2, 2, 5)
    if max_chars < 5000:
        return SizeLimits(False, 700, 480, 90, 8, 160, 12, 3, 3, 3, 4, 4, 10)
    if max_chars < 7500:
        return SizeLimits(False, 1200, 700, 110, 12, 220, 20, 5, 5, 5, 5, 6, 16)
    wide = max_chars // 8
    return SizeLimits(False, max(1600, wide), 700, 200, 24, 330, 40, 24, 8, 10, 8, 12, 40)


def decision_line(decision: Decision, limit: int) -> str:
    """A decision with its speaker; an answer beside the question, which is the agent's."""
    said = truncate_line(decision.answer, limit)
    if decision.question:
        return f'asked "{truncate_line(decision.question, max(60, limit // 2))}": user "{said}"'
    return f"noted: {said}" if decision.by == "note" else f'{decision.by}: "{said}"'


def shorten_paths(text: str, state: State) -> str:
    for folder in state.session.folders:
        text = text.replace(folder.rstrip("/") + "/", "")
    return text


# Paths as a reader wants them: relative to the work, and under their folder.


def shorten_path(path: str, folders: tuple[str, ...]) -> str:
    """Relative to the topmost working folder it lies in; otherwise as it is.

    The topmost, so that a name means one file: the agent changes its folder as it works.
    """
    path = path.removeprefix("./")
    inside = [
        stem for folder in folders if _stem(folder) and path.startswith(stem := _stem(folder))
    ]
    return path[len(min(inside, key=len)) :] if inside else path


def _stem(folder: str) -> str:
    """The folder as a prefix, "" for the root and what lies right below it."""
    stem = folder.rstrip("/") + "/"
    return stem if stem.count("/") > 2 else ""


def group_by_folder(paths: list[tuple[str, str]], folders: tuple[str, ...]) -> str:
    """Paths with a remark each, a folder that several lie in named once before them."""
    short = [(shorten_path(path, folders), remark) for path, remark in paths]
    top = _common([path for path, _ in short])
    listed = ", ".join(f"{path[len(top) :]}{remark}" for path, remark in short)
    return f"in {top}: {listed}" if top else listed


def _common(paths: list[str]) -> str:
    """The folder that all of them lie in, where naming it once saves something."""
    if len(paths) < 2:
        return ""
    parts = [path.split("/")[:-1] for path in paths]
    shared = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    top = "/".join(shared) + "/" if any(shared) else ""
    return top if len(top) > 6 else ""


# Pieces: how a text is cut into what can be quoted, and the words that a piece tells. A piece is a
# sentence, a line of a list or a short message: small enough to choose by itself, whole enough to
# be understood. Works in any language that marks the end of its sentences.

# Shorter than this nothing is told, longer than that it is cut at a word.
MIN_PIECE_CHARS = 8
MAX_PIECE_CHARS = 320

_END = lazy_compile(r"(?<=[.!?])\s+(?=[^\sa-z])|(?<=[。！？])|\n+")
_BULLET = lazy_compile(r"^(?:[#>]+\s+|[-*•]\s+(?=\S)|\d{1,2}[.)]\s+|\|\s*)")
_HEADING = lazy_compile(r"^(?:#{1,6}\s+\S.*|\*\*[^*]+\*\*:?|__[^_]+__:?)$")
# A heading with fewer telling words only says that something follows: "Summary of the bug".
TELLING_HEADING = 4
# The head of a table only says what its rows tell, and is quoted without them.
_TABLE_HEAD = lazy_compile(r"(?m)^[ \t]*\|[^\n]*\n(?=[ \t]*\|[ \t]*:?-[-| :\t]*$)")
_RULE = lazy_compile(r"^[\s|:+=_*#-]*$")
_WORD = lazy_compile(r"[^\W\d_][\w./:#@-]*\w|#?\d[\w.:-]*|\w{2,}")
# Words of the frame of a sentence, not of what it is about.
_EMPTY = frozenset(
    """the a an and or but if then so of to in on at for with from by as is are was were be been it
    its this that these those i you we they he she my your our their do does did not no yes can
    could should would will shall may might must have has had let me now all any some more most
    also just only into out up down over than there here what which who when where how why one
    use used using new see get got make made need needs like want""".split()
)


@lru_cache(maxsize=4096)  # the same replies are cut for every brief of a session
def split_pieces(text: str) -> tuple[str, ...]:
    """The pieces of a text in order, without list marks, empty headings and fenced code."""
    found = []
    for part in _END.split(_TABLE_HEAD.sub("", strip_code(text))):
        heading = _HEADING.match(part.strip()) is not None
        part = _BULLET.sub("", part.strip()).strip()
        if len(part) < MIN_PIECE_CHARS or _RULE.match(part):
            continue
        if heading and len(content_words(part)) < TELLING_HEADING:
            continue
        found.append(
            part if len(part) <= MAX_PIECE_CHARS else truncate_words(part, MAX_PIECE_CHARS)
        )
    return tuple(found)


@lru_cache(maxsize=4096)
def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a short text, whole and as they stand."""
    return tuple(part for part in _END.split(text) if part)


@lru_cache(maxsize=16384)
def content_words(text: str) -> frozenset[str]:
    """What a piece is about: its words in small letters, names and numbers whole."""
    found = set()
    for word in _WORD.findall(text):
        word = word.lower().strip(".:-/#")
        if word not in _EMPTY and (len(word) > 2 or word.isdigit()):
            found.add(word)
    return frozenset(found)


def format_command(text: str, limit: int) -> str:
    """A command on one line; where a here-document stood, or at the limit, cut and marked."""
    text = collapse_whitespace(text).replace(" \\ ", " ")  # a line that goes on in the next
    head, here, _ = text.partition("<<")
    if here:
        head = head.rstrip().removesuffix("cat").rstrip().removesuffix('"$(')
        return truncate_words(head, limit - 1).removesuffix("…") + "…"
    return truncate_words(text, limit)


def format_whole_command(text: str, limit: int) -> str:
    """A command that can be run again as it stands; "" where it could only be told cut."""
    shown = format_command(text, limit)
    return "" if shown.endswith("…") else shown
