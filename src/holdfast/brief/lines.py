"""Lines: what a brief is made of. How much of each kind may be quoted, how decisions, paths and
commands are shown in a line, and how a text is cut into pieces that can be quoted. Pure.
"""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
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
        return SizeLimits(True, max(80, max_chars // 6), 200, 70, 24, 200, 6, 2, 2, 1, 2, 2, 5)
    if max_chars < 5000:
        return SizeLimits(False, 1000, 480, 90, 16, 220, 12, 3, 3, 3, 4, 4, 16)
    if max_chars < 7500:
        return SizeLimits(False, 1500, 700, 110, 20, 260, 20, 5, 5, 5, 5, 6, 24)
    wide = max_chars // 4
    return SizeLimits(False, max(1600, wide), 700, 200, 60, 330, 40, 24, 8, 10, 8, 12, 40)


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


def shorten_path(path: str, folders: tuple[str, ...]) -> str:
    """Relative to the topmost working folder it lies in; otherwise as it is.

    The topmost, so that a name means one file: the agent changes its folder as it works.
    """
    path = path.removeprefix("./")
    prefixes = (folder.rstrip("/") + "/" for folder in folders)
    # Neither the root nor a folder right below it is one.
    inside = [one for one in prefixes if one.count("/") > 2 and path.startswith(one)]
    return path[len(min(inside, key=len)) :] if inside else path


def group_by_folder(paths: list[tuple[str, str]], folders: tuple[str, ...]) -> str:
    """Paths with a remark each, a folder that several lie in named once before them."""
    short = [(shorten_path(path, folders), remark) for path, remark in paths]
    top = _common_folder([path for path, _ in short])
    listed = ", ".join(f"{path[len(top) :]}{remark}" for path, remark in short)
    return f"in {top}: {listed}" if top else listed


def _common_folder(paths: list[str]) -> str:
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
# The same for ASCII: it begins with a space, so that `re` skips everything else quickly.
_ASCII_END = lazy_compile(r"\s(?:(?<=[.!?]\s)\s*(?=[^\sa-z])|(?<=\n)\n*)")
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
    for part in _split_at_ends(_TABLE_HEAD.sub("", strip_code(text))):
        heading = _HEADING.match(part.strip()) is not None
        part = _BULLET.sub("", part.strip()).strip()
        if len(part) < MIN_PIECE_CHARS or _RULE.match(part):
            continue
        if heading and len(content_words(part)) < TELLING_HEADING:
            continue
        found.append(truncate_words(part, MAX_PIECE_CHARS))
    return tuple(found)


@lru_cache(maxsize=4096)
def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a short text, whole and as they stand."""
    return tuple(part for part in _split_at_ends(text) if part)


def _split_at_ends(text: str) -> list[str]:
    return (_ASCII_END if text.isascii() else _END).split(text)


@lru_cache(maxsize=16384)
def content_words(text: str) -> frozenset[str]:
    """What a piece is about: its words in small letters, names and numbers whole."""
    if text.isascii():  # the letters of other scripts can become two
        found = _WORD.findall(text.lower())
    else:
        found = [word.lower() for word in _WORD.findall(text)]
    words = {word.strip(".:-/#") for word in found} - _EMPTY
    return frozenset([word for word in words if len(word) > 2 or word.isdigit()])


# What is told before a command: the variables that it uses, the folder that it was run in.
BEFORE_COMMAND = r"(?:cd \S+ && |[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\S*) (?:&& )?)*"


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


MIN_PASTED_LINES = 8
KEPT_PASTED_LINES = 2  # at each end
MIN_PRINTED_SHARE = 0.4  # of the lines from the first that was printed to the last
_DOCUMENT = ("```", "## ", "### ")
MAX_TROUBLE = 3  # lines kept of a paste that speak of trouble
_TROUBLE = lazy_compile(
    r"(?i)\b(?:error|fail(?:ed|ure|s)?|exception|panic|not found|denied|refused)\b"
)


@lru_cache(maxsize=4096)
def cut_pastes(text: str) -> str:
    """A text whose pasted logs are cut to their first and last lines, as `… 37 lines …`."""
    lines = text.split("\n")
    return text if len(lines) < MIN_PASTED_LINES else "\n".join(_cut_output(lines))


def _cut_output(lines: list[str]) -> list[str]:
    """What a program printed from the first such line to the last, where that is most of it; lines
    in it that speak of trouble stay."""
    enough = len(lines) >= MIN_PASTED_LINES + 2 * KEPT_PASTED_LINES
    stretches = find_output_stretches(lines) if enough else []
    if not stretches:
        return lines
    start, end = stretches[0][0], stretches[-1][1]
    inside = range(start + KEPT_PASTED_LINES, end - KEPT_PASTED_LINES)
    share = sum(b - a for a, b in stretches) / (end - start)
    if len(inside) < MIN_PASTED_LINES or share < MIN_PRINTED_SHARE:
        return lines
    if any(lines[at].lstrip().startswith(_DOCUMENT) for at in range(start, end)):
        return lines  # code between what somebody wrote
    trouble = [at for at in inside if _TROUBLE.search(lines[at])][:MAX_TROUBLE]
    kept = [*range(inside.start), *trouble, *range(inside.stop, len(lines))]
    found: list[str] = []
    for before, at in zip([-1, *kept], kept, strict=False):
        if at > before + 1:
            found.append(f"… {at - before - 1} lines …")
        found.append(lines[at])
    return found


MIN_OUTPUT_LINES = 3  # side by side: what a program printed, and not a line that somebody typed
MAX_BETWEEN_OUTPUT = 3  # lines that read as typed, between two stretches of it
_TYPED_WORDS = 4  # of a line that somebody typed, and the share of such words in it
_TYPED_SHARE = 0.6
_TIMED = lazy_compile(r"\s*[\[(]?\d{1,4}[-:/]\d\d")  # begins with a time or a date, as logs do
_WRITTEN = lazy_compile(r"\s*(?:[-*•#|]+\s|\d{1,2}[.)]\s|\*\*)")  # in a list or a document


@lru_cache(maxsize=1024)
def find_output(text: str) -> str:
    """The lines that a program printed; "" where there are none."""
    lines = strip_code(text).split("\n")
    return "\n".join(
        line for start, end in find_output_stretches(lines) for line in lines[start:end] if line
    )


def find_output_stretches(lines: list[str]) -> list[tuple[int, int]]:
    """Where a program printed something, recognised by how few of the words are plain ones.
    Letters of other scripts are typed."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    is_prose = cache(lambda at: _is_prose(lines[filled[at]]))
    ends: list[tuple[int, int]] = []
    at = 0
    while (last := at + MIN_OUTPUT_LINES - 1) < len(filled):
        # The last first: in prose most lines need not be looked at.
        typed = next((one for one in range(last, at - 1, -1) if is_prose(one)), None)
        if typed is None:
            start = ends.pop()[0] if ends and at - ends[-1][1] <= MAX_BETWEEN_OUTPUT else at
            ends.append((start, last + 1))
        at = at + 1 if typed is None else typed + 1
    return [(filled[start], filled[end - 1] + 1) for start, end in ends]


def _is_prose(line: str) -> bool:
    if not line.isascii() and any(c.isalpha() and not c.isascii() for c in line):
        return True
    if _WRITTEN.match(line):
        return True
    if _TIMED.match(line):
        return False
    words = line.split()
    plain = [word.strip(".,;:!?()\"'`*").replace("'", "").isalpha() for word in words].count(True)
    return plain >= min(_TYPED_WORDS, len(words)) and plain >= _TYPED_SHARE * len(words)


# How pasted lines begin.
_PASTED = lazy_compile(
    r"[+>│╭╰├|$@%]|-{2,}\s|\s{4,}\S|\t|\S+\.\w{1,5}:\d+|\d{4}-\d\d-\d\d[T ]\d\d:|\s*(?:def|class"
    r"|func|import|from|return|const|let|var|if|for)\b.*[:({]\s*$"
)


def is_pasted(part: str, printed: str) -> bool:
    shown = part.removesuffix("…") in printed
    return shown or part.rstrip().endswith(("{", "}", ";")) or _PASTED.match(part) is not None
