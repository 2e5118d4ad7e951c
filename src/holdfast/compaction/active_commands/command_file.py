"""What a command's own file says about itself: the rules that outlive a compaction.

Rules are every block between `<!-- COMPACT_SUMMARY_START ... -->` and
`<!-- COMPACT_SUMMARY_END -->`, and `preserve_rules` in the head's `compact_context`. The
problems of a file are listed for its author.

One-shot: a command whose work is its output. It is one when its head says `one-shot: true`,
`compact_context: false` or `context: fork` (it runs in a subagent), whatever blocks it has, or
when it has neither rules nor a description: then nothing of it is kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple

PRIORITIES = {"critical": 0, "high": 1, "normal": 2, "medium": 2, "low": 3}
DEFAULT_PRIORITY = PRIORITIES["normal"]
CONTEXT_KEYS = ("priority", "preserve_rules", "state_fields")

COMMENT_END = "-->"
_MARKER = lazy_compile(r"<!--\s{0,200}COMPACT_SUMMARY_(START|END)\b")
_NO_END = "COMPACT_SUMMARY_START without its END"
_YES = ("true", "yes", "on")
_NO = ("false", "no", "off", "none")


class CommandFile(NamedTuple):
    description: str = ""
    rules: tuple[str, ...] = ()  # blocks, word for word
    preserved: tuple[str, ...] = ()  # single rules from the head
    state_fields: tuple[str, ...] = ()
    priority: int = DEFAULT_PRIORITY
    one_shot: bool = False


class _Marker(NamedTuple):
    starts: bool
    start: int
    end: int  # behind the comment; -1 where it is not closed


class CommandFileProblem(NamedTuple):
    line: int
    message: str


def parse_command_file(text: str) -> CommandFile:
    head = parse_front_matter(text)
    context = head.fields.get("compact_context", "")
    fields = context if isinstance(context, dict) else {}
    rules = tuple(block.strip("\n") for block, _ in _read_blocks(text)[0] if block.strip())
    preserved = _as_list(fields.get("preserve_rules", ""))
    description = _as_text(head.fields.get("description", "")) or _first_line(head)
    priority = PRIORITIES.get(_as_text(fields.get("priority", "")).lower(), DEFAULT_PRIORITY)
    state_fields = _as_list(fields.get("state_fields", ""))
    one_shot = _says_one_shot(head) or not (rules or preserved or description)
    return CommandFile(description, rules, preserved, state_fields, priority, one_shot)


def find_problems(text: str, largest: int) -> list[CommandFileProblem]:
    """What the author would want to know: blocks not closed, too long, empty; a head misspelt."""
    found: list[CommandFileProblem] = []
    ends = [at for at, char in enumerate(text) if char == "\n"]

    def add(message: str, at: int = 0) -> None:
        found.append(CommandFileProblem(bisect_left(ends, at) + 1, message))

    if not (head := parse_front_matter(text)).closed:
        add("the front matter (---) is not closed")
    context = head.fields.get("compact_context", "")
    if isinstance(context, dict):
        priority = _as_text(context.get("priority", "")).lower()
        if priority and priority not in PRIORITIES:
            add(f"priority {priority!r} is not one of {', '.join(PRIORITIES)}")
        for key in context:
            if key not in CONTEXT_KEYS:
                add(f"compact_context has no {key!r}: it takes {', '.join(CONTEXT_KEYS)}")
    blocks, wrong = _read_blocks(text)
    for at, what in wrong:
        add(what, at)
    for block, at in blocks:
        if not block.strip():
            add("the block is empty", at)
        elif len(block) > largest:
            add(f"the block has {len(block):,} characters: truncated to {largest:,}", at)
    total = sum(len(block) for block, _ in blocks)
    if total > largest and all(len(block) <= largest for block, _ in blocks):
        add(f"all blocks have {total:,} characters: only {largest:,} are restored")
    return sorted(found)


def _read_blocks(text: str) -> tuple[list[tuple[str, int]], list[tuple[int, str]]]:
    """Whole blocks, and what is wrong with their markers; both with the place where it begins.

    A block that is not closed ends nowhere and is none.
    """
    blocks: list[tuple[str, int]] = []
    wrong: list[tuple[int, str]] = []
    opened: _Marker | None = None
    for mark in _find_markers(text):
        if mark.end < 0:
            wrong.append((mark.start, "the marker comment is not closed (-->)"))
        if mark.starts:
            if opened is not None:
                wrong.append((opened.start, _NO_END))
            opened = mark
        elif opened is None:
            wrong.append((mark.start, "COMPACT_SUMMARY_END without its START"))
        else:
            if mark.end >= 0:
                blocks.append((text[opened.end : mark.start], opened.start))
            opened = None
    if opened is not None:
        wrong.append((opened.start, _NO_END))
    return blocks, wrong


def _find_markers(text: str) -> Iterator[_Marker]:
    """Our comments in their order; what stands inside of one is its own affair.

    The end of a comment is looked for once for all marks before it: a file of nothing but
    beginnings takes no longer than another.
    """
    close = passed = 0
    for named in _MARKER.finditer(text):
        if named.start() < passed:
            continue
        if 0 <= close < named.end():
            close = text.find(COMMENT_END, named.end())
        passed = close + len(COMMENT_END) if close >= 0 else named.end()
        yield _Marker(named[1] == "START", named.start(), passed if close >= 0 else -1)


def _says_one_shot(head: FrontMatter) -> bool:
    for name in ("one-shot", "one_shot"):
        if _as_text(head.fields.get(name, "")).lower() in _YES:
            return True
    if _as_text(head.fields.get("compact_context", "")).lower() in _NO:
        return True
    return _as_text(head.fields.get("context", "")).lower() == "fork"


def _first_line(head: FrontMatter) -> str:
    """The client takes a file's first line for its description where the head has none."""
    if not head.fields:
        return ""
    return next((line.strip("# ").strip() for line in head.body.split("\n") if line.strip()), "")


def _as_text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _as_list(value: Value) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(item for item in value if item)
    return (value,) if isinstance(value, str) and value else ()


Value = str | list[str] | dict[str, "str | list[str]"]
FENCE = "---"
MAX_LINES = 400


class FrontMatter(NamedTuple):
    fields: dict[str, Value]
    body: str  # the file without its head
    closed: bool = True  # False: a head was opened and never closed


def parse_front_matter(text: str) -> FrontMatter:
    """What such heads hold: names with a text, a list or one level of names below. What is not
    understood is a text or left out, never an error. No YAML library in the hooks."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return FrontMatter({}, text)
    for number, line in enumerate(lines[1 : MAX_LINES + 1], 1):
        if line.rstrip() in (FENCE, "..."):
            entries = _split_entries(lines[1:number])
            fields = {name: _parse_value(said, below) for name, said, below in entries}
            return FrontMatter(fields, "\n".join(lines[number + 1 :]))
    return FrontMatter({}, text, closed=False)


def _split_entries(lines: list[str]) -> list[tuple[str, str, list[str]]]:
    """(name, what stands behind it, the lines that belong to it), at the outermost indent."""
    found: list[tuple[str, str, list[str]]] = []
    outer: int | None = None
    for line in lines:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        outer = indent if outer is None else outer
        name, colon, said = bare.partition(":")
        begins = indent <= outer and colon and not bare.startswith("- ")
        if begins and (not said or said[0] in " \t"):
            found.append((_unquote(name), said.strip(), []))
        elif found:
            found[-1][2].append(line)
    return found


def _parse_value(said: str, below: list[str], *, outermost: bool = True) -> Value:
    if said[:1] in ("|", ">") and len(said) <= 3:
        joint = "\n" if said[0] == "|" else " "
        return joint.join(line.strip() for line in below)
    if said:
        if said.startswith("[") and said.endswith("]"):
            return [_unquote(item) for item in _split_items(said[1:-1]) if item.strip()]
        return _unquote(" ".join([said, *(line.strip() for line in below)]))
    if below and below[0].strip().startswith("-"):
        return _parse_list(below)
    if not outermost:
        return ""  # deeper than such heads go; and no file decides how deep we recurse
    inner: dict[str, str | list[str]] = {}
    for name, what, rest in _split_entries(below):
        value = _parse_value(what, rest, outermost=False)
        inner[name] = value if not isinstance(value, dict) else ""
    return inner or ""


def _parse_list(lines: list[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        bare = line.strip()
        if bare.startswith("- ") or bare == "-":
            found.append(bare[1:].strip())
        elif found:  # a long item goes on in the next line
            found[-1] += " " + bare
    return [_unquote(item) for item in found if item]


def _split_items(text: str) -> list[str]:
    """Split at commas outside of quotes."""
    found, quote, start = [], "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == ",":
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


def _unquote(said: str) -> str:
    said = said.strip()
    quote = said[:1]
    if quote in ("'", '"'):
        end = said.find(quote, 1)
        while end > 0 and said[end - 1] == "\\" and quote == '"':
            end = said.find(quote, end + 1)
        rest = said[end + 1 :].strip()
        if end > 0 and (not rest or rest.startswith("#")):
            return said[1:end].replace('\\"', '"')
    comment = said.find(" #")
    return said[:comment].rstrip() if comment >= 0 else said
