"""Finds passwords by what stands around them: a command, a file's form, or a sentence.

`docker login -p X` and lines of .pgpass first, then sentences such as "the db password is X".
"""

import re
from collections.abc import Iterator

from holdfast.redact.plausibility import (
    OPTION,
    PASSWORD,
    SPOKEN,
    is_dummy,
    is_secret,
    looks_generated,
)
from holdfast.redact.token_shapes import Span, compile_once, find_anchor

_QUOTE = r"\\{0,7}[\"']?"
_WORD = r"(?P<value>[^\s\"'\\]{4,200})"
_QUOTED = (
    r"(?:\\{0,7}\"(?P<double>[^\"\n\\]{4,200})|\\{0,7}'(?P<single>[^'\n\\]{4,200})|" + _WORD + ")"
)
_APART = r"(?:[ ]{1,4}|=)" + _QUOTED
_EITHER = r"(?:[ ]{0,4}|=)" + _QUOTED
_TOUCHING = _QUOTED
_PAIR = r"(?:[ ]{0,4}|=)" + _QUOTE + r"[^\s:\"'\\]{1,80}:" + _WORD
_PERCENT = r"(?:[ ]{0,4}|=)" + _QUOTE + r"[^\s%\"'\\]{1,80}%" + _WORD
_COMMA = r"[ ]{0,4}" + _QUOTE + r"[^\s,\"'\\]{1,80}," + _WORD
_COOKIES = r"(?:[ ]{1,4}|=)" + _QUOTE + r"(?:[\w.\-]{1,60}=)" + _WORD
_LOGIN = (
    r"(?:docker|podman|nerdctl|buildah|helm|oras|crane|skopeo|az|oc|cf|regctl)\b[^\n|;&]*\blogin"
)
_MYSQL = r"(?:mysql|mariadb)[\w\-]*"
_HTTP = r"(?:https?|httpie|xhs?|curlie)"
_LDAP = r"ldap(?:search|add|modify|delete|passwd|whoami|modrdn|compare|vi)"

# option, the command that it belongs to, how the value stands behind the option
_RULES: tuple[tuple[str, str, str], ...] = (
    ("-p", _LOGIN, _EITHER),
    ("-p", r"mongo(?:sh|dump|restore|export|import|stat|top|files)?", _EITHER),
    ("-p", r"(?:cqlsh|sshpass|cypher-shell|rdesktop|evil-winrm|rabbitmqadmin|twine)", _EITHER),
    ("-p", rf"(?:{_MYSQL}|7z[arz]?|rar|unrar)", _TOUCHING),
    ("-hp", r"(?:rar|unrar)", _TOUCHING),
    ("-a", r"redis-cli", _EITHER),
    ("-a", _HTTP, _PAIR),
    ("-auth", r"java\b[^\n|;&]*-jar", _PAIR),
    ("--body", r"gh\b[^\n|;&]*\bsecret\b[^\n|;&]*\bset", _APART),
    ("--value", r"az\b[^\n|;&]*\bkeyvault\b[^\n|;&]*\bsecret\b[^\n|;&]*\bset", _APART),
    (
        "--value",
        r"aws\b[^\n|;&]*\bput-parameter",
        _APART + r"(?=[\"'\\]{0,8}[ ][^\n]{0,200}SecureString)",
    ),
    ("--value", r"aws\b[^\n|;&]*\bput-parameter\b[^\n|;&]*SecureString", _APART),
    ("-w", _LDAP, _EITHER),
    ("-s", "ldappasswd", _EITHER),
    ("-U", r"(?:smbclient|smbget|rpcclient|smbmap|net|smbcacls)", _PERCENT),
    ("-P", r"(?:(?:un)?zip|zipcloak|sqlcmd|bcp|tsql|osql|isql|mosquitto_[a-z]+|ipmitool)", _EITHER),
    ("-P", r"ssh-keygen", _APART),
    ("-N", r"ssh-keygen", _APART),
    ("-k", r"openssl\b[^\n|;&]*\benc", _APART),
    ("-u", r"curl", _PAIR),
    ("-u", r"lftp", _COMMA),
    ("-b", r"curl", _COOKIES),
    ("-pass", r"openssl", r"(?:in|out)?[ =]{1,4}" + _QUOTE + r"pass:" + _WORD),
    ("--user", r"curl", _PAIR),
    ("--proxy-user", r"curl", _PAIR),
    ("--auth", _HTTP, _PAIR),
    ("--creds", r"(?:skopeo|podman|buildah)", _PAIR),
    ("--src-creds", r"skopeo", _PAIR),
    ("--dest-creds", r"skopeo", _PAIR),
    ("-storepass", "keytool", _APART),
    ("-keypass", "keytool", _APART),
)
_BY_OPTION: dict[str, list[tuple[str, str]]] = {}
for _option, _command, _value in _RULES:
    _BY_OPTION.setdefault(_option, []).append((_command, _value))
# The letters with which an option of the table begins, longest first.
_OPTION = "|".join(sorted((option[1:] for option in _BY_OPTION), key=len, reverse=True))
OPTION_HIT = rf"-(?<=[ \t]-)(?:{_OPTION})"
_LINE_BEHIND = 300
# Not inside a word; but behind an escape that was not read yet, or where a diff takes a line away.
_COMMAND_BEGINS = r"(?:(?<![\w.\-])|(?<=\\[nrt])|(?<=\\u\w\w\w\w)|(?<=[\"\s]-)|(?<=\A-))"

# user/password@service
_ORACLE = r"[A-Za-z_][\w.$]{0,40}/(?P<value>[^\s@\"'/\\]{4,100})@"

# What stands in a command line without an option: user and password, or a password sent on.
_AFTER = (
    ("rabbitmqctl", r"[^\n]{0,80}?(?:add_user|change_password)[ ]+\S{1,80}[ ]+" + _QUOTED),
    (
        "htpasswd",
        r"[ ]+-[a-zA-Z]{0,4}b[a-zA-Z]{0,3}[ ]+(?:\S{1,200}[ ]+){1,2}?"
        + _QUOTED
        + r"[\"'\\]{0,4}[ ]{0,4}(?:\n|\Z|[;&|<\"'])",
    ),
    ("set password for", r"[^\n=]{1,120}=[ ]{0,4}\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
    ("requirepass", r"[ ]{1,4}" + _QUOTED),
    (":thin:", _ORACLE),
    # requests.get(url, auth=("bob", "X")), HTTPBasicAuth("bob", "X")
    (
        "auth",
        r"=?\([ ]?\\*[\"'][^\s\"'\\]{1,80}\\*[\"'],[ ]{0,2}\\*[\"'](?P<value>[^\s\"'\\]{4,200})",
    ),
    ("wpa_passphrase", r"[ ]+\S{1,80}[ ]+" + _QUOTED),
    ("identified by", r"\s{1,4}\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
)
_PIPED = (
    r"(?:echo|printf)[ ]+(?:-n[ ]+)?(?:\\*[\"']%s(?:\\+n)?\\*[\"'][ ]+)?"
    + _QUOTED
    + (r"[\"'\\]{0,4}[ ]*\|[ ]*[^\n|]{0,120}\Z")
)
_RECEIVERS = (
    "gh auth login --with-token",
    "wrangler secret put",
    "--password-stdin",
    "sudo -s ",
    "chpasswd",
    "passwd --stdin",
    "--passphrase-fd 0",
)

# host:port:database:user:password
_PGPASS = (
    r"(?:(?<![\w.*\-/:])|(?<=\s-)|(?<=\A-)|(?<=\d:)(?=[A-Za-z*]))[A-Za-z0-9*][\w.*\-]{0,80}:(?:\d{2,5}|\*):[A-Za-z_*][\w*\-]{0,60}"
    r":[A-Za-z_*][\w*.\-]{0,60}:(?P<value>[^\s:\"'\\<>]{4,200})(?=[\s\\\"'<]|\Z)"
)
PGPASS_HIT = r":(?=(?:\d{2,5}|\*):[A-Za-z_*][\w*\-]{0,60}:[A-Za-z_*][\w*.\-]{0,60}:[^\s:])"


def find_option_passwords(lowered: str, text: str) -> Iterator[Span]:
    for option in compile_once(OPTION_HIT).finditer(text):
        yield from _read_option(text, option.start(), option.group())
    for anchor, tail in _AFTER:
        for at in find_anchor(lowered, anchor):
            yield from _judge_option(compile_once(tail).match(text, at + len(anchor)))
    for receiver in _RECEIVERS:
        for at in find_anchor(lowered, receiver):
            match = compile_once(_PIPED).search(text, max(0, at - _LINE_BEHIND), at)
            for start, end, label in _judge_option(match):
                colon = text.find(":", start, end) + 1 if receiver == "chpasswd" else 0
                yield colon or start, end, label


def find_pgpass(text: str) -> Iterator[Span]:
    for hit in compile_once(PGPASS_HIT).finditer(text):
        start = max(0, hit.start() - 90)
        for match in compile_once(_PGPASS).finditer(text, start, hit.end() + 400):
            if match.end() > hit.start() and not match["value"].isdigit():
                yield from _judge_option(match)


def may_be_option(text: str, at: int, option: str) -> bool:
    """Say whether an option stands behind a command that takes a password by it."""
    return any(True for _ in _values_of(text, at, option))


def _read_option(text: str, at: int, option: str) -> Iterator[Span]:
    for value in _values_of(text, at, option):
        yield from _judge_option(compile_once(value).match(text, at + len(option)))


def _values_of(text: str, at: int, option: str) -> Iterator[str]:
    """How a password would stand behind this option, for the commands before it on its line."""
    line = max(text.rfind("\n", max(0, at - _LINE_BEHIND), at) + 1, at - _LINE_BEHIND, 0)
    before = text[line:at]
    before = before[max(before.rfind(sign) for sign in (";", "&&", "|", "$(")) + 1 :]
    for command, value in _BY_OPTION[option]:
        if compile_once(rf"{_COMMAND_BEGINS}{command}(?=[ ])").search(before):
            yield value


def _judge_option(match: "re.Match[str] | None") -> Iterator[Span]:
    if match is None:
        return
    groups = match.groupdict()
    group = next(name for name, value in groups.items() if value is not None)
    value = groups[group]
    if group == "value":
        value = value.rstrip(";|&)") or value
    if is_secret(PASSWORD, value, OPTION) and not value.startswith("-"):
        yield match.start(group), match.start(group) + len(value), "password"


# The data of a Secret of Kubernetes, in base64: every member below `data:` in its document. The
# lines may be joined, or their breaks escaped.
_MANIFEST = 8_000
_BREAK = r"(?:[ \t]|\r?\n|\\{1,7}[nrt])"
_DATA = rf"(?:(?<!\w)(?<!\w-)|(?<=\\n))data:(?={_BREAK})"
_MEMBER = (
    rf"{_BREAK}{{1,30}}[^\n\w\\]{{0,12}}(?:\d{{1,6}}(?:→|\t))?[ ]{{0,24}}"
    r"[\w.\-]{1,100}:[ ]{1,4}"
    r"([A-Za-z0-9+/]{8,4000}={0,2})(?![\w+/=.\-])"
)
_PHRASE = r"[^a-zA-Z\n]{1,12}(?:is[ :]{1,3})?((?:[a-z]{3,8}[ ,]{1,3}){11,23}[a-z]{3,8})(?![a-z])"


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


def find_seed_phrases(lowered: str, text: str) -> Iterator[Span]:
    """The words behind "mnemonic" or "seed phrase": twelve to twenty-four of them."""
    for anchor in ("mnemonic", "seed phrase", "seed_phrase"):
        for at in find_anchor(lowered, anchor):
            match = compile_once(_PHRASE).match(text, at + len(anchor))
            if match is not None and len(set(match[1].split())) > 8:
                yield match.start(1), match.end(1), "seed-phrase"


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
    if name.lower() in _ATTRIBUTES or len(value) < 10 or is_dummy(value):
        return False
    return looks_generated(value)


# Finds passwords told in a sentence: "the db password is X", "use pw X", "admin / X".
#
# Owns: the turns of phrase that announce a password, and which word of them is one. Must not:
# decide which word reads as a password (judgement.py).
#
# Patterns run over the text in lower case, in which every character keeps its place.

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
    + rf"(?:(?:[ ](?:for|of|on|in|at|from|to){_THING}{{1,6}}?)?"
    + r"(?:[ ](?:is|ist|est|è|was|be|to|as|=|->|=>|→|now|has been|will be|should be|must be"
    r"|became)|'s"
    r"|[ ]?[:=])(?:[ ](?:now|still|set|changed|reset|just|again|to|is|be)){0,3}[:=]?"
    rf"|[ ](?:for|of|on|to){_THING}{{1,4}}?[:=]|(?=[ ]))"
    r"(?:[ ]{1,4}|(?P<line>[ ]{0,4}\r?\n[ \t>]{0,12}(?:\d{1,5}(?:→|\t) ?)?[ ]{0,12}))"
    + _PROSE_QUOTE
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
    r"cred(?:s|entials?)?\b(?:[ ][a-z]{1,12}){0,4}[ ]?[:=]?[ ]{0,3}"
    + _PROSE_QUOTE
    + r"[\w.@+\-]{2,40}"
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
        found = list(_judge_prose(text, compile_once(_PROSE_QUOTE + _VALUE).match(lowered, at + 3)))
        if found and compile_once(_USER).search(lowered, max(0, at - _BEFORE_SLASH), at + 1):
            yield from found
    for user in ("admin:", "root:"):
        for at in find_anchor(lowered, user):
            if _begins_here(lowered, at):
                yield from _judge_prose(text, compile_once(_VALUE).match(lowered, at + len(user)))
    for at in find_anchor(lowered, "cred"):
        yield from _judge_prose(text, compile_once(_CREDENTIALS).match(lowered, at))


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
    yield from _judge_prose(text, match)


def _told_behind(lowered: str, text: str, at: int) -> Iterator[Span]:
    if compile_once(_WHOLE).match(lowered, at) is None:
        return
    yield from _judge_prose(text, compile_once(_BEHIND).search(lowered, max(0, at - _BACK), at))


def _judge_prose(text: str, match: "re.Match[str] | None") -> Iterator[Span]:
    if match is None:
        return
    start, end = match.span("value")
    value = text[start:end].rstrip(_CLOSING)
    if is_secret(PASSWORD, value, SPOKEN):
        # What closes a sentence may as well close a password.
        whole = text[start:end].rstrip(".,:;)>]}|*”’")
        yield start, start + max(len(value), len(whole)), "password"
