"""Decides, without regular expressions, whether a text could hold anything to redact.

Owns: `suspicious`. It may say yes too often (that costs an import and a scan), never no too often:
`redact` trusts a no.
Must not: import anything but the anchors.
"""

from __future__ import annotations

from holdfast.redact.commands import COMMAND_WORDS, HANDED_ON, OPTIONS
from holdfast.redact.secret_patterns import (
    BULK_TAIL,
    FOREIGN,
    JWT_ANCHOR,
    PEM_ANCHOR,
    PHRASES,
    SAS_ANCHORS,
    TELLING_SIGNS,
    URL_ANCHOR,
    VENDOR,
    WEBHOOK_ANCHORS,
    WORDS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LITERALS: list[str] = []
for _literal in sorted(
    [*(row[1] for row in VENDOR), *(row[0] for row in WEBHOOK_ANCHORS), JWT_ANCHOR, *SAS_ANCHORS]
):
    # "sk-" answers for "sk-ant-" too: an anchor that begins with another need not be looked for.
    if not _LITERALS or not _literal.startswith(_LITERALS[-1]):
        _LITERALS.append(_literal)

_PHRASES = (
    *PHRASES,
    *(word for word in FOREIGN if word.isascii()),
    *(word for word in COMMAND_WORDS if word not in HANDED_ON and "passw" not in word),
)
_FOREIGN_SCRIPTS = tuple(word for word in FOREIGN if not word.isascii())
_LONG_OPTIONS = tuple({option[2:] for option, _, _ in OPTIONS if option.startswith("--")})
_OPTION_LETTERS = frozenset(option[1] for option, _, _ in OPTIONS)

# How far behind and ahead of a name its value can be announced, and how long the part of a URL
# before the host can be. The engine's own limits are smaller.
_BEHIND = 64
_AHEAD = 128
_USERINFO = 400
_LONG_WORD = 24  # right behind a name it may be a token

# One of these stands between a name and its value, unless the name is an option or ends a phrase.
_ANNOUNCERS = "=:>(,'\"`%|?：\u00a0"
_ANNOUNCING = (" is ", " -p", "value")
# Behind one of these a name may stand right before its value: an option, netrc, `setenv NAME x`.
_BEFORE_NAMES = ("--", "login", "set", "env ", "arg ", "add-")


def ascii_lower(text: str) -> str:
    """Lower-case A to Z only: every character keeps its place, whatever the script.

    `str.lower` lengthens some characters and turns others (the Kelvin sign) into ASCII letters.
    """
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def suspicious(text: str) -> bool:
    """Say whether the text could hold a secret of a built-in kind."""
    if PEM_ANCHOR in text or any(
        literal in text and _has(text, literal, _may_be_token) for literal in _LITERALS
    ):
        return True
    if any(_has(text, sign, announces) for sign, announces in _SIGNS) or _has_fields(text):
        return True
    lowered = ascii_lower(text)
    if not text.isascii() and any(word in lowered for word in _FOREIGN_SCRIPTS):
        return True
    return (
        any(phrase in lowered for phrase in _PHRASES)
        or any(_has(lowered, word, _announces_value) for word in WORDS)
        or any(_has(lowered, word, _hands_on) for word in HANDED_ON)
        or _has(lowered, "pin", _may_be_number)
    )


def _has(text: str, literal: str, announces: Callable[[str, int, str], bool]) -> bool:
    """Whether the literal stands somewhere in such a way; asked with where it ends."""
    at = text.find(literal)
    while at >= 0:
        if announces(text, at + len(literal), literal):
            return True
        at = text.find(literal, at + len(literal))
    return False


def _may_be_token(text: str, end: int, _: str) -> bool:
    tail = text[end : end + BULK_TAIL]
    return len(tail) == BULK_TAIL and len(tail.split()) == 1 and not tail[0].isspace()


def _is_option(text: str, end: int, _: str) -> bool:
    letter = text[end : end + 1]
    if letter == "-":
        return text.startswith(_LONG_OPTIONS, end + 1)
    return bool(letter) and letter in _OPTION_LETTERS


def _is_told(text: str, end: int, _: str) -> bool:
    """admin / X"""
    word = text[end : end + 197].split(None, 1)
    return bool(word) and any(sign in word[0] for sign in TELLING_SIGNS)


def _has_user(text: str, end: int, _: str) -> bool:
    return "@" in text[end : end + _USERINFO]


def _is_dotted_token(text: str, end: int, _: str) -> bool:
    # A Discord bot token has no prefix: two dots, six characters apart, and a long last part.
    # A token of Airtable has one after "pat" and fourteen signs.
    return (
        text[end + 6 : end + 7] == "." and len(text[end + 7 : end + 34].split()) == 1
    ) or text.startswith("pat", max(0, end - 18))


_SIGNS = (
    (" -", _is_option),
    ("\t-", _is_option),
    (" / ", _is_told),
    (URL_ANCHOR, _has_user),
    (".", _is_dotted_token),
)


def _has_fields(text: str) -> bool:
    """host:port:database:user:password"""
    return text.count(":") >= 4 and any(word.count(":") >= 4 for word in text.split())


def _may_be_number(lowered: str, end: int, _: str) -> bool:
    ahead = lowered[end : end + 60]
    return not lowered[end - 4 : end - 3].isalpha() and any(map(str.isdigit, ahead))


def _hands_on(lowered: str, end: int, word: str) -> bool:
    ahead = lowered[end : end + 3 * _AHEAD]
    return word == "<<<" or "|" in ahead or ">" in ahead


def _announces_value(lowered: str, end: int, word: str) -> bool:
    ahead = lowered[end : end + _AHEAD - len(word)]
    if any(sign in ahead for sign in _ANNOUNCERS) or any(how in ahead for how in _ANNOUNCING):
        return True
    if ahead[:1] == " " and len(ahead[1:].partition(" ")[0]) >= _LONG_WORD:
        return True
    behind = lowered[max(0, end - len(word) - _BEHIND) : end - len(word)]
    return word == "pw" or any(sign in behind for sign in _BEFORE_NAMES)
