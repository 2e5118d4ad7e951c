"""Finds passwords told in a sentence: "the db password is X", "use pw X", "admin / X".

Owns: the turns of phrase that announce a password, and which word of them is one.
Must not: decide which word reads as a password (judgement.py).

Patterns run over the text in lower case, in which every character keeps its place.
"""

import re
from collections.abc import Iterator

from holdfast.redact.plausibility import PASSWORD, SPOKEN, is_secret
from holdfast.redact.token_shapes import Span, compile_once, find_anchor

_QUOTE = r"[\"'`“‘*(<\[]{0,3}"
_VALUE = r"(?P<value>[^\s\"'`”’<>\\]{6,200})"
_THING = r"(?:[ ][a-z0-9_.@/'\-]{1,40})"
# password, passwd, passphrase, passcode, pw, pwd; pass alone is mostly what tests do
_CALLED = r"p(?:ass(?:word|wd|phrase|code|wort|(?= is ))|wd?)(?![a-z0-9_\-])[\"'`*)]{0,3}"
# The password for the db on staging is now X; set the root password to X; pw: X; use pw X
_AHEAD = (
    _CALLED
    + rf"(?:(?:[ ](?:for|of|on|in|at|from|to){_THING}{{1,6}}?)?"
    + r"(?:[ ](?:is|was|be|to|as|=|->|=>|→|now|has been|will be|should be|must be|became)|'s"
    r"|[ ]?[:=])(?:[ ](?:now|still|set|changed|reset|just|again|to|is|be)){0,3}[:=]?"
    rf"|[ ](?:for|of|on|to){_THING}{{1,4}}?[:=]|(?=[ ]))"
    r"(?:[ ]{1,4}|(?P<line>[ ]{0,4}\r?\n[ \t>]{0,12}(?:\d{1,5}(?:→|\t) ?)?[ ]{0,12}))"
    + _QUOTE
    + _VALUE
)
# Use X as the password; X is the root password
_BEHIND = (
    r"(?<![^\s\"'`“‘(>→])(?P<value>[^\s\"'`”’<>()\\→]{6,80})[\"'`”’]{0,2}[ ](?:is|as|for|was)"
    r"(?:[ ][a-z0-9_.\-]{1,30}){0,4}[ ]\Z"
)
# What the word before it is; passwordless is no password, and a password manager is none.
_WHOLE = (
    _CALLED + r"(?![ ](?:manager|field|form|reset|policy|hash|input|store|vault|rule|prompt|check"
    r"|column|box|page|screen|provider|library|service|based|generator)s?\b)"
)
_BACK = 160
# Before the slash of "admin / X" and of "creds: bob / X"
_USER = (
    r"(?:(?<![\w/.\-])(?:admin|administrator|root|user|username|login|postgres|superuser|sysadmin"
    r"|guest|demo|test|tester|deploy|deployer|ubuntu|ec2-user|operator|manager|support|sa|dev|me"
    r"|[\w.+\-]{1,60}@[\w.\-]{3,60})"
    r"|(?:creds?|credentials?|log(?:ged)?[ -]?in|sign[ -]?in|account)\b[^\n]{0,40}?"
    r"(?<![\w/.\-])[\w.@+\-]{2,40})[\"'`*]{0,2}[ ]\Z"
)
_BEFORE_SLASH = 120
_CREDENTIALS = (
    r"cred(?:s|entials?)?\b(?:[ ][a-z]{1,12}){0,4}[ ]?[:=]?[ ]{0,3}" + _QUOTE + r"[\w.@+\-]{2,40}"
    r"[ ]?[:/|][ ]?" + _VALUE
)
_CLOSING = ".,:;!?)*>]}|”’"
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.$/@")


def find_prose_passwords(lowered: str, text: str) -> Iterator[Span]:
    for called in ("pass", "pw"):
        for at in find_anchor(lowered, called):
            if _begins_here(lowered, at):
                yield from _told_ahead(lowered, text, at)
                yield from _told_behind(lowered, text, at)
    for at in find_anchor(lowered, " / "):
        told = list(_judged(text, compile_once(_QUOTE + _VALUE).match(lowered, at + 3)))
        if told and compile_once(_USER).search(lowered, max(0, at - _BEFORE_SLASH), at + 1):
            yield from told
    for user in ("admin:", "root:"):
        for at in find_anchor(lowered, user):
            if _begins_here(lowered, at):
                yield from _judged(text, compile_once(_VALUE).match(lowered, at + len(user)))
    for at in find_anchor(lowered, "cred"):
        yield from _judged(text, compile_once(_CREDENTIALS).match(lowered, at))


def _begins_here(lowered: str, at: int) -> bool:
    """Not inside a name; where a diff takes a line away, a dash stands before it."""
    before = lowered[max(0, at - 2) : at]
    return not before or before[-1] not in _IN_NAMES or before in ("-", "\n-")


def _told_ahead(lowered: str, text: str, at: int) -> Iterator[Span]:
    match = compile_once(_AHEAD).match(lowered, at)
    if match is None:
        return
    if match["line"] is not None:
        # On the next line it must stand alone; anything else is the next line of a form.
        following = lowered[match.end() : match.end() + 3].lstrip("\"'` \t")
        if following[:1] not in ("", "\n", "\r"):
            return
    yield from _judged(text, match)


def _told_behind(lowered: str, text: str, at: int) -> Iterator[Span]:
    if compile_once(_WHOLE).match(lowered, at) is None:
        return
    yield from _judged(text, compile_once(_BEHIND).search(lowered, max(0, at - _BACK), at))


def _judged(text: str, match: "re.Match[str] | None") -> Iterator[Span]:
    if match is None:
        return
    start, end = match.span("value")
    value = text[start:end].rstrip(_CLOSING)
    if is_secret(PASSWORD, value, SPOKEN):
        # What closes a sentence may as well close a password.
        whole = text[start:end].rstrip(".,:;)>]}|*”’")
        yield start, start + max(len(value), len(whole)), "password"
