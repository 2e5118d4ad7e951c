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
from typing import Any, NamedTuple

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
    key: str
    start: int  # of the key
    value: "Node"


class Node(NamedTuple):
    """One value and where it stands. ``kind`` is object, array or scalar."""

    kind: str
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple["Node", ...] = ()

    def get(self, key: str) -> "Node | None":
        """The value under ``key``; of several, the last, as the client reads it."""
        for member in reversed(self.members):
            if member.key == key:
                return member.value
        return None

    def value(self, text: str) -> Any:
        return json.loads(text[self.start : self.end], parse_int=_integer)


def _integer(digits: str) -> int | float:
    # Python refuses to convert thousands of digits; the client reads every number as a float.
    return int(digits) if len(digits) < 16 else float(digits)


class Style(NamedTuple):
    """How the file lays things out. ``indent`` is None where everything is on one line."""

    newline: str
    indent: str | None
    comma: str
    colon: str


def position(text: str, offset: int) -> tuple[int, int]:
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


def scan(text: str) -> Node:
    """The document with positions; raises JsonSyntaxError."""
    node = _value(text, _skip(text, 0), 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        raise JsonSyntaxError(text, rest, _unexpected(text, rest, "the end of the file"))
    return node


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _unexpected(text: str, at: int, wanted: str) -> str:
    if at >= len(text):
        return f"the file ends here, expected {wanted}"
    if text.startswith(("//", "/*"), at) or text[at] == "#":
        return "comments are not allowed here: Claude Code reads strict JSON and ignores the file"
    return f"expected {wanted}, found {text[at]!r}"


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise JsonSyntaxError(text, at, f"nested more than {MAX_DEPTH} levels deep")
    opener = text[at : at + 1]
    if opener == "{":
        return _object(text, at, depth)
    if opener == "[":
        return _array(text, at, depth)
    if opener == '"':
        return Node("scalar", at, _string_end(text, at))
    match = _NUMBER.match(text, at) or _LITERAL.match(text, at)
    if match is None:
        raise JsonSyntaxError(text, at, _unexpected(text, at, "a value"))
    return Node("scalar", at, match.end())


def _string_end(text: str, at: int) -> int:
    match = _STRING.match(text, at)
    if match is None:
        raise JsonSyntaxError(
            text, at, "unterminated string, or a character that JSON does not allow"
        )
    return match.end()


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at = _skip(text, start + 1)
    if text.startswith("}", at):
        return Node("object", start, at + 1)
    while True:
        if not text.startswith('"', at):
            if members and text.startswith("}", at):
                raise JsonSyntaxError(text, at, "trailing comma before this '}'")
            raise JsonSyntaxError(text, at, _unexpected(text, at, 'a name in "quotes"'))
        key_start, key_end = at, _string_end(text, at)
        at = _skip(text, key_end)
        if not text.startswith(":", at):
            raise JsonSyntaxError(text, at, _unexpected(text, at, "':'"))
        value = _value(text, _skip(text, at + 1), depth + 1)
        members.append(Member(json.loads(text[key_start:key_end]), key_start, value))
        at = _skip(text, value.end)
        if text.startswith("}", at):
            return Node("object", start, at + 1, members=tuple(members))
        if not text.startswith(",", at):
            raise JsonSyntaxError(text, at, _unexpected(text, at, "',' or '}'"))
        at = _skip(text, at + 1)


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at = _skip(text, start + 1)
    if text.startswith("]", at):
        return Node("array", start, at + 1)
    while True:
        if items and text.startswith("]", at):
            raise JsonSyntaxError(text, at, "trailing comma before this ']'")
        items.append(_value(text, at, depth + 1))
        at = _skip(text, items[-1].end)
        if text.startswith("]", at):
            return Node("array", start, at + 1, items=tuple(items))
        if not text.startswith(",", at):
            raise JsonSyntaxError(text, at, _unexpected(text, at, "',' or ']'"))
        at = _skip(text, at + 1)


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
        comma = ", " if _gap_after_first_comma(text, root, colon) else ","
        return Style(newline, None, comma, colon)
    return Style(newline, lead[_line_start(lead) :], ",", colon)


def _line_start(space: str) -> int:
    return max(space.rfind("\n"), space.rfind("\r")) + 1


def _gap_after_first_comma(text: str, root: Node, colon: str) -> bool:
    if len(root.members) < 2:
        return colon == ": "
    first, second = root.members[0], root.members[1]
    return text[first.value.end : second.start].endswith((" ", "\t"))


def render(value: Any, style: Style, indent: str | None) -> str:
    """``value`` as JSON in the file's style; ``indent`` is that of the line it starts on."""
    if style.indent is None or indent is None:
        return json.dumps(value, ensure_ascii=False, separators=(style.comma, style.colon))
    step = style.indent or "  "
    lines = json.dumps(value, ensure_ascii=False, indent=step, separators=(",", style.colon))
    return lines.replace("\n", style.newline + indent)


def add_member(text: str, node: Node, key: str, value: Any, style: Style) -> str:
    """``text`` with ``key: value`` as the last member of the object ``node``."""
    name = json.dumps(key, ensure_ascii=False) + style.colon
    if node.members:
        return _append(text, node, node.members[-1].start, name, value, style)
    return _fill(text, node, name, value, style)


def add_item(text: str, node: Node, value: Any, style: Style) -> str:
    """``text`` with ``value`` as the last item of the array ``node``."""
    if node.items:
        return _append(text, node, node.items[-1].start, "", value, style)
    return _fill(text, node, "", value, style)


def _append(text: str, node: Node, last_start: int, name: str, value: Any, style: Style) -> str:
    last_end = node.members[-1].value.end if node.members else node.items[-1].end
    space = _space_before(text, last_start)
    if "\n" in space or "\r" in space:
        indent = space[_line_start(space) :]
        piece = "," + style.newline + indent + name + render(value, style, indent)
    else:
        comma = style.comma if style.indent is None else ", "
        one_line = style._replace(indent=None, comma=comma)
        piece = comma + name + render(value, one_line, None)
    return text[:last_end] + piece + text[last_end:]


def _fill(text: str, node: Node, name: str, value: Any, style: Style) -> str:
    close = node.end - 1
    if style.indent is None:
        return text[: node.start + 1] + name + render(value, style, None) + text[close:]
    outer = _indent_of_line(text, node.start)
    inner = outer + (style.indent or "  ")
    body = style.newline + inner + name + render(value, style, inner) + style.newline + outer
    return text[: node.start + 1] + body + text[close:]


def _space_before(text: str, at: int) -> str:
    start = at
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    return text[start:at]


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
    spans = [(item.start, item.end) for item in node.items]
    return _cut(text, node, spans, node.items.index(item))


def remove_member(text: str, node: Node, key: str) -> str:
    """``text`` without the member ``key`` of the object ``node``."""
    spans = [(member.start, member.value.end) for member in node.members]
    return _cut(text, node, spans, [member.key for member in node.members].index(key))


def _cut(text: str, node: Node, spans: list[tuple[int, int]], index: int) -> str:
    if len(spans) == 1:
        start, end = node.start + 1, node.end - 1
    elif index:
        start, end = spans[index - 1][1], spans[index][1]
    else:
        start, end = spans[0][0], spans[1][0]
    return text[:start] + text[end:]
