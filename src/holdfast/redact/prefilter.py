"""Decides, without regular expressions, whether a text could hold anything to redact.

Owns: `suspicious`. It may say yes too often (that costs an import and a scan), never no too often:
`redact` trusts a no.
Must not: import anything but the anchors.
"""

from holdfast.redact.secret_patterns import (
    BULK_TAIL,
    JWT_ANCHOR,
    LONG_OPTIONS,
    OPTION_LETTERS,
    PEM_ANCHOR,
    PHRASES,
    SAS_ANCHORS,
    TELLING_SIGNS,
    URL_ANCHOR,
    VENDOR,
    WEBHOOK_ANCHORS,
    WORDS,
)

_LITERALS = tuple(
    dict.fromkeys(
        [anchor for _, anchor, _ in VENDOR]
        + [JWT_ANCHOR, *SAS_ANCHORS]
        + [anchor for anchor, _ in WEBHOOK_ANCHORS]
    )
)
# "sk-" answers for "sk-ant-" too: an anchor that contains another need not be looked for.
_SHORTEST = tuple(
    literal
    for literal in _LITERALS
    if not any(other in literal and other != literal for other in _LITERALS)
)

# How far behind and ahead of a name its value can be announced, and how long the part of a URL
# before the host can be. The engine's own limits are smaller.
_BEHIND = 64
_AHEAD = 128
_USERINFO = 400

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
    for literal in _SHORTEST:
        at = text.find(literal)
        while at >= 0:
            at += len(literal)
            tail = text[at : at + BULK_TAIL]
            if len(tail) == BULK_TAIL and len(tail.split()) == 1 and not tail[0].isspace():
                return True
            at = text.find(literal, at)
    if PEM_ANCHOR in text or _has_url_user(text) or _has_dotted_token(text):
        return True
    if _has_option(text) or _has_told_word(text) or _has_fields(text):
        return True
    lowered = ascii_lower(text)
    return any(phrase in lowered for phrase in PHRASES) or any(
        _announces_value(lowered, word) for word in WORDS
    )


def _has_option(text: str) -> bool:
    for dash in (" -", "\t-"):
        at = text.find(dash)
        while at >= 0:
            letter = text[at + 2 : at + 3]
            if letter == "-":
                if text.startswith(LONG_OPTIONS, at + 3):
                    return True
            elif letter and letter in OPTION_LETTERS:
                return True
            at = text.find(dash, at + 2)
    return False


def _has_told_word(text: str) -> bool:
    """admin / X"""
    at = text.find(" / ")
    while at >= 0:
        word = text[at + 3 : at + 200].split(None, 1)
        if word and any(sign in word[0] for sign in TELLING_SIGNS):
            return True
        at = text.find(" / ", at + 3)
    return False


def _has_fields(text: str) -> bool:
    """host:port:database:user:password"""
    return text.count(":") >= 4 and any(word.count(":") >= 4 for word in text.split())


def _has_url_user(text: str) -> bool:
    at = text.find(URL_ANCHOR)
    while at >= 0:
        if "@" in text[at : at + _USERINFO]:
            return True
        at = text.find(URL_ANCHOR, at + 1)
    return False


def _has_dotted_token(text: str) -> bool:
    # A Discord bot token has no prefix: two dots, six characters apart, and a long last part.
    at = text.find(".")
    while at >= 0:
        if text[at + 7 : at + 8] == "." and len(text[at + 8 : at + 35].split()) == 1:
            return True
        at = text.find(".", at + 1)
    return False


def _announces_value(lowered: str, word: str) -> bool:
    at = lowered.find(word)
    while at >= 0:
        ahead = lowered[at + len(word) : at + _AHEAD]
        if any(sign in ahead for sign in _ANNOUNCERS) or any(how in ahead for how in _ANNOUNCING):
            return True
        behind = lowered[max(0, at - _BEHIND) : at]
        if word == "pw" or any(sign in behind for sign in _BEFORE_NAMES):
            return True
        at = lowered.find(word, at + len(word))
    return False
