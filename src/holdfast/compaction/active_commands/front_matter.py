"""The head of a command's file, between two lines of `---`.

A small reader for what such heads hold: names with a text, a list or one level of names below.
Tolerant: what it does not understand is a text or left out, never an error. No YAML library in
the hooks.
"""

from __future__ import annotations

from typing import NamedTuple

Value = str | list[str] | dict[str, "str | list[str]"]
FENCE = "---"
MAX_LINES = 400


class FrontMatter(NamedTuple):
    fields: dict[str, Value]
    body: str  # the file without its head
    closed: bool = True  # False: a head was opened and never closed


def parse_front_matter(text: str) -> FrontMatter:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return FrontMatter({}, text)
    for number, line in enumerate(lines[1 : MAX_LINES + 1], 1):
        if line.rstrip() in (FENCE, "..."):
            return FrontMatter(_fields(lines[1:number]), "\n".join(lines[number + 1 :]))
    return FrontMatter({}, text, closed=False)


def _fields(lines: list[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, said, below in _entries(lines):
        found[name] = _value(said, below)
    return found


def _entries(lines: list[str]) -> list[tuple[str, str, list[str]]]:
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


def _value(said: str, below: list[str], *, outermost: bool = True) -> Value:
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
    for name, what, rest in _entries(below):
        value = _value(what, rest, outermost=False)
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
