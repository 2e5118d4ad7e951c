"""Finds passwords by what stands around them: a command, a file's form, or a sentence.

`docker login -p X` and lines of .pgpass first, then sentences such as "the db password is X".
"""

import re
from collections.abc import Iterator

from holdfast.redact.commands import (
    ANNOUNCED,
    COMMAND_WORDS,
    FIELD,
    HANDED_ON,
    OPTIONS,
    PRINTS_A_SECRET,
    QUOTED,
    TAKES_A_SECRET,
    TYPED,
)
from holdfast.redact.plausibility import (
    OPTION,
    PASSWORD,
    SPOKEN,
    is_dummy,
    is_secret,
    looks_generated,
)
from holdfast.redact.secret_patterns import FOREIGN, NUMBER_WORDS
from holdfast.redact.token_shapes import Span, compile_once, find_anchor
from holdfast.redact.word_search import WordSearch

_BY_OPTION = {option: [row[1:] for row in OPTIONS if row[0] == option] for option, _, _ in OPTIONS}
# The letters with which an option of the table begins, longest first.
_OPTION = "|".join(sorted((option[1:] for option in _BY_OPTION), key=len, reverse=True))
OPTION_HIT = rf"-(?<=[ \t]-)(?:{_OPTION})"
_LINE_BEHIND = 300
# Not inside a word; but behind an escape that was not read yet, or where a diff takes a line away.
_COMMAND_BEGINS = r"(?:(?<![\w.\-])|(?<=\\[nrt])|(?<=\\u\w\w\w\w)|(?<=[\"\s]-)|(?<=\A-))"

_ANNOUNCED = {word: [row[1] for row in ANNOUNCED if row[0] == word] for word, _ in ANNOUNCED}
_COMMAND_WORDS = WordSearch(COMMAND_WORDS)
# echo X | command, echo X > file, command <<< X
_HANDED_ON = (
    r"(?:-[ne]{1,2}[ ]+)?(?:\\*[\"']%s(?:\\+n)?\\*[\"'][ ]+)?"
    + QUOTED
    + r"[\"'\\]{0,4}[ ]*(?:\|[ ]*(?!grep|sed|awk|tr |cut|wc|head|tail|jq)"
    r"|>{1,2}[ ]*[\"']?(?=\S{0,80}(?:pass(?!ed)|secret|vault_pass)))(?P<to>[^\n|;]{0,120})"
)
# The only word on its line, or behind a user's name there or on the line above it.
_PRINTED = (
    r"[^\n]{0,200}\n(?:[\w.@\-]{1,40}[,\t\n])?(?P<told>[^\s\"',]{8,200})[ ]{0,4}(?=[\n\"]|\Z)"
)
_DSN = r"[\w.\-]{1,60}:(?P<value>[^\s:\"'`\\]{4,100})\Z"

# host:port:database:user:password
_PGPASS = (
    r"(?:(?<![\w.*\-/:])|(?<=\s-)|(?<=\A-)|(?<=\d:)(?=[A-Za-z*]))[A-Za-z0-9*][\w.*\-]{0,80}:(?:\d{2,5}|\*):[A-Za-z_*][\w*\-]{0,60}"
    r":[A-Za-z_*][\w*.\-]{0,60}:(?P<value>[^\s:\"'\\<>]{4,200})(?=[\s\\\"'<]|\Z)"
)
PGPASS_HIT = r":(?=(?:\d{2,5}|\*):[A-Za-z_*][\w*\-]{0,60}:[A-Za-z_*][\w*.\-]{0,60}:[^\s:])"


def find_option_passwords(lowered: str, text: str) -> Iterator[Span]:
    for option in compile_once(OPTION_HIT).finditer(text):
        for value in _values_of(text, option.start(), option.group()):
            yield from _judge_option(compile_once(value).match(text, option.end()))
    for at, word in _COMMAND_WORDS.hits(lowered):
        yield from _read_command_word(lowered, text, at, word)


def _read_command_word(lowered: str, text: str, at: int, word: str) -> Iterator[Span]:
    """What a word of the table announces where it stands."""
    end = at + len(word)
    for tail in _ANNOUNCED.get(word, ()):
        yield from _judge_option(compile_once(tail).match(text, end))
    if word in TYPED:
        if compile_once(FIELD).search(lowered, max(0, at - 160), at):
            yield from _judge_option(compile_once(r"\\*" + QUOTED).match(text, end))
    elif word in HANDED_ON:
        yield from _handed_on(lowered, text, at, end)
    elif word in PRINTS_A_SECRET:
        yield from _judge_option(compile_once(_PRINTED).match(text, end))
    elif word == "@tcp(":  # bob:X@tcp(host:3306)/db
        yield from _judge_option(compile_once(_DSN).search(text, max(0, at - 180), at))


def hands_on(lowered: str, at: int) -> bool:
    """Whether what is printed here goes to something that takes a secret: a quick look."""
    to = compile_once(r"[^|>]{1,300}[|>]([^|;]{0,120})").match(lowered, at)
    return to is not None and compile_once(TAKES_A_SECRET).search(to[1]) is not None


def _handed_on(lowered: str, text: str, at: int, end: int) -> Iterator[Span]:
    if lowered[at] == "<":
        line = lowered[max(lowered.rfind("\n", max(0, at - 160), at), at - 160, 0) : at]
        if compile_once(TAKES_A_SECRET).search(line):
            yield from _judge_option(compile_once(r"[ ]{0,4}" + QUOTED).match(text, end))
        return
    match = compile_once(_HANDED_ON).match(text, end)
    to = match["to"].lower() if match else ""
    if match is None or not compile_once(TAKES_A_SECRET).search(to):
        return
    for start, stop, label in _judge_option(match):
        value = text[start:stop]
        phrase = " " in value and not compile_once(r"keepass|\bpass|\bbw|luks|crypt").search(to)
        if phrase or (value.islower() and ">" in text[stop : match.start("to")]):
            continue
        colon = text.find(":", start, stop) + 1 if to.endswith(("chpasswd", "base64")) else 0
        if colon or "base64" not in to:
            yield colon or start, stop, label


def find_pgpass(text: str) -> Iterator[Span]:
    for hit in compile_once(PGPASS_HIT).finditer(text):
        start = max(0, hit.start() - 90)
        for match in compile_once(_PGPASS).finditer(text, start, hit.end() + 400):
            if match.end() > hit.start() and not match["value"].isdigit():
                yield from _judge_option(match)


def may_be_option(text: str, at: int, option: str) -> bool:
    """Say whether an option stands behind a command that takes a password by it."""
    return any(True for _ in _values_of(text, at, option))


def _values_of(text: str, at: int, option: str) -> Iterator[str]:
    """How a password would stand behind this option, for the commands before it on its line."""
    line = max(text.rfind("\n", max(0, at - _LINE_BEHIND), at) + 1, at - _LINE_BEHIND, 0)
    before = text[line:at]
    before = before[max(before.rfind(sign) for sign in (";", "&&", "|", "$(")) + 1 :]
    begins = compile_once(_COMMAND_BEGINS)
    for command, value in _BY_OPTION[option]:
        # By its letters first: whether a word begins there is asked at every place otherwise.
        letters = compile_once(rf"{command}(?=[ ])")
        hit = letters.search(before)
        while hit is not None and begins.match(before, hit.start()) is None:
            hit = letters.search(before, hit.start() + 1)  # what was passed over may hold another
        if hit is not None:
            yield value


def _judge_option(match: "re.Match[str] | None") -> Iterator[Span]:
    if match is None:
        return
    groups = match.groupdict()
    group = next(name for name, value in groups.items() if value is not None)
    value = groups[group]
    if group == "value":
        value = value.rstrip(";|&)") or value
    form = SPOKEN if group == "told" else OPTION
    if is_secret(PASSWORD, value, form) and not value.startswith("-"):
        yield match.start(group), match.start(group) + len(value), "password"


# The data of a Secret of Kubernetes, in base64: every member below `data:` in its document. The
# lines may be joined, or their breaks escaped.
_MANIFEST = 8_000
_BREAK = r"(?:[ \t]|\r?\n|\\{1,7}[nrt])"
_DATA = rf"(?:(?<!\w)(?<!\w-)|(?<=\\n)|(?<=string))[dD]ata:(?={_BREAK})"
_MEMBER = (
    rf"{_BREAK}{{1,30}}[^\n\w\\]{{0,12}}(?:\d{{1,6}}(?:→|\t))?[ ]{{0,24}}"
    r"[\w.\-]{1,100}:[ ]{1,4}"
    r"([A-Za-z0-9+/]{8,4000}={0,2})(?![\w+/=.\-])"
)
_PHRASE = (
    r"(?:[^a-zA-Z\n]{1,12}(?:is[ :]{1,3})?|[^\n]{0,60}[:.!)\n]\s{0,4})"
    r"((?:(?:\d{1,2}[.)][ ])?[a-z]{3,8}[ ,\n]{1,3}){11,23}(?:\d{1,2}[.)][ ])?[a-z]{3,8})(?![a-z])"
)
_NUMBER_WORDS = WordSearch(NUMBER_WORDS)
# Codes that let somebody in without the second factor, one after the other.
_CODES_BEGIN = r"s?\b[^\n:]{0,80}[:\n]"
_CODE = (
    r"[\s,;*•\-\"'\[]{0,8}(?:\d{1,2}[.)] )?"
    r"([A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,4})(?![\w.:/])"
)
_PIN = (
    r"pin(?<![a-z]pin)(?:[ \-]?code)?(?:[ ](?:for|of|on|für|zum|zur|vom|der|de|del)"
    r"(?:[ ][\w.\-]{1,24}){1,5}?)?(?:[ ](?:is|ist|lautet|es|est|was)|[\"'\\]{0,4}[ ]?[:=])"
    r"[ ]{0,2}[\"'`\\]{0,3}(\d{4,8})(?![\w.:/\-])"
)


def find_manifest_secrets(lowered: str, text: str) -> Iterator[Span]:
    """`kind: Secret` may stand before its data or behind it."""
    done = 0
    for at in find_anchor(lowered, "kind: secret"):
        if at < done:
            continue
        first = max(0, at - _MANIFEST, done)
        start = max(text.rfind("\n---", first, at), first)
        end = text.find("\n---", at, at + _MANIFEST)
        data = compile_once(_DATA).search(text, start, end if end >= 0 else at + _MANIFEST)
        if data is None:
            done = at + _MANIFEST // 2  # what is so near was looked at
            continue
        done = data.end()
        while member := compile_once(_MEMBER).match(text, done):
            done = member.end()
            yield member.start(1), member.end(1), "secret"


def find_numbers(lowered: str, text: str) -> Iterator[Span]:
    """Words and digits that are a secret by themselves: seed phrases, recovery codes, PINs."""
    for at, word in _NUMBER_WORDS.hits(lowered):
        at += len(word)
        if word.endswith(" code"):
            yield from _recovery_codes(text, at)
        elif (match := compile_once(_PHRASE).match(text, at)) and len(set(match[1].split())) > 8:
            yield match.start(1), match.end(1), "seed-phrase"
    for match in compile_once(_PIN).finditer(lowered):
        if not is_dummy(match[1]):
            yield match.start(1), match.end(1), "pin"


def _recovery_codes(text: str, at: int) -> Iterator[Span]:
    code = compile_once(_CODES_BEGIN).match(text, at)
    while code and (code := compile_once(_CODE).match(text, code.end())):
        if len(code[1]) < 8 or not compile_once(r"\d").search(code[1]):
            return
        yield code.start(1), code.end(1), "recovery-code"


_COOKIE_HEAD = (
    r"cookies?(?:[\"'\\\])]{0,6}[ ]?[:=,]|(?<=--cookie)[ ])[ ]?(?:dict(?=\())?[{(\"'\\]{0,6}"
)
_COOKIE = (
    r"[ ]?[\"'\\]{0,4}([\w.\-$%]{1,80})[\"'\\]{0,4}[ ]?[=:][ ]?[\"'\\]{0,4}"
    r"([^\s;,\"'\\}]{0,4000})[\"'\\]{0,4}"
)


def find_cookies(lowered: str, text: str) -> Iterator[Span]:
    """Values in a Cookie or Set-Cookie header, and where a program sets cookies."""
    for at in find_anchor(lowered, "cookie"):
        head = compile_once(_COOKIE_HEAD).match(lowered, at)
        if head is None:
            continue
        for _ in range(40):
            pair = compile_once(_COOKIE).match(text, head.end())
            if pair is None:
                break
            value = pair.group(2)
            if _is_session(pair.group(1), value):
                yield pair.start(2), pair.end(2), "cookie"
            head = compile_once(r"[;,][ ]?").match(text, pair.end())
            if head is None:
                break


_ATTRIBUTES = frozenset(
    "expires max-age path domain samesite secure httponly version priority".split()
)


def _is_session(name: str, value: str) -> bool:
    is_attribute = name.lower() in _ATTRIBUTES
    return not is_attribute and len(value) >= 10 and not is_dummy(value) and looks_generated(value)


# Sentences are read in lower case, in which every character keeps its place.
_PROSE_QUOTE = r"[\"'`“‘*(<\[]{0,3}"
_VALUE = r"(?P<value>[^\s\"'`”’<>\\]{6,200})"
_THING = r"(?:[ ][a-z0-9_.@/'\-]{1,40})"
# password, passwd, passphrase, passcode, pw, pwd; pass alone is mostly what tests do
_CALLED = (
    r"p(?:ass(?:word|wd|phrase|code|wort|e(?<=mot de passe)|(?= is ))|wd?)(?![a-z0-9_\-])"
    r"[\"'`*)]{0,3}"
)
# The password for the db on staging is now X; set the root password to X; pw: X; use pw X
_AHEAD = (
    _CALLED
    # The password, when it asks, is X; a password (change it): X; for the sudo password type X
    + r"(?:[ ]?[(,][^().\n]{0,40}[),]?)?"
    + rf"(?:(?:[ ](?:for|of|on|in|at|from|to|de|del|della|du|des){_THING}{{1,6}}?)?"
    + r"(?:[ ](?:here|there|currently))?"
    r"(?P<said>[ ](?:is|ist|est|es|è|é|was|wordt|be|to|as|=|->|=>|→|now|has been|will be"
    r"|should be|must be"
    r"|became|(?:re)?set to|changed to)|'s"
    r"|[ ]?[:=]|,? (?:type|enter|use|try))"
    r"(?:[ ](?:now|still|set|changed|reset|just|again|to|is|be)){0,3}[:=]?"
    rf"|[ ](?:for|of|on|to){_THING}{{1,4}}?[:=]|(?=[ ]))"
    r"(?:[ ]{1,4}|(?P<line>(?:[ ]{0,4}\r?\n){1,2}[ \t>]{0,12}(?:\d{1,5}(?:→|\t) ?)?[ ]{0,12}))"
    + _PROSE_QUOTE
    + _VALUE
)
# Use X as the password; X is the root password
_BEHIND = (
    r"(?<![^\s\"'`“‘(>→])(?P<value>[^\s\"'`”’<>()\\→]{6,80})[\"'`”’]{0,2}[ ](?:is|as|for|was|when"
    r"|als|come|como|comme|jako|som|как|як|ca|sebagai)"
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
    r"|(?:creds?|credentials?|zugang(?:sdaten)?|identifiants|credenciales"
    r"|log(?:ged)?[ -]?in|sign[ -]?in|account)\b[^\n]{0,40}?"
    r"(?<![\w/.\-])[\w.@+\-]{2,40})[\"'`*]{0,2}[ ]\Z"
)
_BEFORE_SLASH = 120
_CREDENTIALS = (
    r"cred(?:s|entials?)?\b(?:[ ][a-z]{1,12}){0,4}?[ ]?[:=]?[ ]{0,3}"
    + _PROSE_QUOTE
    + r"[\w.@+\-]{2,40}"
    r"(?:[ ]?[:/|][ ]?|[ ]and[ ])" + _VALUE
)
# Behind the word in another language, an ending and a few words: one of these may be it.
_FOREIGN_ENDS = r"(?:[a-z]{0,3}(?=[ :=\"'`])|[^\x00-\x7f]{1,12}|(?<=[^\x00-\x7f]))"
_FOREIGN_WORD = (
    r"[^\s:：=\"'`!-~]{0,12}[ :：=\"'`]{0,4}"
    r"(?P<value>[!-~]{1,200}(?:[\u00c0-\u017f][!-~\u00c0-\u017f]{0,100})?)?"
)
_FOREIGN_WORDS = WordSearch(FOREIGN)
_WORDS_BEHIND = 9
_LONGEST_WORD = 40
_CLOSING = ".,:;!?)*>]}|”’"
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.$/@")


def find_prose_passwords(lowered: str, text: str) -> Iterator[Span]:
    for called in ("pass", "pw"):
        for at in find_anchor(lowered, called):
            if _begins_here(lowered, at):
                yield from _told_ahead(lowered, text, at)
                if compile_once(_WHOLE).match(lowered, at) is not None:
                    yield from _before(lowered, text, at)
    for at, word in _FOREIGN_WORDS.hits(lowered):
        if not (word[0].isascii() and lowered[max(0, at - 1) : at].isalnum()):
            yield from _told_in_another_language(text, at + len(word))
            yield from _before(lowered, text, at)
    for at in find_anchor(lowered, " / "):
        found = list(_judge_prose(text, compile_once(_PROSE_QUOTE + _VALUE).match(lowered, at + 3)))
        told = found and not text[found[0][0] : found[0][1]].isalpha()
        if told and compile_once(_USER).search(lowered, max(0, at - _BEFORE_SLASH), at + 1):
            yield from found
    for user in ("admin:", "root:"):
        for at in find_anchor(lowered, user):
            if _begins_here(lowered, at):
                yield from _judge_prose(text, compile_once(_VALUE).match(lowered, at + len(user)))
    for at in find_anchor(lowered, "cred"):
        yield from _judge_prose(text, compile_once(_CREDENTIALS).match(lowered, at))


def _told_in_another_language(text: str, at: int) -> Iterator[Span]:
    ends = compile_once(_FOREIGN_ENDS).match(text, at)
    at = ends.end() if ends else len(text)
    for _ in range(_WORDS_BEHIND):
        match = compile_once(_FOREIGN_WORD).match(text, at)
        if match is None or match.end() == at:
            return
        at = match.end()
        found = next(_judge_prose(text, match), None) if match["value"] else None
        if found is not None:
            yield found
        if found is not None or len(match["value"] or "") > _LONGEST_WORD:
            return


def _begins_here(lowered: str, at: int) -> bool:
    """Not inside a name; where a diff takes a line away, a dash stands before it."""
    before = lowered[max(0, at - 2) : at]
    return not before or before[-1] not in _IN_NAMES or before in ("-", "\n-")


def _told_ahead(lowered: str, text: str, at: int) -> Iterator[Span]:
    match = compile_once(_AHEAD).match(lowered, at)
    if match is None:
        return
    # On the next line it must stand alone; anything else is the next line of a form.
    following = lowered[match.end() : match.end() + 3].lstrip("\"'` \t")
    if match["line"] is None or following[:1] in ("", "\n", "\r"):
        yield from _judge_prose(text, match)


def _before(lowered: str, text: str, at: int) -> Iterator[Span]:
    yield from _judge_prose(text, compile_once(_BEHIND).search(lowered, max(0, at - _BACK), at))


def _judge_prose(text: str, match: "re.Match[str] | None") -> Iterator[Span]:
    if match is None:
        return
    start, end = match.span("value")
    value = text[start:end].rstrip(_CLOSING)
    if match.groupdict().get("said", "") is None and value.isalpha():
        before = text[max(0, match.start() - 8) : match.start()].lower()
        if not before.endswith(("use ", "with ", "try ", "using ", "the ", "mit ", "avec ")):
            return
    if is_secret(PASSWORD, value, SPOKEN):
        # What closes a sentence may as well close a password.
        whole = text[start:end].rstrip(".,:;)>]}|*”’")
        yield start, start + max(len(value), len(whole)), "password"
