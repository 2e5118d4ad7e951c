"""Text: how it is cut to a length, how text of others is quoted, and how many tokens it has.

Pure: must not know where a text comes from. Cuts of text that may hold secrets are in
`redact.safe_truncation`.
"""

from holdfast.lazy_regex import lazy_compile

# Whitespace and truncation.


def collapse_whitespace(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


def truncate_words(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words and marked."""
    if len(text) <= limit:
        return text
    at = text.rfind(" ", limit // 2, limit - 1)
    return text[: at if at > 0 else limit - 1].rstrip(" ,;:") + "…"


def truncate_middle_words(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning and the end, cut between words."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    head = limit - tail - 3
    at = text.rfind(" ", head // 2, head)
    start = text.find(" ", len(text) - tail, len(text) - tail // 2)
    start = start if start > 0 else len(text) - tail
    return f"{text[: at if at > 0 else head].rstrip()} … {text[start:].strip()}"[:limit]


def truncate(text: str, limit: int) -> str:
    """At most `limit` characters, the cut marked; the beginning carries the meaning."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + "…"


def truncate_middle(text: str, limit: int) -> str:
    """At most `limit` characters, keeping both ends: for output, whose end is the verdict."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head].rstrip()} … {text[len(text) - (limit - head - 3) :].lstrip()}"


def truncate_line(text: str, limit: int) -> str:
    """On one line, of at most `limit` characters."""
    return truncate(collapse_whitespace(text), limit)


BAR = "  | "
# What a line can end with, for a terminal, an editor or a model.
_ENDS = lazy_compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# The client frames what it adds in tags; text of others must not open or close one.
_TAG = lazy_compile(r"<(?=[/!?]?[A-Za-z_])")
# Of tags, those in which the client frames its own text and a model's calls: their names have a
# hyphen or a prefix, those of code and markup seldom.
_FRAME = lazy_compile(
    r"<(?=/?(?:[A-Za-z]+(?:-[A-Za-z]+)+|function_(?:calls|results)|antml:\w+)(?:[\s/>]|\Z))"
)
# Turns the direction of text around, or hides it.
_HIDDEN = lazy_compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def remove_blocks(text: str, tag: str) -> str:
    """Without what stands between a tag and its end; one that nothing closes opens nothing."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    kept, position = [], 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + len(closing)
    return "".join([*kept, text[position:]])


def quote_block(text: str) -> str:
    return "\n".join(BAR + sanitize_line(line) for line in _ENDS.split(text))


def sanitize_line(line: str) -> str:
    shown = _HIDDEN.sub("", line).replace("\t", "    ")
    shown = "".join(c if c.isprintable() else " " for c in shown)
    return _TAG.sub("‹", shown).rstrip()


def keep_in_line(text: str) -> str:
    """Words of others in a line of ours, as they are: they end no line and open no frame.

    Every character keeps its place, so that a length that was counted stays right.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return _FRAME.sub("‹", text) if "<" in text else text


def quote_verbatim(text: str) -> str:
    """Behind bars, with tags other than the client's left alone: for code that is read again."""
    lines = (line.expandtabs(4) for line in _ENDS.split(text))
    return "\n".join(BAR + keep_in_line(line).rstrip() for line in lines)


def sanitize_to_one_line(text: str) -> str:
    return " ".join(sanitize_line(_ENDS.sub(" ", text)).split())


def quote_inline(text: str, longest: int) -> str:
    words = sanitize_to_one_line(text).replace('"', "'")
    return f'"{words[: longest - 1].rstrip()}…"' if len(words) > longest else f'"{words}"'


CHARS_PER_TOKEN = 2.9
# Of a budget in tokens, what a text may fill: a tenth is kept back, for an estimate that is low.
USABLE_SHARE = 0.9


def estimate_tokens(chars: int) -> int:
    return round(chars / CHARS_PER_TOKEN)


def compute_max_chars(max_tokens: int) -> int:
    """The room of a text that must not exceed so many tokens."""
    return int(max_tokens * CHARS_PER_TOKEN * USABLE_SHARE)


def pluralize(count: int, word: str) -> str:
    """`1 task`, `2 tasks`, `1,000 tasks`."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")
