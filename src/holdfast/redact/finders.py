"""Finds secrets by shape: JSON web tokens, private keys, webhooks, URL passwords.

Owns: one finder per shape, each yielding `Span`s in a decoded text.
Must not: know about vendors' prefixes (vendors.py), names and values (assignments.py) or JSON rows
(rows.py).

Every finder walks from anchor to anchor and every pattern is bounded, so the cost is linear in the
text whatever it holds. Patterns are compiled when their anchor is first seen: compiling all of
them would cost a hook more than the whole rest of its work.
"""

import re
from collections.abc import Iterator

from holdfast.redact.judgement import PASSWORD, QUOTED, is_dummy, is_secret, looks_generated
from holdfast.redact.patterns import (
    JWT_ANCHOR,
    PEM_ANCHOR,
    SAS_ANCHOR,
    URL_ANCHOR,
    WEBHOOK_ANCHORS,
)

# start, end, label
Span = tuple[int, int, str]

_compiled: dict[str, re.Pattern[str]] = {}


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern once, when it is first needed; ASCII classes only."""
    pattern = _compiled.get(source)
    if pattern is None:
        pattern = _compiled[source] = re.compile(source, flags | re.ASCII)
    return pattern


RUN = r"[A-Za-z0-9_\-]*"
_ESCAPES_BEFORE = (
    r"(?:\\[nrtbfv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,12}m)\Z"
)


def at_start(text: str, at: int) -> bool:
    """Say whether a token can begin here: after no letter or digit, or after an escape code.

    Text inside text leaves escapes unread: a line break written as a backslash and an n, a
    percent code in a URL, a colour code in terminal output.
    """
    if at == 0 or not (text[at - 1].isascii() and text[at - 1].isalnum()):
        return True
    return lazy(_ESCAPES_BEFORE).search(text[max(0, at - 16) : at]) is not None


def hits(text: str, anchor: str) -> Iterator[int]:
    at = text.find(anchor)
    while at >= 0:
        yield at
        at = text.find(anchor, at + len(anchor))


def find_web_tokens(text: str) -> Iterator[Span]:
    """JSON web tokens: two or more parts of base64url after a part that decodes to `{"`."""
    done = 0
    run = lazy(r"[A-Za-z0-9_\-]+")
    for at in hits(text, JWT_ANCHOR):
        if at < done:
            continue
        # The run that starts here ends where any later anchor inside it ends: read it once.
        ends: list[int] = []
        position = at
        while len(ends) < 5 and (part := run.match(text, position)):
            ends.append(part.end())
            if text[part.end() : part.end() + 1] != ".":
                break
            position = part.end() + 1
        done = ends[0]
        long_enough = len(ends) >= 2 and ends[0] - at >= 12 and ends[1] - ends[0] >= 10
        whole = long_enough and (len(ends) >= 3 or text[ends[1] : ends[1] + 1] == ".")
        if whole and at_start(text, at):
            done = ends[-1]
            yield at, done, "jwt"


def find_discord_tokens(text: str) -> Iterator[Span]:
    """A bot token: its id in base64 (digits only, hence the letters), a time, a signature."""
    pattern = lazy(r"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5}[A-Za-z0-9]{2,8}\Z")
    for at in discord_hits(text):
        name = pattern.search(text, max(0, at - 28), at)
        signature = lazy(r"[A-Za-z0-9_\-]{27,60}").match(text, at + 8)
        if name and signature and at_start(text, name.start()):
            yield name.start(), signature.end(), "discord-token"


def discord_hits(text: str) -> Iterator[int]:
    """Offsets of a dot with 22 letters or digits before it and another dot six places on."""
    for match in lazy(r"\.[A-Za-z0-9_\-]{6}\.").finditer(text):
        at = match.start()
        if at >= 22 and text[at - 22 : at].isalnum():
            yield at


_PEM_HEAD = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END [A-Z0-9 ]{0,48}-----"
# A key of 16,384 bits takes 13 KB; line numbers and escapes add to it.
_PEM_LONGEST = 24_000
# A line of a key whose end was cut off, after a line number or a quoting mark.
_PEM_LINE = (
    r"(?:\\+r)?(?:\r?\n|\\+n)[ \t>+|]{0,12}(?:\d{1,5}(?:→|\t|:|\|) ?)?[ \t]{0,12}"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,120}"
    r"|[A-Za-z0-9+/]{16,120}={0,2}|=?[A-Za-z0-9+/]{4,100}={0,2}(?=\s|\\|\"|\Z)|(?=\r?\n|\\+n))"
)


def find_private_keys(text: str) -> Iterator[Span]:
    done = 0
    for at in hits(text, PEM_ANCHOR):
        head = lazy(_PEM_HEAD).match(text, at) if at >= done else None
        if head is None:
            continue
        limit = text.find(PEM_ANCHOR, head.end(), head.end() + _PEM_LONGEST)
        if limit < 0:
            limit = min(len(text), head.end() + _PEM_LONGEST)
        end_at = text.find("-----END ", head.end(), limit)
        tail = lazy(_PEM_END).match(text, end_at) if end_at >= 0 else None
        done = tail.end() if tail else _end_of_cut_key(text, head.end())
        if done > head.end():
            yield at, done, "private-key"


def _end_of_cut_key(text: str, at: int) -> int:
    line = lazy(_PEM_LINE)
    while (match := line.match(text, at)) and match.end() > at:
        at = match.end()
    return at


def find_webhooks(text: str) -> Iterator[Span]:
    """Whoever has the path of a webhook can post to it; host and kind stay readable."""
    for anchor, tail in WEBHOOK_ANCHORS:
        for at in hits(text, anchor):
            match = lazy(tail).match(text, at + len(anchor))
            if match and any(char.isdigit() for char in match.group()):
                start = text.find("/", match.start(), match.end()) + 1
                if anchor == "/api/webhooks/":
                    start = match.start()
                run = lazy(RUN).match(text, match.end())
                yield start, run.end() if run else match.end(), "webhook"


def find_signatures(text: str) -> Iterator[Span]:
    """The signature of a shared-access link."""
    for at in hits(text, SAS_ANCHOR):
        match = lazy(r"[A-Za-z0-9%+/]{40,200}={0,2}").match(text, at + len(SAS_ANCHOR))
        if match and looks_generated(match.group()):
            yield match.start(), match.end(), "sas-signature"


def find_url_passwords(text: str) -> Iterator[Span]:
    """scheme://user:password@host: user and host stay."""
    pattern = lazy(r"([^\s/?#:@\"'<>\\`]{0,100}):([^\s/?\"'<>\\`]{1,200})@(?=[\w\[$%{.\-])")
    for at in hits(text, URL_ANCHOR):
        match = pattern.match(text, at + len(URL_ANCHOR))
        if match is None:
            continue
        user, password = match.groups()
        if password.startswith(("$", "{", "<", "[", "%(", "*")) or password in ("%s", "%v", "%d"):
            continue
        if password == user or is_dummy(password) or len(password) < 3:
            continue
        yield match.start(2), match.end(2), "url-password"


def find_command_passwords(lowered: str, text: str) -> Iterator[Span]:
    """curl -u user:password, mysql -ppassword, IDENTIFIED BY 'password'."""
    rules = (
        (
            "curl ",
            r"(?:[^\n]{0,300}? )?(?:-u|--user)[ =]?\\*[\"']?[^\s:\"'\\]{1,80}:([^\s\"'\\]{3,200})",
        ),
        ("mysql", r"[^\n]{0,160}? -p\\*[\"']?([^\s\"'\\]{4,100})"),
        ("mariadb", r"[^\n]{0,160}? -p\\*[\"']?([^\s\"'\\]{4,100})"),
        ("identified by", r"\s{1,4}\\*[\"']([^\s\"'\\]{4,100})"),
    )
    for anchor, tail in rules:
        for at in hits(lowered, anchor):
            match = lazy(tail).match(text, at + len(anchor))
            if match is None:
                continue
            value = match.group(1)
            if is_secret(PASSWORD, value, QUOTED) and not value.isdigit():
                yield match.start(1), match.end(1), "password"
