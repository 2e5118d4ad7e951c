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
    is_scrambled,
    is_secret,
    looks_generated,
)
from holdfast.redact.secret_patterns import FOREIGN
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
    (
        "-P",
        r"(?:(?:un)?zip|zipcloak|sqlcmd|mssql-cli|bcp|tsql|osql|isql|mosquitto_[a-z]+|ipmitool)",
        _EITHER,
    ),
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
    ("-p", r"(?:beeline|(?:vsce|ovsx)\b[^\n|;&]*\bpublish)", _APART),
    ("-A", r"snmp(?:walk|get|set|bulkwalk|trap)", _APART),
    ("-X", r"snmp(?:walk|get|set|bulkwalk|trap)", _APART),
    ("-storepass", "(?:keytool|jarsigner)", _APART),
    ("-keypass", "(?:keytool|jarsigner)", _APART),
    ("-p", r"(?:psexec|crackmapexec|netexec|nxc|ncftp\w{0,4}|hydra|racadm)", _EITHER),
    ("-p", r"(?:xcrun\b[^\n|;&]*\baltool|az\b[^\n|;&]*\bcreate|user(?:add|mod))", _APART),
    ("-w", "kadmin", _APART),
    ("-t", r"vagrant\b[^\n|;&]*\blogin", _APART),
    ("-b", r"gh\b[^\n|;&]*\bsecret\b[^\n|;&]*\bset", _APART),
    ("-U", "curl", _PAIR),
    ("-p", r"security\b[^\n|;&]*keychain", _APART),
    ("-w", r"security\b[^\n|;&]*\badd-[a-z]{1,10}-password", _APART),
    ("-t", r"doctl\b[^\n|;&]*\bauth", _APART),
    ("--auth", r"(?:netlify|ntl)", _APART),
    ("-upw", r"pdf[a-z]{2,8}", _APART),
    ("-opw", r"pdf[a-z]{2,8}", _APART),
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
_ORACLE = r"[A-Za-z_][\w.$]{0,40}/(?=\S{0,100}@|\S{0,100}[0-9])(?P<value>[^\s@\"'/\\]{4,100})"

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
        r"[ ]?=?[ ]?\([ ]?\\*[\"'][^\s\"'\\]{1,80}\\*[\"'],[ ]{0,2}"
        r"(?:Some\()?\\*[\"'](?P<value>[^\s\"'\\]{4,200})",
    ),
    *((tool, r"[ ]+(?:-[a-zA-Z][ ]+)?" + _ORACLE) for tool in ("sqlplus", "expdp")),
    ("rdp /", r"[^\n|;]{0,200}?[ ]/p:" + _QUOTED),
    ("rclone obscure", r"[ ]+" + _QUOTED),
    ("convertto-securestring", r"[ ]+(?i:-string[ ]+)?\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
    # A field for a password, and what is typed into it: Selenium, Playwright, Cypress.
    (
        "password",
        r"[\"'\])>]{1,8}[^\n\"'(]{0,8}\.(?:type|fill|send_?[kK]eys|press_sequentially)"
        r"\(\\*[\"'](?P<value>[^\s\"'\\]{4,100})",
    ),
    ("storepassword", r"[ ]+\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
    ("keypassword", r"[ ]+\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
    ('name="password"', r"(?:\r?\n|\\[rn]){1,6}(?P<value>[^\s\"'\\]{4,100})"),
    ("wpa_passphrase", r"[ ]+\S{1,80}[ ]+" + _QUOTED),
    ("net use", r"r?[ ]+(?:\S{1,80}[ ]+){1,2}" + _QUOTED + r"[ ]+/(?:add|user|domain)"),
    ("net use", r"[^\n]{1,120}/user:\S{1,80}[ ]+" + _QUOTED),
    ("kv put", r"[ ]+\S{0,80}(?:pass|secret|token|key)\S{0,40}[ ]+" + _QUOTED),
    ("rclone config", r"[^\n|;]{1,120}?[ ]pass(?:word)?[ =]" + _QUOTED),
    ("alias set", r"[ ]+\S{1,60}[ ]+https?://\S{1,120}[ ]+\S{1,60}[ ]+" + _QUOTED),
    ("bw login", r"[ ]+\S{1,60}@\S{1,60}[ ]+" + _QUOTED),
    ("github-oauth", r"\S{0,40}[ ]+" + _QUOTED),
    ("sonar.login", r"[ ]?=[ ]?" + _QUOTED),
    ("input_pw", r"[ ]+" + _QUOTED),
    ("masterauth", r"[ ]+" + _QUOTED),
    ("heroku auth:token", r"\n" + _QUOTED),
    # What a program logs in with: login("bob", "X"), connect(host, 22, "bob", "X").
    *(
        (
            call,
            r"(?:\]::new)?\([^()\n\"']{0,60}"
            r"(?:\\*[\"'][^\s\"'\\]{1,80}\\*[\"'][^\n()\"']{1,12}){1,2}"
            r"\\*[\"'](?![a-z]+[\"'\\])(?P<value>[^\s\"'\\]{4,100})\\*[\"']"
            r"(?:\.toCharArray\(\))?[ ]?[,)]",
        )
        for call in (
            *("login", "connect", "connection", "basic", "new pdo", "networkcredential", "mysqli"),
            *("authentication", "andpassword", "set_password", "wifi.begin"),
        )
    ),
    # What a token is signed and a text is hashed or encrypted with, where it is written out.
    *(
        (call, rf"\({first}b?\\*[\"'](?P<drawn>[^\s\"'\\]{{8,100}})\\*[\"']")
        for first, calls in (
            ("", ("fernet", "crypt", "crypt.hash", "crypt.hashpw", "crypt.hashsync")),
            (r"[^()\n]{1,80}?,[ ]?", ("jwt.encode", "jwt.sign", "hmac", "_encrypt", "_decrypt")),
        )
        for call in calls
    ),
    ("password", r"\\*[\"']\]\\*[\"'],[ ]?\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
    # expect "password:" and what is sent then
    (
        "assword:",
        r"[ *]{0,3}[\"'][^\n\"']{0,8}[;\n\s)]{1,8}(?:\w{1,20}\.)?(?:exp_)?send[^\n\"']{0,12}[\"']"
        r"(?P<value>[^\s\"'\\]{4,100})",
    ),
    ("admin-password", r"[ ]+" + _QUOTED),
    ("-passwd", r"[ ]+/\S{1,80}[ ]+" + _QUOTED),
    # Where a device wants to know how it is written; and what is not a number of something.
    ("password", r"[ ][07][ ](?=\S{0,40}[0-9])(?=\S{0,40}[A-Za-z])" + _WORD),
    ("rootpw", r"[ ]+--plaintext[ ]+" + _QUOTED),
    ("cargo login", r"[ ]+" + _QUOTED),
    (
        "http-basic",
        r"\.?\S{0,80}[ ]+(?:\S{1,80}[ ]+){1,2}?" + _QUOTED + r"[ ]{0,4}(?=\n|\Z|[;&|<\"'\\])",
    ),
    ("identified by", r"\s{1,4}\\*[\"'](?P<value>[^\s\"'\\]{4,100})"),
    ("identified by", r"[ ]+(?P<drawn>[^\s\"'\\;]{6,100})"),
)
# Where a word that several share is missing, none of them need be looked for.
_SHARED = ("passw", "login", "connect", "auth", "crypt", "jwt.", "rclone", "net use")
_AFTER_BY_WORD: dict[str, list[tuple[str, str]]] = {}
for _row in _AFTER:
    _word = next((word for word in _SHARED if word in _row[0]), _row[0])
    _AFTER_BY_WORD.setdefault(_word, []).append(_row)
_PIPED = (
    r"(?:echo|printf)[ ]+(?:-n[ ]+)?(?:\\*[\"']%s(?:\\+n)?\\*[\"'][ ]+)?"
    + _QUOTED
    + (r"[\"'\\]{0,4}[ ]*\|[ ]*[^\n|]{0,120}\Z")
)
# A command that takes a secret from what is handed to it, and a file that is made to keep one.
_TAKES_A_SECRET = (
    r"passw?|secret|token|login|luks|unlock|sudo -s|kinit|vault|signin|\bbw\b|insert|read -\w{0,3}s"
)
_WRITTEN = _PIPED.replace(_QUOTED, r"(?![a-z]+[ ])" + _QUOTED).replace(
    r"\|[ ]*[^\n|]{0,120}\Z", r">{1,2}[ ]*[\"']?[^\s\"'|;]{0,80}\Z"
)
_RECEIVERS = (
    "gh auth login --with-token",
    "wrangler secret put",
    "--password-stdin",
    "sudo -s ",
    "chpasswd",
    "passwd --stdin",
    "--passphrase-fd 0",
    "kinit",
    "<<<",
    "gcloud secrets create",
    "gcloud secrets versions add",
    "vercel env add",
    "cryptsetup",
    "secret-tool",
    "keepassxc-cli",
    "vncpasswd",
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
        yield from _read_option(text, option.start(), option.group())
    for word, rows in _AFTER_BY_WORD.items():
        for anchor, tail in rows if word in lowered else ():
            for at in find_anchor(lowered, anchor):
                yield from _judge_option(compile_once(tail).match(text, at + len(anchor)))
    for at in find_anchor(lowered, "<<<"):
        line = lowered[max(lowered.rfind("\n", max(0, at - 160), at), at - 160, 0) : at]
        if compile_once(_TAKES_A_SECRET).search(line):
            yield from _judge_option(compile_once(r"[ ]{0,4}" + _QUOTED).match(text, at + 3))
    for at in find_anchor(lowered, "@tcp("):  # bob:X@tcp(host:3306)/db
        yield from _judge_option(compile_once(_DSN).search(text, max(0, at - 180), at))
    for kept in ("password", "secrets/", "vault_pass"):
        for at in find_anchor(lowered, kept):
            yield from _judge_option(
                compile_once(_WRITTEN).search(text, max(0, at - _LINE_BEHIND), at)
            )
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
    if group == "drawn" and not is_scrambled(value):
        return
    if group == "value":
        value = value.rstrip(";|&)") or value
    if is_secret(PASSWORD, value, OPTION) and not value.startswith("-"):
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
    + r"(?:[ ](?:is|ist|est|è|was|be|to|as|=|->|=>|→|now|has been|will be|should be|must be"
    r"|became)|'s"
    r"|[ ]?[:=]|,? (?:type|enter|use|try))"
    r"(?:[ ](?:now|still|set|changed|reset|just|again|to|is|be)){0,3}[:=]?"
    rf"|[ ](?:for|of|on|to){_THING}{{1,4}}?[:=]|(?=[ ]))"
    r"(?:[ ]{1,4}|(?P<line>[ ]{0,4}\r?\n[ \t>]{0,12}(?:\d{1,5}(?:→|\t) ?)?[ ]{0,12}))"
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
_FOREIGN_WORD = r"[^\s:：=\"'`!-~]{0,12}[ :：=\"'`]{0,4}(?P<value>[!-~]{1,200})?"
FOREIGN_ASCII = tuple(word for word in FOREIGN if word.isascii())
_FOREIGN_WORDS = 9
_LONGEST_WORD = 40
_CLOSING = ".,:;!?)*>]}|”’"
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.$/@")


def find_prose_passwords(lowered: str, text: str) -> Iterator[Span]:
    for called in ("pass", "pw"):
        for at in find_anchor(lowered, called):
            if _begins_here(lowered, at):
                yield from _told_ahead(lowered, text, at)
                yield from _told_behind(lowered, text, at)
    for word in FOREIGN_ASCII if lowered.isascii() else FOREIGN:
        for at in find_anchor(lowered, word):
            if not (word[0].isascii() and lowered[max(0, at - 1) : at].isalnum()):
                yield from _told_in_another_language(text, at + len(word))
                yield from _before(lowered, text, at)
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


def _told_in_another_language(text: str, at: int) -> Iterator[Span]:
    ends = compile_once(_FOREIGN_ENDS).match(text, at)
    at = ends.end() if ends else len(text)
    for _ in range(_FOREIGN_WORDS):
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
    if match["line"] is not None:
        # On the next line it must stand alone; anything else is the next line of a form.
        following = lowered[match.end() : match.end() + 3].lstrip("\"'` \t")
        if following[:1] not in ("", "\n", "\r"):
            return
    yield from _judge_prose(text, match)


def _told_behind(lowered: str, text: str, at: int) -> Iterator[Span]:
    if compile_once(_WHOLE).match(lowered, at) is not None:
        yield from _before(lowered, text, at)


def _before(lowered: str, text: str, at: int) -> Iterator[Span]:
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
