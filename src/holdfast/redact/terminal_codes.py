"""Terminal codes: colours, links and cursor movements that a tool printed among its words.

Owns: what counts as such a code, taking them out, and the way back from a place in the text
without codes to the place in the text with them.
Must not: decide what a secret is.
"""

from bisect import bisect_left, bisect_right

from holdfast.redact.token_shapes import Span, compile_once

# Colours and cursor (CSI), titles and links (OSC and its relatives, up to their end), single ones.
_CODES = (
    r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"
    r"|\x1b[()*+\-./#%][A-Za-z0-9]|\x1b[0-9=>@-OQ-WYZ\\c-z]?"
)
# A colour that is still escaped: JSON inside JSON, or a script that prints in colours.
_ESCAPED = r"\\(?:u001[bB]|x1[bB]|0?33|e)\[[0-9;]{0,20}m"
# The same as it lies in a file, where the escape may be escaped again; and where one begins.
ESCAPED_CODE = r"(?:\x1b|\\{1,9}(?:u001[bB]|x1[bB]|0?33|e))\[[0-9;?]{0,20}[A-Za-z]"
CODE_IN_FILE = r"\[(?:(?<=1[bB]\[)|(?<=33\[)|(?<=\\e\[)|(?<=\x1b\[))(?=[0-9;?]{0,20}[A-Za-z])"


def strip_codes(text: str) -> str:
    """The text without terminal codes."""
    return compile_once(_CODES).sub("", text)


def strip_codes_with_offsets(text: str) -> tuple[str, list[tuple[int, int]]] | None:
    """The text without codes, escaped ones too, and where each piece of it came from.

    None where there is no code. The places are pairs: in the stripped text, in the text.
    """
    source = f"{_CODES}|{_ESCAPED}" if "\x1b" in text else _ESCAPED
    pieces, places = [], []
    position = length = 0
    for code in compile_once(source).finditer(text):
        if code.start() > position:
            pieces.append(text[position : code.start()])
            places.append((length, position))
            length += code.start() - position
        position = code.end()
    if not position:
        return None
    pieces.append(text[position:])
    places.append((length, position))
    return "".join(pieces), places


def map_spans_back(spans: list[Span], places: list[tuple[int, int]]) -> list[Span]:
    """Spans of the stripped text as spans of the text."""
    starts = [place[0] for place in places]
    found: list[Span] = []
    for start, end, label in spans:
        first = places[bisect_right(starts, start) - 1]
        last = places[bisect_left(starts, end) - 1]
        found.append((first[1] + start - first[0], last[1] + end - last[0], label))
    return found
