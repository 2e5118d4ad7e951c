"""Finds tokens by their shape and by their vendor's prefix; webhooks, signatures, URL passwords."""

import re
from collections.abc import Iterator, Sequence

from holdfast import lazy_regex
from holdfast.redact.plausibility import is_dummy, is_scrambled, looks_generated
from holdfast.redact.secret_patterns import (
    BULK_TAIL,
    JWT_ANCHOR,
    LABEL_OPEN,
    SAS_ANCHORS,
    URL_ANCHOR,
    VENDOR,
    WEBHOOK_ANCHORS,
)

# start, end, label
Span = tuple[int, int, str]

_compiled: dict[str, re.Pattern[str]] = {}


def compile_once(source: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern once, when it is first needed; ASCII classes only."""
    pattern = _compiled.get(source)
    if pattern is None:
        pattern = _compiled[source] = lazy_regex.compile_once(source, flags | re.ASCII)
    return pattern


# A line break, plain or escaped, and what a listing or a diff puts before the line.
LINE_BREAK = r"(?:\r?\n|\\+n)[ \t>+|\-]{0,12}(?:\d{1,5}(?:→|\t|:|\|) ?)?[ \t]{0,12}"
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


def end_of_run(text: str, at: int, run: str = RUN) -> int:
    found = compile_once(run).match(text, at)
    return found.end() if found else at


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


def find_dotted_tokens(text: str) -> Iterator[Span]:
    """A Discord bot's: its id in base64 (digits only, hence the letters), a time, a signature; and
    Airtable's, with 64 digits behind its dot."""
    pattern = compile_once(r"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5}[A-Za-z0-9]{2,8}\Z")
    for at in discord_hits(text):
        name = pattern.search(text, max(0, at - 28), at)
        signature = compile_once(r"[A-Za-z0-9_\-]{27,60}").match(text, at + 8)
        if name and signature and can_start_token(text, name.start()):
            yield name.start(), signature.end(), "discord-token"
        digits = compile_once(r"\.[0-9a-f]{64}").match(text, at)
        if digits and text.startswith("pat", max(0, at - 17)) and can_start_token(text, at - 17):
            yield at - 17, digits.end(), "airtable-token"


def discord_hits(text: str) -> Iterator[int]:
    """Offsets of a dot with 22 letters or digits before it and another dot six places on, and of
    one in a token of Airtable."""
    dots = r"\.(?:[A-Za-z0-9_\-]{6}\.|(?<=pat[A-Za-z0-9]{14}\.)[0-9a-f]{64})"
    for match in compile_once(dots).finditer(text):
        at = match.start()
        if match.end() - at > 8 or (at >= 22 and text[at - 22 : at].isalnum()):
            yield at


def find_mailchimp_keys(text: str) -> Iterator[Span]:
    for match in compile_once(MAILCHIMP).finditer(text):
        yield match.start() - 32, match.end(), "mailchimp-key"


# With a data centre behind it.
MAILCHIMP = r"-(?=us[0-9])(?<=[0-9a-f]{32}-)us[0-9]{1,2}(?![A-Za-z0-9_\-])"


def find_webhooks(text: str) -> Iterator[Span]:
    """With the path of a webhook anybody can post to it; host and kind stay readable."""
    for anchor, tail in WEBHOOK_ANCHORS:
        for at in find_anchor(text, anchor):
            match = compile_once(tail).match(text, at + len(anchor))
            found = match.group() if match else ""
            if match and (any(map(str.isdigit, found)) or ("/T" in found and "/B" in found)):
                kind = found.index("/") + 1 if anchor == "hooks.slack.com/" else 0
                yield match.start() + kind, end_of_run(text, match.end()), "webhook"


def find_signatures(text: str) -> Iterator[Span]:
    """The signature of a shared-access link."""
    for anchor in SAS_ANCHORS:
        for at in find_anchor(text, anchor):
            match = compile_once(r"[A-Za-z0-9%+/]{40,200}={0,2}").match(text, at + len(anchor))
            if match and looks_generated(match.group()):
                yield match.start(), match.end(), "sas-signature"


def find_url_passwords(text: str) -> Iterator[Span]:
    """scheme://user:password@host: user and host stay."""
    pattern = compile_once(r"([^\s/?#:@\"'<>\\`]{0,100}):([^\s/?\"'<>\\`]{1,200})@(?=[\w\[$%{.\-])")
    for at in find_anchor(text, URL_ANCHOR):
        match = pattern.match(text, at + len(URL_ANCHOR))
        if match is None:
            user = compile_once(r"([A-Za-z0-9_\-]{30,200})@").match(text, at + len(URL_ANCHOR))
            if user and is_scrambled(user[1]):
                yield user.start(1), user.end(1), "url-password"
            continue
        name, password = match.groups()
        if password.startswith(("$", "{", "<", "[", "%(", "*")) or password in ("%s", "%v", "%d"):
            continue
        if password != name and not is_dummy(password) and len(password) >= 3:
            yield match.start(2), match.end(2), "url-password"


# label, anchor, pattern of what follows
Row = tuple[str, str, str]

# From here on the shared searches are faster than one search per anchor, compiling included.
_LONG = 250

# A prefix as long as this is hardly the beginning of a name.
_SAYS_ENOUGH = 5

# The letters from which to search for anchors without a separator, most shared first.
_LETTERS = "A~KpG"

_BY_ENDING: dict[str, list[Row]] = {}
_BY_LETTER: dict[str, list[Row]] = {}
for _row in VENDOR:
    if len(_row[1]) >= 3 and _row[1][-1] in "_-.":
        _BY_ENDING.setdefault(_row[1][-3:], []).append(_row)
    else:
        _letter = next(letter for letter in _LETTERS if letter in _row[1])
        _BY_LETTER.setdefault(_letter, []).append(_row)


def _separated(separator: str, run: str) -> str:
    """A pattern for a separator behind two letters that some anchor has there, before a run."""
    endings = [ending for ending in _BY_ENDING if ending[2] == separator]
    first = "".join(sorted({ending[0] for ending in endings}))
    second = "".join(sorted({ending[1] for ending in endings}))
    pairs = "|".join(sorted(re.escape(ending[:2]) for ending in endings))
    return rf"\{separator}(?<=[{first}][{second}].)(?={run}{{{BULK_TAIL}}})(?<=(?:{pairs}).)"


_SEPARATED = (
    _separated("_", r"[A-Za-z0-9_+/=\-]"),
    # A dash inside a UUID is the most frequent one of all; no anchor ends in four hex digits.
    _separated("-", r"(?<![0-9a-f]{4}-)[A-Za-z0-9_%\-]"),
    # Doppler names a config between the prefix and the secret, behind another dot.
    _separated(".", r"[A-Za-z0-9_.\-]"),
)


def find_vendor_tokens(text: str) -> Iterator[Span]:
    """Tokens that name their vendor in a prefix."""
    done: dict[str, int] = {}
    for at, (label, anchor, tail) in vendor_hits(text):
        if at < done.get(anchor, 0):
            continue
        match = compile_once(tail).match(text, at + len(anchor))
        start = _start_of_token(text, at, label) if match else None
        if match is None or start is None:
            continue
        if is_dummy(match.group()) or _is_words(anchor, match.group()):
            continue
        end = done[anchor] = end_of_run(text, match.end())
        yield start, end, label
        if label == "aws-key-id":
            yield from _find_aws_secret(text, end)


def vendor_hits(text: str) -> Iterator[tuple[int, Row]]:
    """Where an anchor stands with something of the right shape behind it, or may stand."""
    if len(text) >= _LONG:
        yield from shared_hits(text)
        return
    for row in VENDOR:
        for at in find_anchor(text, row[1]):
            yield at, row


def shared_hits(text: str) -> Iterator[tuple[int, Row]]:
    """Where an anchor stands with something of the right shape behind it.

    A search costs 0.3 to 0.6 ms per MB, and there are more than a hundred anchors; so all that
    end in the same separator share one search for the separator and a long run behind it.
    """
    for source in _SEPARATED:
        for found in compile_once(source).finditer(text):
            end = found.start() + 1
            for row in _BY_ENDING.get(text[max(0, end - 3) : end], ()):
                if text.endswith(row[1], 0, end) and compile_once(row[2]).match(text, end):
                    yield end - len(row[1]), row
    for letter, rows in _BY_LETTER.items():
        for found in compile_once(_lettered(letter, rows)).finditer(text):
            for row in rows:
                at = found.start() - row[1].index(letter)
                behind = at + len(row[1])
                if text.startswith(row[1], max(0, at)) and compile_once(row[2]).match(text, behind):
                    yield at, row


def _lettered(letter: str, rows: list[Row]) -> str:
    """A pattern that starts from one letter and asks for any of the anchors around it."""
    anchors = []
    for _, anchor, tail in rows:
        at = anchor.index(letter)
        anchors.append(f"(?<={anchor[: at + 1]}){anchor[at + 1 :]}{tail}")
    return f"{letter}(?={'|'.join(anchors)})"


def _is_words(anchor: str, body: str) -> bool:
    # my-task-description-without-digits has the letters of a token and the shape of a name.
    if looks_generated(body) or body.isupper() or any(map(str.isdigit, body)):
        return False
    # Behind a prefix that is no word, a name would be written in one case or in parts.
    if len(anchor) >= _SAYS_ENOUGH and body.isalpha() and not body.islower():
        return False
    # A name is made of words, and words of two letters are few.
    humps = compile_once(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+").findall(body)
    return sum(len(hump) <= 2 for hump in humps) < 3


# What stands before the anchor belongs to these.
_BEFORE_ANCHOR = {
    "telegram-token": r"\d{8,10}\Z",
    **dict.fromkeys(("azure-secret", "terraform-token"), r"[A-Za-z0-9_~.\-]{3,20}\Z"),
}


def _start_of_token(text: str, at: int, label: str) -> int | None:
    if label not in _BEFORE_ANCHOR:
        return at if can_start_token(text, at) else None
    before = compile_once(_BEFORE_ANCHOR[label]).search(text, max(0, at - 20), at)
    return before.start() if before else None


def _find_aws_secret(text: str, after: int) -> Iterator[Span]:
    # The secret half often stands beside its id with no name: a CSV line, a terminal table.
    pattern = compile_once(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
    for match in pattern.finditer(text, after, min(len(text), after + 160)):
        value = match.group()
        if not compile_once(r"[0-9a-f]+\Z").match(value) and looks_generated(value):
            yield match.start(), match.end(), "aws-secret-key"
