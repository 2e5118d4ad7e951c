"""Finds secrets by the name in front of them: environment, YAML, JSON, code, options, headers.

Owns: the forms in which a name announces a value, in text of any nesting (quotes behind any number
of backslashes).
Must not: decide what a secret looks like (plausibility.py).
"""

import re
from collections.abc import Iterator

from holdfast.lazy_regex import lazy_compile
from holdfast.redact.headers import is_basic_name, is_basic_pair, read_basic
from holdfast.redact.plausibility import (
    ENV,
    FLAG,
    LINE,
    LOOSE,
    OPTION,
    PASSWORD,
    PLAIN,
    QUOTED,
    SPOKEN,
    TOKEN,
    classify_name,
    is_scrambled,
    is_secret,
    mixes_signs,
)
from holdfast.redact.secret_patterns import BARE_KEY, LABEL_OPEN, WORD_TAILS
from holdfast.redact.token_shapes import LINE_BREAK, Span, compile_once, end_of_run, find_anchor

# Longest name before the word in it, longest value that is read, and how much of it is judged.
_NAME_BEHIND = 48
_VALUE_LONGEST = 512
_VALUE_JUDGED = 128
# Digits that the cell of a table has; `Uint8Array` has one.
_CELL_DIGITS = 2
# What stands alone on the line behind a token's name may be the next thing, if it is shorter.
_ALONE_ON_A_LINE = 20

_HUMPS = lazy_compile(r"[A-Z][a-z]+|\A[a-z]+")

_REST = r"[A-Za-z0-9_.\-]{0,40}"
# What may stand between the word in the name and the value. The order matters: a typed
# declaration holds a colon too.
_HEAD = (
    rf"(?P<rest>{_REST})(?:"
    r"(?P<typed>(?:[ ]?\??:[ ]?|[ ])[A-Za-z_&\[][A-Za-z0-9_.\[\]|&?<>' ]{0,40}?[ ]?=[ ]?"
    r"(?:[A-Za-z_.]{1,30}\([ ]?(?:default=)?)?(?=\\{0,7}[\"'`]))"
    # Name and value that each have a name: name: DB_PASSWORD, value: X; key="ApiKey" value="X"
    r"|(?P<member>\\{0,7}[\"'`]?[ ]?,?[ ]{0,4}(?:(?:\r?\n|\\{1,7}n)[^A-Za-z\n]{0,40})?"
    r"\\{0,7}[\"'`]?[Vv]alue\\{0,7}[\"'`]?[ ]?[:=][ ]{0,4})"
    r"|(?P<plist></key>[^<A-Za-z]{0,60}(?:\\{1,7}[nt][^<A-Za-z]{0,20}){0,2}<string>)"
    r"|(?P<closed>\\{0,7}[\"'`]?(?:\[\d{0,3}\]|\])?)(?P<gap>[ \t\u00a0]{0,8})"
    r"(?P<op>=>|:=|<-|\|\|=|\?\?=|\?=|={1,3}|:(?!:)|：)(?:\*\*)?(?P<space>[ \t\u00a0]{0,8})"
    r"|(?P<default>(?:[\"'`][\])])?[ ]{0,2}(?:\|\||\?\?|(?<=[ ])or(?=[ ]))[ ]{0,2}"
    r"(?=\\{0,7}[\"'`]))"
    r"|(?P<cell>[`*\"']{0,3}[ \t]{0,20}\|(?!\|)[ \t]{0,20}(?=\S))"
    r"|(?P<encoded>(?:%22)?(?:%20|\+)?%(?:25)?3[aAdD](?:%20|\+)?(?:%22)?)"
    r"|\\{0,7}[\"'`](?P<pair>,)[ ]{0,16}(?=\\{0,7}[\"'`])"
    r"|(?P<call>\()[ ]{0,4}(?=\\{0,7}[\"'`])"
    r"|\\{0,7}[\"']?(?P<tag>>(?:\s{0,40}<[Vv]alue>)?)(?=[^<>\s]{4,200}</)"
    r"|[ ]{1,4}(?P<is>is)[ ]{1,4}:?[ ]?"
    r"|[ ]{1,4}-p[ ]{0,2}(?P<sshpass>(?=\S))"
    r"|(?P<column>(?:[ ]{3,60}|\t{1,4})(?=\S))"
    r"|(?P<blank>[ ]{1,4}(?=\S))"
    r")"
)
_QUOTE = r"[fFrRbBuUN@$]{0,2}(\\{0,7})(\"{3}|'{3}|[\"'`])"
# An ampersand ends a value where another name follows, as in a query, or another command.
_BARE = r"(?:[^\s\"'`,;<>(){}\[\]|&\\]|&(?![&\s\"'`]|\Z|[A-Za-z0-9_.\-\[\]%]{1,60}=)){1,512}"
# An argument of a command, and what stands in the environment of one.
_ARGUMENT = (
    r"(?:[^\s\"'`,;<>|&\\]|,(?=[^\s\"'])|&(?![&\s\"'`]|\Z|[A-Za-z0-9_.\-\[\]%]{1,60}=)){1,512}"
)
_ENCODED_END = r"(?i)%(?:25)?(?:0a|0d|20|22|26|27|2c|3b)|[+]"
# What stands on the next line.
_NEXT_LINE = (
    rf"(?:[>|][+\-]?)?[ ]{{0,4}}{LINE_BREAK}[\"'`]?"
    r"([^\s\"'`\\]{6,200})[\"'`]?[ \t]{0,8}(?=[\r\n\\\"]|\Z)"
)
_TO_TAG = r"[^\s\"'`\\<>]{32,128}"
_TO_SPACE = r"[^\s\"'`\\]{0,512}"
_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def find_assignments(lowered: str, text: str) -> Iterator[Span]:
    for word, tail in WORD_TAILS.items():
        done = 0
        for at in find_anchor(lowered, word):
            if at < done or compile_once(tail).match(lowered, at + len(word)) is None:
                continue
            span = _read_assignment(text, at, at + len(word))
            if span is not None:
                done = span[1]
                yield span


def member_is_secret(name: str, value: str) -> str | None:
    """Judge a member of a JSON object; gives the label to put in place of the value."""
    if value.startswith(LABEL_OPEN) or not _NAME_CHARS.issuperset(name) or len(name) > 40:
        return None
    probe = name.lower() + '":'
    if not any(
        word in probe and compile_once(word + tail).search(probe)
        for word, tail in WORD_TAILS.items()
    ):
        return None
    if is_basic_name(name) and is_basic_pair(value):
        return "basic-auth"
    kind = classify_name(name)
    return kind if kind and is_secret(kind, value, _quoted_form(name, kind)) else None


def name_around(text: str, at: int, word_end: int) -> str:
    """Give the whole name around a word, in text of any nesting."""
    return text[start_of_name(text, at) : end_of_run(text, word_end, _REST)]


def names_secret(name: str) -> bool:
    """Say whether a name promises something to hide."""
    return classify_name(name) is not None or is_basic_name(name)


def _read_assignment(text: str, at: int, word_end: int) -> Span | None:
    head = compile_once(_HEAD).match(text, word_end)
    if head is None:
        return None
    start = start_of_name(text, at)
    if text[start] == "-" and text[start - 1 : start] in ("", "\n") and text[start + 1].isupper():
        start += 1  # a line that a diff takes away
    name = text[start:word_end] + head["rest"]
    kind = classify_name(name)
    if name.lower().rpartition(" ")[2] == "key" and compile_once("(?i)" + BARE_KEY).match(
        text, word_end
    ):
        kind = TOKEN
    if kind is None:
        is_basic = head["op"] and is_basic_name(name)
        return read_basic(text, head.end()) if is_basic else None
    if not _is_announced(text, start, head, name):
        return None
    if head["encoded"]:
        return _read_encoded(text, head.end(), kind)
    below = compile_once(_NEXT_LINE).match(text, head.end()) if head["op"] == ":" else None
    if below is not None:
        if kind != PASSWORD and len(below[1]) < _ALONE_ON_A_LINE:
            return None
        # Behind `>-` and its like nothing but the value stands.
        form = OPTION if below[0][0] in "|>" else SPOKEN
        return _judge(below.start(1), below[1], kind, form if kind == PASSWORD else LOOSE)
    if head["cell"]:
        return _read_cell(text, head.end(), kind)
    if head["tag"]:
        value = text[head.end() : text.index("</", head.end())]
        return _judge(head.end(), value, kind, LINE)
    return _read_value(text, start, head, name, kind)


def _judge(at: int, value: str, kind: str, form: str) -> Span | None:
    found = LABEL_OPEN not in value and is_secret(kind, value, form)
    return (at, at + len(value), kind) if found else None


def _is_announced(text: str, start: int, head: "re.Match[str]", name: str) -> bool:
    """Whether a value may follow: not every word behind "token" or "pass" is one."""
    if name.lower() == "pass" and not _pass_announces(text, start, head):
        return False
    if text[start - 1 : start] == ":" and "arn:" in text[max(0, start - 80) : start]:
        return False  # the name of one that a cloud keeps
    at = head.end()
    if head["blank"] and (name.startswith("-") or _blank_announces(text, start, at, name)):
        return True
    if head["column"] or head["blank"]:
        return _is_own_line(text, start, at, end_of_run(text, at, r"\S{0,512}"))
    return head["sshpass"] is None or name.lower().endswith("sshpass")


def _read_value(text: str, start: int, head: "re.Match[str]", name: str, kind: str) -> Span | None:
    made = compile_once(_MADE).match(text, head.end())
    quote = compile_once(_QUOTE).match(text, made.end() if made else head.end())
    value_at = head.end()
    if quote is not None:
        value_at = quote.end()
        end = _end_of_quoted(text, value_at, quote[1] + quote[2])
        if end is not None:  # else cut off before the closing quote
            value = text[value_at:end]
            form = _form_in_quotes(text, start, head, name, kind, value)
            if LABEL_OPEN in value or not is_secret(kind, value, form):
                return None
            called = made and made[0][-1] == "(" and not is_scrambled(value)
            looks_up = made and compile_once(_LOOKS_UP).search(made[0])
            if called and (looks_up or not is_secret(PASSWORD, value, SPOKEN)):
                return None  # mostly what a value is called elsewhere
            return value_at, end, kind
    # As Windows and connection strings have them: /password:X, ;Password=X
    before = text[max(0, start - 2) : start]
    slashed = kind == PASSWORD and (before in (" /", "; ") or before.endswith(";"))
    form = _bare_form(head, name, slashed)
    if kind == PASSWORD and (head["is"] or _goes_on(text, head, value_at)):
        form = SPOKEN
    elif head["column"] or (form == PLAIN and _is_data(text, start, value_at)):
        form = FLAG
    return _read_bare(text, value_at, kind, form, start)


# A query, a connection string, an option's argument, pairs side by side: code stands in none.
_BEFORE_DATA = (
    r"(?:[?&;]|/:|(?:\A|\s)--?\w[\w\-]{0,24}[ =]\\{0,3}[\"']?"
    r"|(?:\A|[\s\"'(])[\w.\-]{1,40}=(?:[^\s()\"']{1,60}[ ]|[^\s()\"',]{1,60},))\Z"
)
_BEHIND_DATA = r"[^\s()\"',;]{4,100}(?:[ ][\w.]{1,30}=(?![= ])|&[\w.]{1,40}=)"


def _is_data(text: str, start: int, value_at: int) -> bool:
    return text[value_at - 1] == "=" and bool(
        compile_once(_BEFORE_DATA).search(text, max(0, start - 104), start)
        or compile_once(_BEHIND_DATA).match(text, value_at)
    )


# What a value is handed to before it is set: ConvertTo-SecureString "X", String::from("X")
_MADE = (
    r"ConvertTo-SecureString[ ]{1,4}(?:-String[ ]{1,4})?"
    r"|(?:new )?[A-Za-z_][A-Za-z0-9_.:]{0,40}\((?=[fbru]?\\{0,7}[\"'`][^\s\"'`]{8,200}"
    r"\\{0,7}[\"'`]\))"
)
_LOOKS_UP = r"(?i)get|find|load|read|fetch|item|param|env|key|require"
# The second word of such a call is the value: what is typed, or where the environment has none.
_TAKES_TWO = (
    r"(?:(?:fill|type|send_keys)\(\\{0,7}[\"'`][#.\[]?"
    r"|(?:getenv|environ\.get|setdefault|env\.get|env|config|define)\([ ]?\\{0,7}[\"'`]).?\Z"
)


def _form_in_quotes(
    text: str, start: int, head: "re.Match[str]", name: str, kind: str, value: str
) -> str:
    """Of two words side by side, and behind a call, only a generated value is sure to be one."""
    sets = name.lower().rpartition(".")[2].startswith("set") or (
        kind == PASSWORD
        and (name[0] == "." or name.startswith("with"))
        and any(map(str.isdigit, value))
    )
    if (head["call"] and not sets) or (
        head["pair"]
        and compile_once(_TAKES_TWO).search(text, max(0, start - 24), start + 1) is None
    ):
        return QUOTED if mixes_signs(value) else FLAG if kind == PASSWORD else LOOSE
    if head["blank"] and not name.isupper():
        return FLAG
    return _quoted_form(name, kind)


def _goes_on(text: str, head: "re.Match[str]", at: int) -> bool:
    """Whether a sentence follows, as in `Password: sha256-hashed before it is stored`."""
    goes_on = head["op"] == ":" and head["space"]
    return bool(goes_on and compile_once(r"[^\s#]+[ ]+[A-Za-z]+[ ,.]").match(text, at))


def _pass_announces(text: str, start: int, head: "re.Match[str]") -> bool:
    """`pass: X` alone on its line, in small letters, or quoted; else it is a verdict."""
    if head.group("op") != ":" or head.group("closed") or text[start - 1 : start] == "/":
        return True
    if compile_once(_QUOTE).match(text, head.end()):
        return True  # pass: "X" in a program
    line = text[text.rfind("\n", 0, start) + 1 : start].rpartition("\\n")[2]
    value = compile_once(r"\S+").match(text, head.end())
    return (
        text.startswith("pass", start)
        and not line.strip(" \t>+|-0123456789→")
        and value is not None
        and (len(compile_once(r"[0-9]").findall(value.group())) > 1 or "_" not in value.group())
        and not value.group().lower().startswith("test")
    )


def _read_encoded(text: str, at: int, kind: str) -> Span | None:
    """A value whose line was percent-encoded: DB_PASSWORD%3DX"""
    stop = end_of_run(text, at, _BARE)
    end = compile_once(_ENCODED_END).search(text, at, stop)
    stop = end.start() if end else stop
    if compile_once(r"(?i)%(?:24|7b|3c|5b|28)").match(text, at):
        return None  # ${NAME}, <name>
    return _judge(at, text[at:stop], kind, ENV if kind == PASSWORD else PLAIN)


def _read_cell(text: str, at: int, kind: str) -> Span | None:
    """The next cell of a table: mostly a type or a description, so it must read as a password."""
    cell = compile_once(r"[`*\"']{0,3}([^\s`*\"'|]{8,200})[`*\"']{0,3}[ \t]{0,60}\|").match(
        text, at
    )
    if cell is None or LABEL_OPEN in cell[1] or not is_secret(PASSWORD, cell[1], SPOKEN):
        return None
    is_word = sum(map(str.isdigit, cell[1])) < _CELL_DIGITS and not is_scrambled(cell[1])
    return None if is_word else (cell.start(1), cell.end(1), kind)


def _read_bare(text: str, at: int, kind: str, form: str, name_at: int) -> Span | None:
    if form == ENV and _at_line_start(text, name_at):
        value = _to_space(text, at).rstrip(";")
        return (at, at + len(value), kind) if is_secret(kind, value, ENV) else None
    if whole := _find_whole(text, at, kind, form, name_at):
        return at, at + len(whole), kind
    is_word = form in (ENV, FLAG)
    bare = compile_once(_ARGUMENT if is_word else _BARE).match(text, at)
    if bare is None or (not is_word and text[bare.end() : bare.end() + 1] in tuple("([{")):
        return None  # a call or an index: code
    value = bare.group().rstrip(".,:!?") or bare.group()
    if is_word:
        value = _without_closing(value)
    if kind == PASSWORD and _is_own_line(text, name_at, at, bare.end()):
        if form == LOOSE:
            form = PLAIN  # an INI file
        elif form == PLAIN and text[at - 1] == "=" and len(_HUMPS.findall(value)) > 2:
            form = LINE
    if form == FLAG and _is_no_argument(value):
        return None
    if not is_secret(kind, value[:_VALUE_JUDGED], form):
        return None
    end = at + len(value)
    if bare.end() - at >= _VALUE_LONGEST:
        end = end_of_run(text, end, r"[A-Za-z0-9+/=_\-.%~]*")
    return at, end, kind


def _find_whole(text: str, at: int, kind: str, form: str, name_at: int) -> str:
    """A value with the signs of a long key, or one that fills its line of settings."""
    if form == ENV:
        signs = text[at : end_of_run(text, at, _TO_TAG)]
        return signs if mixes_signs(signs) else ""
    if kind != PASSWORD or form not in (PLAIN, LOOSE):
        return ""
    value = _to_space(text, at)
    fills = value and _is_config_line(text, name_at, at, value)
    return value if fills and is_secret(kind, value, LINE) else ""


def _to_space(text: str, at: int) -> str:
    """What would end a value elsewhere may stand in a password that has a line for itself."""
    return text[at : end_of_run(text, at, _TO_SPACE)]


def _is_no_argument(value: str) -> bool:
    """--secret id=name,src=path; or the next option."""
    is_next = value.startswith("-") and (len(value) < 20 or value.startswith("--"))
    return is_next or compile_once(r"[a-z_]{1,20}=[^,]{0,200},").match(value) is not None


def _without_closing(value: str) -> str:
    """The value without brackets that were opened before it: $(tool --password X)"""
    for opening, closing in ("()", "[]", "{}"):
        while value.endswith(closing) and value.count(closing) > value.count(opening):
            value = value[:-1]
    return value


# A line as a file of settings has them, and what such a line does not end with.
_SETTING = (
    r"[ \t>+|\-]{0,40}(?:\d{1,6}(?:→|\t|:|\|))?[ \t\-+]{0,40}"
    r"(?:[\w.\-\"' ]{1,60}(?:=.*|:(?:[ \t].*)?)|[#;\[].*|---|\x00)?"
)


def _is_config_line(text: str, start: int, value_at: int, value: str) -> bool:
    """Whether name and value fill a line among other settings, as in YAML and INI files."""
    end = value_at + len(value)
    if text[end : end + 1] not in ("", "\n", "\r", "\\", '"') or value[-1:] in tuple(",;{("):
        return False
    if text[value_at - 1 : value_at] not in tuple(" :="):
        return False
    before = text[max(0, start - 160) : start]
    *lines, indent = before.replace("\\n", "\n").split("\n")
    if indent.strip(" \t>+|-→:0123456789"):
        return False
    if not text[start:value_at].rstrip().endswith(":") and (
        value.isalpha() and text[value_at - 1] != "="
    ):
        return False
    above = next((line.rstrip() for line in reversed(lines) if line.strip()), "")
    after = text[end : end + 120].replace("\\n", "\n").partition("\n")[2]
    below = after.partition("\n")[0].rstrip()
    return all(
        line[-1:] not in tuple(",;{([})") and compile_once(_SETTING).fullmatch(line)
        for line in (above, below)
    )


def _quoted_form(name: str, kind: str) -> str:
    """In the environment, and behind an option, several words may be one secret."""
    is_option = kind == PASSWORD and (name[0] == "-" or name in ("psk", "passphrase"))
    return ENV if is_option or (len(name) > 3 and name.isupper()) else QUOTED


def _bare_form(head: "re.Match[str]", name: str, slashed: bool) -> str:
    op = head["op"]
    if head["sshpass"] is not None or head["blank"]:
        return FLAG
    if (slashed and op in ("=", ":")) or (name.startswith("-") and op == "="):
        return FLAG
    tight = op in ("=", "==") and not head["gap"] and not head["space"]
    if tight and name.isupper() and not head["closed"]:
        return ENV
    is_plain = tight or op in (":", "：") or head["is"] or head["member"] or head["plist"]
    return PLAIN if is_plain else LOOSE


def start_of_name(text: str, at: int) -> int:
    """Give where the name begins of which a word stands at `at`."""
    limit = max(0, at - _NAME_BEHIND)
    while at > limit and text[at - 1] in _NAME_CHARS:
        at -= 1
    if at > 0 and text[at - 1] == "\\" and text[at] in "nrt":
        at += 1  # a line break that is still escaped
    if text[at : at + 3].lower() == "key" and text[at - 1 : at] == " ":
        owner = compile_once(r"[A-Za-z]{3,8}[ ]\Z").search(text, max(0, at - 9), at)
        return owner.start() if owner else at  # the API key
    return at


def _blank_announces(text: str, start: int, value_at: int, name: str) -> bool:
    """PASSWORD 'x' in SQL, `login x password y` in a netrc file, and `ENV API_KEY x`."""
    if sets_value(text, start) or name.lower().startswith("add-auth"):
        return True
    if compile_once(LONG_TOKEN).match(text, value_at):
        return True  # use the token X
    is_quoted = compile_once(_QUOTE).match(text, value_at) is not None
    before = compile_once(r"(?::|#define |\bset\()\Z").search(text, max(0, start - 8), start)
    if is_quoted and (before or classify_name(name) == PASSWORD):
        return True  # : PSK "x" of a VPN, :db-password "x" in Clojure, #define PASSWORD "x"
    login = compile_once(r"login\s{1,4}\S{1,80}\s{1,4}\Z").search(text[max(0, start - 96) : start])
    return name.lower() == "password" and bool(login or text.startswith("'", value_at))


# Letters of both cases and digits, without a break: no word, no name, no commit.
LONG_TOKEN = (
    r"(?=[A-Za-z]{0,23}[0-9])(?=[a-z0-9]{0,23}[A-Z])(?=[A-Z0-9]{0,23}[a-z])"
    r"[A-Za-z0-9]{24,200}(?![\w/.])"
)
_SETS = (
    r"(?i)(?:(?<![\w.])|(?<=\\[nrt])|(?<=\\u\w\w\w\w))"
    r"(?:ENV|ARG|setenv|setx|set(?:[ ]{1,2}-{1,2}[a-z]{1,12}){1,3}"
    r"|(?:config|configure|secrets?|env|vars?|variables?)[ :]set)[ ]{1,4}(?:\S{0,60}[:/])?\Z"
)


def sets_value(text: str, start: int) -> bool:
    """Say whether a name that begins here is set to the word behind it: `setenv API_KEY x`."""
    return compile_once(_SETS).search(text, max(0, start - 80), start) is not None


def _end_of_quoted(text: str, at: int, closing: str) -> int | None:
    limit = at + _VALUE_LONGEST
    end = text.find(closing, at, limit)
    while end >= 0 and len(closing) == 1 and text[end - 1] == "\\" and end > at:
        end = text.find(closing, end + 1, limit)
    return None if end < 0 or "\n" in text[at:end] else end


def _at_line_start(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at].rpartition("\n")[2]
    return before.strip(" \t>+-") in ("", "export", "set", "ENV", "- ")


# What a listing or a diff puts before a line. More space than that is code.
_LINE_MARK = r"(?:[ \t]{0,6}\d{1,6}(?:→|\t|:|\|))?[ +\->]?"


def _is_own_line(text: str, start: int, value_at: int, end: int) -> bool:
    """Whether name and value fill a line; of a constant, whether they end one."""
    if text[end : end + 1] not in ("", "\n", "\r", "\\", '"'):
        return False
    if text[start:value_at].isupper():
        return True
    before = text[max(0, start - 40) : start].rpartition("\n")[2].rpartition("\\n")[2]
    return compile_once(_LINE_MARK).fullmatch(before) is not None
