"""Finds passwords by the command or the file that they stand in: `docker login -p X`, .pgpass.

Owns: which option of which command takes a password, and lines of files that are nothing but one.
Must not: judge values (judgement.py), or read names and values (assignments.py).
"""

import re
from collections.abc import Iterator

from holdfast.redact.plausibility import OPTION, PASSWORD, is_dummy, is_secret, looks_generated
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
    ("-p", r"(?:cqlsh|sshpass|cypher-shell|rdesktop|evil-winrm|rabbitmqadmin)", _EITHER),
    ("-p", rf"(?:{_MYSQL}|7z[arz]?|rar|unrar)", _TOUCHING),
    ("-hp", r"(?:rar|unrar)", _TOUCHING),
    ("-a", r"redis-cli", _EITHER),
    ("-a", _HTTP, _PAIR),
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

# What stands in a command line without an option: user and password, or a password sent on.
_AFTER = (
    ("rabbitmqctl", r"[^\n]{0,80}?(?:add_user|change_password)[ ]+\S{1,80}[ ]+" + _QUOTED),
    (
        "htpasswd",
        r"[ ]+-[a-zA-Z]{0,4}b[a-zA-Z]{0,3}[ ]+(?:\S{1,200}[ ]+){1,2}?"
        + _QUOTED
        + r"[\"'\\]{0,4}[ ]{0,4}(?:\n|\Z|[;&|<\"'])",
    ),
    ("wpa_passphrase", r"[ ]+\S{1,80}[ ]+" + _QUOTED),
    ("identified by", r"\s{1,4}\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
)
_PIPED = (
    r"(?:echo|printf)[ ]+(?:-n[ ]+)?(?:\\*[\"']%s(?:\\+n)?\\*[\"'][ ]+)?"
    + _QUOTED
    + (r"[\"'\\]{0,4}[ ]*\|[ ]*[^\n|]{0,120}\Z")
)
_RECEIVERS = ("--password-stdin", "sudo -s ", "chpasswd", "passwd --stdin", "--passphrase-fd 0")

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
            yield from _judged(compile_once(tail).match(text, at + len(anchor)))
    for receiver in _RECEIVERS:
        for at in find_anchor(lowered, receiver):
            match = compile_once(_PIPED).search(text, max(0, at - _LINE_BEHIND), at)
            for start, end, label in _judged(match):
                colon = text.find(":", start, end) + 1 if receiver == "chpasswd" else 0
                yield colon or start, end, label


def find_pgpass(text: str) -> Iterator[Span]:
    for hit in compile_once(PGPASS_HIT).finditer(text):
        start = max(0, hit.start() - 90)
        for match in compile_once(_PGPASS).finditer(text, start, hit.end() + 400):
            if match.end() > hit.start() and not match["value"].isdigit():
                yield from _judged(match)


def may_be_option(text: str, at: int, option: str) -> bool:
    """Say whether an option stands behind a command that takes a password by it."""
    return any(True for _ in _values_of(text, at, option))


def _read_option(text: str, at: int, option: str) -> Iterator[Span]:
    for value in _values_of(text, at, option):
        yield from _judged(compile_once(value).match(text, at + len(option)))


def _values_of(text: str, at: int, option: str) -> Iterator[str]:
    """How a password would stand behind this option, for the commands before it on its line."""
    line = max(text.rfind("\n", max(0, at - _LINE_BEHIND), at) + 1, at - _LINE_BEHIND, 0)
    before = text[line:at]
    before = before[max(before.rfind(sign) for sign in (";", "&&", "|", "$(")) + 1 :]
    for command, value in _BY_OPTION[option]:
        if compile_once(rf"{_COMMAND_BEGINS}{command}(?=[ ])").search(before):
            yield value


def _judged(match: "re.Match[str] | None") -> Iterator[Span]:
    if match is None:
        return
    groups = match.groupdict()
    group = next(name for name, value in groups.items() if value is not None)
    value = groups[group]
    if group == "value":
        value = value.rstrip(";|&)") or value
    if is_secret(PASSWORD, value, OPTION) and not value.startswith("-"):
        yield match.start(group), match.start(group) + len(value), "password"


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
