"""Edits JSON text without reprinting it: finds where each value stands, splices one in or out.

Owns the scanner that keeps positions, the guess at a file's own style, and four edits: add a
member, add an item, replace a value, take a value out. Everything outside the splice stays as it
was, byte for byte.
Must not know what the document means, and must not touch a file.

The scanner is as strict as the client's ``JSON.parse``: comments, trailing commas, ``NaN`` and
raw control characters are errors with a line and a column.
"""

import json
import re
from functools import lru_cache

from holdfast.records import Any, NamedTuple

# Far beyond any settings file; keeps a hostile one from exhausting the stack.
MAX_DEPTH = 200

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERAL = re.compile(r"true|false|null")


class JsonSyntaxError(Exception):
    """The text is not JSON; says where, counting lines and columns from 1."""

    def __init__(self, text: str, offset: int, reason: str) -> None:
        self.line, self.column = position(text, offset)
        self.reason = reason
        super().__init__(f"line {self.line}, column {self.column}: {reason}")


class Member(NamedTuple):
    key: str  # "" of an array's item
    start: int  # of the key
    value: "Node"


class Node(NamedTuple):
    """One value and where it stands. ``kind`` is object, array or scalar."""

    kind: str
    start: int
    end: int
    members: tuple[Member, ...] = ()  # or items

    @property
    def items(self) -> tuple["Node", ...]:
        return tuple(one.value for one in self.members if self.kind == "array")

    def get(self, key: str) -> "Node | None":
        """The value under ``key``; of several, the last, as the client reads it."""
        return next((one.value for one in reversed(self.members) if one.key == key), None)

    def value(self, text: str) -> Any:
        return _DECODER.decode(text[self.start : self.end])


def _parse_integer(digits: str) -> int | float:
    # Python refuses to convert thousands of digits; the client reads every number as a float.
    return int(digits) if len(digits) < 16 else float(digits)


_DECODER = json.JSONDecoder(parse_int=_parse_integer)


class Style(NamedTuple):
    """How the file lays things out. ``indent`` is None where everything is on one line."""

    newline: str
    indent: str | None
    comma: str
    colon: str


def position(text: str, offset: int) -> tuple[int, int]:
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


@lru_cache(maxsize=2)
def scan(text: str) -> Node:
    """The document with positions; raises JsonSyntaxError. Each step of an edit asks it again."""
    node = _read_value(text, _skip_space(text, 0), 0)
    rest = _skip_space(text, node.end)
    if rest != len(text):
        raise _unexpected(text, rest, "the end of the file")
    return node


def _skip_space(text: str, at: int) -> int:
    if text[at : at + 1] not in (" ", "\t", "\n", "\r"):
        return at
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _unexpected(text: str, at: int, wanted: str) -> JsonSyntaxError:
    if at >= len(text):
        why = f"the file ends here, expected {wanted}"
    elif text.startswith(("//", "/*"), at) or text[at] == "#":
        why = "comments are not allowed here: Claude Code reads strict JSON and ignores the file"
    else:
        why = f"expected {wanted}, found {text[at]!r}"
    return JsonSyntaxError(text, at, why)


def _read_value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise JsonSyntaxError(text, at, f"nested more than {MAX_DEPTH} levels deep")
    opener = text[at : at + 1]
    if opener in ("{", "["):
        return _read_container(text, at, depth)
    if opener == '"':
        return Node("scalar", at, _string_end(text, at))
    match = _NUMBER.match(text, at) or _LITERAL.match(text, at)
    if match is None:
        raise _unexpected(text, at, "a value")
    return Node("scalar", at, match.end())


def _string_end(text: str, at: int) -> int:
    match = _STRING.match(text, at)
    if match is None:
        raise JsonSyntaxError(
            text, at, "unterminated string, or a character that JSON does not allow"
        )
    return match.end()


def _read_container(text: str, start: int, depth: int) -> Node:
    """An object or an array."""
    is_object = text[start] == "{"
    closer = "}" if is_object else "]"
    members: list[Member] = []
    at = _skip_space(text, start + 1)
    while not text.startswith(closer, at):
        key, key_start = "", at
        if is_object:
            if not text.startswith('"', at):
                raise _unexpected(text, at, 'a name in "quotes"')
            key_end = _string_end(text, at)
            written = text[at:key_end]
            key = json.loads(written) if "\\" in written else written[1:-1]
            at = _skip_space(text, key_end)
            if not text.startswith(":", at):
                raise _unexpected(text, at, "':'")
            at = _skip_space(text, at + 1)
        value = _read_value(text, at, depth + 1)
        members.append(Member(key, key_start, value))
        at = _skip_space(text, value.end)
        if text.startswith(closer, at):
            break
        if not text.startswith(",", at):
            raise _unexpected(text, at, f"',' or '{closer}'")
        at = _skip_space(text, at + 1)
        if text.startswith(closer, at):
            raise JsonSyntaxError(text, at, f"trailing comma before this '{closer}'")
    return Node("object" if is_object else "array", start, at + 1, tuple(members))


def style_of(text: str, root: Node) -> Style:
    """The layout of an object: taken from its first member, two spaces where there is none."""
    newline = "\r\n" if text.find("\r\n") == text.find("\n") - 1 >= 0 else "\n"
    if not root.members:
        return Style(newline, "  ", ",", ": ")
    first = root.members[0]
    lead = text[root.start + 1 : first.start]
    key_end = _string_end(text, first.start)
    colon = ": " if text[key_end : first.value.start].endswith((" ", "\t")) else ":"
    if "\n" not in lead and "\r" not in lead:
        spaced = colon == ": "
        if len(root.members) > 1:
            spaced = text[first.value.end : root.members[1].start].endswith((" ", "\t"))
        return Style(newline, None, ", " if spaced else ",", colon)
    return Style(newline, lead[_line_start(lead) :], ",", colon)


def _line_start(space: str) -> int:
    return max(space.rfind("\n"), space.rfind("\r")) + 1


def render(value: Any, style: Style, indent: str | None) -> str:
    """``value`` as JSON in the file's style; ``indent`` is that of the line it starts on."""
    if style.indent is None or indent is None:
        return json.dumps(value, ensure_ascii=False, separators=(style.comma, style.colon))
    step = style.indent or "  "
    lines = json.dumps(value, ensure_ascii=False, indent=step, separators=(",", style.colon))
    return lines.replace("\n", style.newline + indent)


def add_members(text: str, node: Node, members: dict[str, Any], style: Style) -> str:
    """``text`` with these as the last members of the object ``node``."""
    named = [
        (json.dumps(key, ensure_ascii=False) + style.colon, value) for key, value in members.items()
    ]
    if not node.members:
        text = _fill_empty(text, node, *named.pop(0), style)
        node = _read_value(text, node.start, 0)
    return _append(text, node, named, style)


def add_item(text: str, node: Node, value: Any, style: Style) -> str:
    """``text`` with ``value`` as the last item of the array ``node``."""
    if node.items:
        return _append(text, node, [("", value)], style)
    return _fill_empty(text, node, "", value, style)


def _append(text: str, node: Node, named: list[tuple[str, Any]], style: Style) -> str:
    last_start, last_end = node.members[-1].start, node.members[-1].value.end
    start = last_start
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    space = text[start:last_start]
    if "\n" in space or "\r" in space:
        indent = space[_line_start(space) :]
        before, laid_out = "," + style.newline + indent, style
    else:
        indent, before = "", style.comma if style.indent is None else ", "
        laid_out = style._replace(indent=None, comma=before)
    pieces = [before + name + render(value, laid_out, indent) for name, value in named]
    return text[:last_end] + "".join(pieces) + text[last_end:]


def _fill_empty(text: str, node: Node, name: str, value: Any, style: Style) -> str:
    close = node.end - 1
    if style.indent is None:
        return text[: node.start + 1] + name + render(value, style, None) + text[close:]
    outer = _indent_of_line(text, node.start)
    inner = outer + (style.indent or "  ")
    body = style.newline + inner + name + render(value, style, inner) + style.newline + outer
    return text[: node.start + 1] + body + text[close:]


def _indent_of_line(text: str, at: int) -> str:
    line = text[_line_start(text[:at]) : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def replace(text: str, node: Node, value: Any, style: Style) -> str:
    """``text`` with another value in the place of ``node``."""
    one_line = not re.search(r"[\r\n]", text[node.start : node.end])
    layout = (
        style._replace(indent=None, comma=", ") if one_line and style.indent is not None else style
    )
    rendered = render(value, layout, _indent_of_line(text, node.start))
    return text[: node.start] + rendered + text[node.end :]


def remove_item(text: str, node: Node, item: Node) -> str:
    """``text`` without one item of the array ``node``, and without the comma that it needed."""
    return _cut_out(text, node, node.items.index(item))


def remove_member(text: str, node: Node, key: str) -> str:
    """``text`` without the member ``key`` of the object ``node``."""
    return _cut_out(text, node, [member.key for member in node.members].index(key))


def _cut_out(text: str, node: Node, index: int) -> str:
    spans = [(member.start, member.value.end) for member in node.members]
    if len(spans) == 1:
        start, end = node.start + 1, node.end - 1
    elif index:
        start, end = spans[index - 1][1], spans[index][1]
    else:
        start, end = spans[0][0], spans[1][0]
    return text[:start] + text[end:]
