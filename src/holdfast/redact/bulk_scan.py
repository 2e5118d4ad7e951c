"""Finds the places in a large raw text that are worth a closer look.

Owns: `find_candidates`, a scan that may say yes too often and must never say no where a finder
would say yes: it sees the text as it lies in the file, JSON escapes and all.
Must not: decide; the finders do, on the decoded text.

Speed comes from looking for few things, each of which begins with a literal or with a letter that
is rare: such a search costs 0.3 to 0.6 ms per MB. So what has a letter in common shares a search.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from holdfast.redact.assignments import (
    LONG_TOKEN,
    find_assignments,
    name_around,
    names_secret,
    sets_value,
    start_of_name,
)
from holdfast.redact.commands import COMMAND_WORDS, HANDED_ON
from holdfast.redact.headers import find_headers
from holdfast.redact.passwords import (
    OPTION_HIT,
    PGPASS_HIT,
    find_cookies,
    find_numbers,
    find_option_passwords,
    find_prose_passwords,
    hands_on,
    may_be_option,
)
from holdfast.redact.prefilter import ascii_lower
from holdfast.redact.secret_patterns import BARE_KEY, FOREIGN, NUMBER_WORDS, WORD_TAILS
from holdfast.redact.terminal_codes import CODE_IN_FILE, ESCAPED_CODE
from holdfast.redact.token_shapes import (
    MAILCHIMP,
    Span,
    compile_once,
    discord_hits,
    find_webhooks,
    shared_hits,
)
from holdfast.redact.word_search import WordSearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.redactor import Redactor

# In the text as it is.
_SHAPES = (
    rf":(?://(?=[^\s/?@\"<>`]{{1,1200}}@)|{PGPASS_HIT[1:]}"
    r"|(?<=[nNtT]:)(?=\S{5})(?:(?<=dmin:)|(?<=DMIN:)|(?<=oot:)|(?<=OOT:)|(?<=thin:)))",
    r"J(?<=eyJ)[A-Za-z0-9_\-]{9}",
    rf"-(?:(?<=-----)BEGIN [A-Z0-9 ]{{0,48}}PRIVATE|(?<=Private-)(?:Lines|MAC|Hash):|(?<=[ \t]-)S "
    rf"|{MAILCHIMP[1:]}|({OPTION_HIT[1:]}))",
    r"=(?:(?<=sig=)|(?<=-Signature=))[A-Za-z0-9%+/]{40}",
)

# What stands between a name and its value, as in assignments.py, but with escapes still in place.
# A quote may stand inside the value, or behind the letters of an f"".
_VALUE = (
    r"(?:[>|][+\-]?)?[\s\\\"'`]{0,16}(?:\\[nrt]|,[ ]?\")?[ \t>+|\-]{0,12}[\\\"'`]{0,9}"
    r"[^\s\"'`]\S{3}"
)
_NAMED = (
    r"[a-z0-9_.\-]{0,40}(?:"
    r"[ ?:]{1,4}[a-z_&\[][a-z0-9_.\[\]|&?<>' ]{0,42}=[ ]?(?:[a-z_.]{1,30}\([ ]?(?:default=)?)?"
    r"\\{0,15}[\"'`]"
    r"|[^a-z]{0,60}(?:\\{1,15}[nrt][^a-z]{0,48})?value"
    r"|</key>|(?:[\"'`][\])])?[ ]{0,2}(?:\|\||\?\?|or )|[`*\"'\\]{0,6}(?:\\t|[ \t]){0,20}\|"
    # A colon of full width, and a blank that breaks no line, as their bytes.
    r"|(?:\xc2\xa0|[ \t]){0,16}(?:\xef\xbc\x9a|\xc2\xa0)"
    r"|[\\\"'`\]\[]{0,18}(?:\\t|[ \t]){0,8}(?:[=:>(,?%]|<-|\\{1,8}u003[de])[=>*\\t \t]{0,18}"
    + _VALUE
    + r"|(?:\\t|\s)(?P<blank>)"
    r")"
)

# In lower case. What follows is only looked at: it may be the next text, with a phrase of its own.
_PHRASES = (
    r"b(?=earer [a-z0-9\-._~+/\s\\]{12}"
    r"|asic (?:\s|\\[nrt]){0,3}(?:[a-z0-9+/]{4}){2,100}(?:[a-z0-9+/]{2,3}=|(?![a-z0-9+/])))",
    r"/(?<= /) (?=\S{0,200}[0-9!@#$%^&*~?])",
    r"pin(?<![a-z]pin)(?=[^\d\n]{1,60}\d{4,8}(?!\w))",
)

# In lower case: the words that may name a secret, with what they share a search with. Behind a
# word in the first group a sentence may tell one; where the second group is, a name must.
_WORDS = (
    rf"pass(?:(wor|ord|wd|phr|cod| is |(?<=[ \-]pass)e(?![a-rt-z]))|(){WORD_TAILS['pass']})",
    rf"pw(?:((?![a-z]))|(){WORD_TAILS['pw']})",
    rf"cre(?:(d(?:s|ential))|(?<=secre)()t{WORD_TAILS['secret']})",
    rf"k(?:((?<=cook)ie|(?<=hook)(?:\.office\.com/|s(?:/\d{{15}}"
    rf"|\.slack\.com/[a-z]{{8}}|\.zapier\.com/)))"
    rf"|(?<=tok)(){WORD_TAILS['tok']}|()ey{WORD_TAILS['key']}|(?<=psk)(){WORD_TAILS['psk']})",
    rf"_pat(){WORD_TAILS['_pat']}",
    rf"uth(?<=auth)(?:(orization)|(){WORD_TAILS['auth']})",
)

# As their bytes: the scan reads UTF-8 as Latin-1. Where JSON is written as ASCII, by their escapes.
# Each "passw" and "passo" is looked at.
_SEARCH = WordSearch(
    word.encode().decode("latin-1")
    for word in (*FOREIGN, *NUMBER_WORDS, *COMMAND_WORDS)
    if "passw" not in word and "passo" not in word
)
# Behind these a secret may stand too far away for a look around.
_FAR = r"k(?:(?<=\bk)ty(?=[\\\"'])|ind: secret)"
_ESCAPED_WORDS = r"\\u(?:{})".format(
    "|".join(
        re.escape(json.dumps(word).strip('"').lower().partition("\\u")[2])
        for word in FOREIGN
        if not word.isascii()
    )
)


def find_candidates(raw: str, lowered: str) -> Iterator[int]:
    """Give the offsets, in no order, of everything that could be a secret or announce one.

    `raw` is Latin-1 or any other text in which ASCII stands for itself; `lowered` is the same in
    ASCII lower case.
    """
    yield from _find_plain(raw, lowered)
    yield from _find_coloured(raw)


def _find_plain(raw: str, lowered: str) -> Iterator[int]:
    yield from (at for at, _ in shared_hits(raw))
    yield from discord_hits(raw)
    for source in _SHAPES:
        for match in compile_once(source).finditer(raw):
            if not match.lastindex or may_be_option(raw, match.start(), match.group()):
                yield match.start()
    yield from (match.start() for match in compile_once(_FAR).finditer(lowered))
    yield from _that_hold(raw, sorted(_list_words(raw, lowered)))


def _list_words(raw: str, lowered: str) -> Iterator[int]:
    """Where a word stands that announces something near to it."""
    for source in (*_PHRASES, _ESCAPED_WORDS):
        yield from (match.start() for match in compile_once(source).finditer(lowered))
    for at, word in _SEARCH.hits(lowered):
        if word[-1] != " " or word not in HANDED_ON or hands_on(lowered, at + len(word)):
            yield at
    yield from _find_names(raw, lowered)


def _find_coloured(raw: str) -> Iterator[int]:
    """Colours stand between a name and its value, and inside a token."""
    done, holds = 0, False
    for code in compile_once(CODE_IN_FILE).finditer(raw):
        at = code.start()
        if at >= done:
            start, done = raw.rfind("\n", 0, at) + 1, raw.find("\n", at) + 1 or len(raw)
            row = compile_once(ESCAPED_CODE).sub("", raw[start:done])
            holds = any(True for _ in _find_plain(row, row.lower()))
        if holds:
            yield at


# How far around a word a finder looks, and how much it may look at for several of them.
_BEHIND = 200
_AHEAD = 700
_TOGETHER = 2_000


def _that_hold(raw: str, hits: Sequence[int]) -> Iterator[int]:
    """Those around which a finder finds something: in the text as it lies there, or as it reads."""
    index = 0
    while index < len(hits):
        end = bisect_left(hits, hits[index] + _TOGETHER, index)
        window = raw[max(0, hits[index] - _BEHIND) : hits[end - 1] + _AHEAD]
        if any(any(_find_near(ascii_lower(text), text)) for text in {window, _unescape(window)}):
            yield from hits[index:end]
        index = end


def _find_near(lowered: str, text: str) -> Iterator[Span]:
    yield from find_headers(lowered, text)
    yield from find_assignments(lowered, text)
    yield from find_prose_passwords(lowered, text)
    yield from find_option_passwords(lowered, text)
    yield from find_numbers(lowered, text)
    yield from find_cookies(lowered, text)
    yield from find_webhooks(text)


def _unescape(window: str) -> str:
    """A piece of a JSON string, read: enough to look at."""
    window = window.encode("latin-1", "replace").decode("utf-8", "replace")
    window = compile_once(r'(?<!\\)",[ ]?"').sub("\n", window)  # a diff's lines
    window = compile_once(r'(?<!\\)"').sub("\n---\n", window)
    for escape, read in zip(("\\n", "\\r", "\\t", '\\"', "\\\\"), '\n\r\t"\\', strict=True):
        window = window.replace(escape, read)
    return compile_once(r"\\u[0-9a-f]{4}").sub(lambda code: chr(int(code[0][2:], 16)), window)


def _find_names(raw: str, lowered: str) -> Iterator[int]:
    """The words that may name a secret, where a sentence may tell one or a name does."""
    for source in _WORDS:
        for match in compile_once(source).finditer(lowered):
            at, end = match.span()
            if match.lastindex == 1:
                yield at
            # A test's verdict is the most frequent of all; but DB_PASS is the end of a name.
            elif not raw.startswith("PASS:", at) or (
                at and (raw[at - 1].isalnum() or raw[at - 1] in "_.-")
            ):
                named = compile_once(_NAMED).match(lowered, end)
                if named and _names_a_value(raw, lowered, at, end, named):
                    yield at


def _names_a_value(raw: str, lowered: str, at: int, end: int, named: re.Match[str]) -> bool:
    name = name_around(raw, at, end)
    if name.lower().endswith("key") and compile_once(BARE_KEY).match(lowered, end):
        return True
    return names_secret(name) and (
        named.lastgroup != "blank"
        or _may_follow_blank(lowered, name, at, named.end())
        or compile_once(LONG_TOKEN).match(raw, named.end()) is not None
        or sets_value(raw, start_of_name(raw, at))
    )


def _may_follow_blank(lowered: str, name: str, at: int, end: int) -> bool:
    """An option, netrc, the password is x, sshpass -p x, and SQL's PASSWORD 'x'."""
    if name.startswith(("-", "add-auth")) or "login" in lowered[max(0, at - 110) : at]:
        return True
    behind = lowered[end : end + 16]
    if compile_once(r"[ ]?[^\s\"\\]{6,60}(?:[\n\"]|\\[nr\"])").match(lowered, end):
        return True  # alone on its line
    return behind.startswith(("  ", "\\t", "\t")) or behind.lstrip().startswith(
        ("is ", "-p", "'", '"', "\\")
    )


def redact_batch(redactor: Redactor, texts: Sequence[str]) -> dict[int, str]:
    """The texts that hold secrets, by their place, without them."""
    found: Collection[int] = range(len(texts)) if redactor.extra else list(_worth_a_look(texts))
    clean = {at: redactor.redact(texts[at], worth=True) for at in found}
    return {at: text for at, text in clean.items() if text != texts[at]}


# Between two texts. Each then begins and ends a line, and which one a place is in can be counted.
_BETWEEN = "\n\0\n"


def _worth_a_look(texts: Sequence[str]) -> Iterator[int]:
    joined = _BETWEEN.join(texts)
    if joined.count("\0") != len(texts) - 1:
        joined = _BETWEEN.join(text.replace("\0", " ") for text in texts)
    data = joined.encode("utf-8", "replace")
    hits = sorted(find_candidates(data.decode("latin-1"), data.lower().decode("latin-1")))
    at = position = 0
    last = -1
    for hit in hits:
        at += data.count(b"\0", position, hit)
        position = hit
        if at != last:
            yield at
        last = at
