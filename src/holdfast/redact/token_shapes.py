"""Finds secrets by shape: JSON web tokens, webhooks, signatures, URL passwords.

Owns: one finder per shape, each yielding `Span`s in a decoded text.
Must not: know about private keys (keys.py), vendors' prefixes (vendors.py), names and values
(assignments.py), commands (options.py), sentences (spoken.py) or JSON rows (rows.py).

Every finder walks from anchor to anchor and every pattern is bounded, so the cost is linear in the
text whatever it holds. Patterns are compiled when their anchor is first seen: compiling all of
them would cost a hook more than the whole rest of its work.
"""

import re
from collections.abc import Iterator, Sequence

from holdfast.redact.plausibility import is_dummy, looks_generated
from holdfast.redact.secret_patterns import (
    JWT_ANCHOR,
    LABEL_OPEN,
    SAS_ANCHOR,
    URL_ANCHOR,
    WEBHOOK_ANCHORS,
)

# start, end, label
Span = tuple[int, int, str]

_compiled: dict[str, re.Pattern[str]] = {}


def compile_once(source: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern once, when it is first needed; ASCII classes only."""
    pattern = _compiled.get(source)
    if pattern is None:
        pattern = _compiled[source] = re.compile(source, flags | re.ASCII)
    return pattern


RUN = r"[A-Za-z0-9_\-]*"
_ESCAPES_BEFORE = (
    r"(?:\\[nrtbfv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,12}m)\Z"
)


def can_start_token(text: str, at: int) -> bool:
    """Say whether a token can begin here: after no letter or digit, or after an escape code.

    Text inside text leaves escapes unread: a line break written as a backslash and an n, a
    percent code in a URL, a colour code in terminal output.
    """
    if at == 0 or not (text[at - 1].isascii() and text[at - 1].isalnum()):
        return True
    return compile_once(_ESCAPES_BEFORE).search(text[max(0, at - 16) : at]) is not None


def find_anchor(text: str, anchor: str) -> Iterator[int]:
    at = text.find(anchor)
    while at >= 0:
        yield at
        at = text.find(anchor, at + len(anchor))


def replace_spans(text: str, spans: Sequence[Span]) -> str:
    pieces = []
    position = 0
    for start, end, label in spans:
        pieces.append(text[position:start])
        pieces.append(f"{LABEL_OPEN}{label}]")
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def find_web_tokens(text: str) -> Iterator[Span]:
    """JSON web tokens: two or more parts of base64url after a part that decodes to `{"`."""
    done = 0
    run = compile_once(r"[A-Za-z0-9_\-]+")
    for at in find_anchor(text, JWT_ANCHOR):
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
        if whole and can_start_token(text, at):
            done = ends[-1]
            yield at, done, "jwt"


def find_discord_tokens(text: str) -> Iterator[Span]:
    """A bot token: its id in base64 (digits only, hence the letters), a time, a signature."""
    pattern = compile_once(r"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5}[A-Za-z0-9]{2,8}\Z")
    for at in discord_hits(text):
        name = pattern.search(text, max(0, at - 28), at)
        signature = compile_once(r"[A-Za-z0-9_\-]{27,60}").match(text, at + 8)
        if name and signature and can_start_token(text, name.start()):
            yield name.start(), signature.end(), "discord-token"


def discord_hits(text: str) -> Iterator[int]:
    """Offsets of a dot with 22 letters or digits before it and another dot six places on."""
    for match in compile_once(r"\.[A-Za-z0-9_\-]{6}\.").finditer(text):
        at = match.start()
        if at >= 22 and text[at - 22 : at].isalnum():
            yield at


def find_webhooks(text: str) -> Iterator[Span]:
    """Whoever has the path of a webhook can post to it; host and kind stay readable."""
    for anchor, tail in WEBHOOK_ANCHORS:
        for at in find_anchor(text, anchor):
            match = compile_once(tail).match(text, at + len(anchor))
            found = match.group() if match else ""
            if match and (any(map(str.isdigit, found)) or ("/T" in found and "/B" in found)):
                start = text.find("/", match.start(), match.end()) + 1
                if anchor == "/api/webhooks/":
                    start = match.start()
                run = compile_once(RUN).match(text, match.end())
                yield start, run.end() if run else match.end(), "webhook"


def find_signatures(text: str) -> Iterator[Span]:
    """The signature of a shared-access link."""
    for at in find_anchor(text, SAS_ANCHOR):
        match = compile_once(r"[A-Za-z0-9%+/]{40,200}={0,2}").match(text, at + len(SAS_ANCHOR))
        if match and looks_generated(match.group()):
            yield match.start(), match.end(), "sas-signature"


def find_url_passwords(text: str) -> Iterator[Span]:
    """scheme://user:password@host: user and host stay."""
    pattern = compile_once(r"([^\s/?#:@\"'<>\\`]{0,100}):([^\s/?\"'<>\\`]{1,200})@(?=[\w\[$%{.\-])")
    for at in find_anchor(text, URL_ANCHOR):
        match = pattern.match(text, at + len(URL_ANCHOR))
        if match is None:
            continue
        user, password = match.groups()
        if password.startswith(("$", "{", "<", "[", "%(", "*")) or password in ("%s", "%v", "%d"):
            continue
        if password == user or is_dummy(password) or len(password) < 3:
            continue
        yield match.start(2), match.end(2), "url-password"
