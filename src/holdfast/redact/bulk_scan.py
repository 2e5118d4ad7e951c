"""Finds the places in a large raw text that are worth a closer look.

Owns: `find_candidates`, a scan that may say yes too often and must never say no where a finder
would say yes: it sees the text as it lies in the file, JSON escapes and all.
Must not: decide; the finders do, on the decoded text.

Speed comes from looking for few things, each of which begins with a literal or with a letter that
is rare: such a search costs 0.3 to 0.6 ms per MB. So what has a letter in common shares a search.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from holdfast.redact.assignments import (
    WORD_TAILS,
    name_around,
    names_secret,
    sets_value,
    start_of_name,
)
from holdfast.redact.passwords import OPTION_HIT, PGPASS_HIT, may_be_option
from holdfast.redact.token_shapes import compile_once, discord_hits, find_anchor, shared_hits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.redactor import Redactor

# In the text as it is.
_SHAPES = (
    rf":(?://(?=[^\s/?@\"<>`]{{1,1200}}@)|{PGPASS_HIT[1:]}"
    r"|(?=\S{5})(?:(?<=dmin:)|(?<=DMIN:)|(?<=oot:)|(?<=OOT:)|(?<=thin:)))",
    r"J(?<=eyJ)[A-Za-z0-9_\-]{9}",
    rf"-(?:(?<=-----)BEGIN [A-Z0-9 ]{{0,48}}PRIVATE|(?<=Private-)(?:Lines|MAC|Hash):|(?<=[ \t]-)S "
    rf"|({OPTION_HIT[1:]}))",
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
    r"|</key>|[ ]{0,2}(?:\|\||\?\?)|[`*\"'\\]{0,6}(?:\\t|[ \t]){0,20}\|"
    # A colon of full width, and a blank that breaks no line, as their bytes.
    r"|(?:\xc2\xa0|[ \t]){0,16}(?:\xef\xbc\x9a|\xc2\xa0)"
    r"|[\\\"'`\]]{0,18}(?:\\t|[ \t]){0,8}(?:[=:>(,?%]|\\{1,8}u003[de])[=>\\t \t]{0,18}"
    + _VALUE
    + r"|(?:\\t|\s)(?P<blank>)"
    r")"
)

# In lower case. What follows is only looked at: it may be the next text, with a phrase of its own.
_PHRASES = (
    r"b(?=earer [a-z0-9\-._~+/\s\\]{12}"
    r"|asic (?:\s|\\[nrt]){0,3}(?:[a-z0-9+/]{4}){2,100}(?:[a-z0-9+/]{2,3}=|(?![a-z0-9+/]))"
    r"|(?<=1b)[\[\]]|bitmqctl|(?<=identified b)y(?:\s|\\[nrt]){1,4}\\{0,15}[\"'])",
    r"/(?<= /) (?=\S{0,200}[0-9!@#$%^&*~?])",
    r"mnemonic",
    r"seed[ _]phrase",
)

# In lower case: the words that may name a secret, with what they share a search with. Behind a
# word in the first group a sentence may tell one; where the second group is, a name must.
_WORDS = (
    rf"pass(?:(wor|wd|phr|cod| is |(?<=requirepass)[ ]|(?<=de pass)e[ :])|(){WORD_TAILS['pass']})",
    rf"pw(?:((?![a-z]))|(){WORD_TAILS['pw']})",
    rf"cre(?:(d(?:s|ential)|(?<=kind: secre)t|(?<=secre)t put)"
    rf"|(?<=secre)()t{WORD_TAILS['secret']})",
    rf"k(?:((?<=cook)ie|ty(?=[\\\"'])|(?<=with-tok)en|(?<=hook)(?:\.office\.com/|s(?:/\d{{15}}"
    rf"|\.slack\.com/[a-z]{{8}}|\.zapier\.com/)))"
    rf"|(?<=tok)()en{WORD_TAILS['token']}|()ey{WORD_TAILS['key']})",
    rf"_pat(){WORD_TAILS['_pat']}",
    rf"uth(?<=auth)(?:(orization|=?\()|(){WORD_TAILS['auth']})",
)


def find_candidates(raw: str, lowered: str) -> Iterator[int]:
    """Give the offsets, in no order, of everything that could be a secret or announce one.

    `raw` is Latin-1 or any other text in which ASCII stands for itself; `lowered` is the same in
    ASCII lower case.
    """
    for at, _ in shared_hits(raw):
        yield at
    for at in discord_hits(raw):
        yield at
    yield from find_anchor(raw, "\x1b")
    for source in _SHAPES:
        for match in compile_once(source).finditer(raw):
            if not match.lastindex or may_be_option(raw, match.start(), match.group()):
                yield match.start()
    for source in _PHRASES:
        for match in compile_once(source).finditer(lowered):
            yield match.start()
    for source in _WORDS:
        for match in compile_once(source).finditer(lowered):
            at, end = match.span()
            if match.lastindex == 1:
                yield at
                continue
            if raw.startswith("PASS:", at) and not _goes_on_to_the_left(raw, at):
                continue  # a test's verdict, and the most frequent of all
            named = compile_once(_NAMED).match(lowered, end)
            if named is None or not names_secret(name := name_around(raw, at, end)):
                continue
            if (
                named.lastgroup != "blank"
                or _may_follow_blank(lowered, name, at, named.end())
                or sets_value(raw, start_of_name(raw, at))
            ):
                yield at


def _goes_on_to_the_left(raw: str, at: int) -> bool:
    """Whether the word at `at` is the end of a longer name: DB_PASS is one, a bare PASS is not."""
    return at > 0 and (raw[at - 1].isalnum() or raw[at - 1] in "_.-")


def _may_follow_blank(lowered: str, name: str, at: int, end: int) -> bool:
    """An option, netrc, the password is x, sshpass -p x, and SQL's PASSWORD 'x'."""
    if name.startswith(("-", "add-auth")) or "login" in lowered[max(0, at - 110) : at]:
        return True
    return lowered[end : end + 16].lstrip().startswith(("is ", "-p", "'"))


# Redacts many texts at once: one scan over all of them, and a look at those it points to.
#
# Owns: the way from a place in the joined texts back to the one text that stands there.
# Must not: hold patterns; the bulk scan says where to look, the finders say what is a secret.


def redact_batch(redactor: Redactor, texts: Sequence[str]) -> dict[int, str]:
    """The texts that hold secrets, by their place, without them."""
    found: Collection[int] = range(len(texts)) if redactor.has_extra else list(_worth_a_look(texts))
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
