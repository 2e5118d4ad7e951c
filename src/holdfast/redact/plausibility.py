"""Tells a secret from a word that only stands where a secret could stand.

Owns: which names name a secret (`classify_name`), and which values are worth hiding (`is_secret`).
Must not: look at text around the name and value; the engine says in which form they stood.

A miss leaks a secret, a false alarm hides one word of a brief. So a value with a shape of its own
(mixed digits and letters) goes whenever the name says secret, and a plain word goes only where it
can be nothing but a literal: in an environment line or between quotes after `password`.
"""

import re

from holdfast.lazy_regex import lazy_compile

# How the value stood.
QUOTED = "quoted"  # between quotes
ENV = "env"  # NAME=value, upper case, no spaces
FLAG = "flag"  # --name value
LINE = "line"  # name: value, alone on a line among such lines: YAML
PLAIN = "plain"  # name: value, or name=value in lower case
LOOSE = "loose"  # name = value with spaces and no quotes: mostly code
OPTION = "option"  # where a command takes nothing but a password
SPOKEN = "spoken"  # in a sentence

PASSWORD = "password"
SECRET = "secret"
TOKEN = "token"

_NAME_PARTS = lazy_compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HUMPS = lazy_compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD_PART = lazy_compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)(?:[A-Z][a-z]+|[A-Z]{2,4})*\d{0,3}\Z|\d{1,4}\Z")
_PARTS = lazy_compile(r"[^A-Za-z0-9]+")
_SPACE = lazy_compile(r"\s")
_DIGIT = lazy_compile(r"[0-9]")
_CONSONANTS = lazy_compile(r"[bcdfghjklmnpqrstvwxz]{6}", re.I)
_REFERENCE = lazy_compile(
    r"[{<\[(]|\$[{(]|%[({]"  # a template, a tag, a label, a call
    r"|[$%][A-Za-z_][\w:.]*%?\Z"  # a variable, a format
    r"|(?![A-Za-z0-9/+]{40}\Z)(?:\.{0,2}|~)/[\w./\-]*\Z"  # a path, unless it is an AWS secret
    r"|[A-Za-z][A-Za-z0-9+.\-]*://"  # a URL; its password has a rule of its own
    r"|%env\(|ENC\[|ref="  # a parameter, what is encrypted, an element of a page
    r"|@[\w/.\-]+\Z"  # a file to read the value from, or a decorator
)
# settings.token, get_token(), keys[0]
_EXPRESSION = lazy_compile(
    r"[&*]?(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*)"
    r"(?:[!?]?\Z|[(\[](?P<inside>[^\s]*))"
)
_APP_PASSWORD = lazy_compile(r"(?:[a-z]{4}[ \-]){3}[a-z]{4}\Z")  # Google's and Apple's
_SIGNS = frozenset("!@#$%^&*()-_=+~?/")
_LONG_WORD = lazy_compile(r"[A-Za-z]{20}")
_LATIN = lazy_compile(r"[À-ÖØ-öø-ſ]")
_LETTER = lazy_compile(r"[A-Za-z]")
# A word with a number that people say about passwords, places in a text, versions, measures.
_TECHNICAL = lazy_compile(
    r"(?i)(?:sha|md|aes|utf|base|u?int|float|[hrep]s|https?|ssh|tls|ssl|oauth|python|py|node|php"
    r"|bcrypt|argon|pbkdf|scrypt|rsa|ed|curve|x|v|ver|version|step|line|row|col|column|test|user"
    r"|file|section|phase|task|issue|part|level|type|pg|postgres|postgresql|mysql|redis|h|p|f|q"
    r"|part|chapter|page|item|option|case|example|room|day|week|port|ipv|win|log|k|s|ec|net|web"
    r"|log4j|es|c|http/|pkcs|rfc|iso|cve|pr|api|app|env|host|server|client|db|key|id|min|max"
    r"|length|at|least)[-_.#]?\d{1,5}(?:url|sum|mb4|id?)?(?:[-_./][a-z]+)*\Z"
    r"|v?\d+(?:[.,:/\-]\d+)*(?:[a-z]{1,9}|-[a-z]+|%)?\Z"  # 12, 1.2.3, 24h, 8-char, 2026-01-05
    r"|[^@\s]+@[\w\-]+(?:\.[\w\-]+)+\Z"  # an address
    r"|[\w.\-]+\.(?-i:[a-z]{1,5})(?::\d+)*\Z|[\w.\-]+:\d+\Z"  # a file, a host, a place in a file
    r"|\w+(?:/[\w.\-]+)+\Z"  # a path
    r"|[a-z]+(?:_[a-z]+)+\d?\Z"  # a variable
)
_PATH = lazy_compile(r"(?=.*[A-Z])\w+(?:[./][\w\-]+)+\Z")
_SPOKEN_LETTERS = lazy_compile(r"[A-Za-zÀ-ſ0-9!@#$%^&*_=+~?.,:;/|()\[\]{}\-]+\Z")
_EMPTYISH = lazy_compile(
    r"(?i)[x*.\-_#0•…?=]+\Z|1234567?8?9?0?\Z|abcd?e?f?(?:123)?\Z|none\Z|null\Z"
)

_PASSWORD_NAMES = frozenset("password passwd passphrase pwd pass passw passcode pw psk".split())
_FUSED_PASSWORD = tuple("password passwd passphrase rootpw userpw adminpw dbpw bindpw jpwd".split())
_KEY_OWNERS = frozenset(
    "api access secret private signing encryption master account shared auth deploy service app "
    "application consumer subscription admin storage client server webhook crypto cipher session "
    "jwt hmac aes license root openai anthropic google aws azure gcp stripe github gitlab "
    "gemini mistral groq cohere deepseek sendgrid mailgun twilio datadog algolia cloudflare "
    "supabase role firebase heroku openrouter tavily functions host fernet preshared cookie "
    "nonce wireguard dnkey poly configcat endor application consumer sdk write read "
    "ingestion sig signature dsn".split()
)
_FUSED_KEY = tuple(
    "apikey accesskey secretkey privatekey signingkey encryptionkey accountkey sharedaccesskey "
    "presharedkey".split()
)
# Tokens that point into a list or a text rather than open a door.
_TOKEN_OWNERS_NOT = frozenset(
    "page next continuation pagination sync cursor start stop end eos bos pad mask max min input "
    "output total cache prompt completion unk special sep cls idempotency request per num new "
    "type lexer parser syntax current prev previous first last reserved count".split()
)
# A name that goes on with one of these speaks about a secret; it does not hold one.
_TAILS_NOT = frozenset(
    "file path name names url uri endpoint id ids type length len size count limit min max ttl "
    "expiry expires expiration expire age policy regex pattern hash ref arn header field param "
    "prompt reset enabled required label placeholder hint title description error message msg "
    "input manager provider store service factory class format rotation version status state "
    "source scope scopes count index env var variable location dir directory env_var algorithm "
    "alg strength validator validation changed updated created date at by from for usage users "
    "user username email kind mode budget window cost price rate bucket attr attribute column "
    "exists present valid invalid missing is has set unset mount volume generator re rx color "
    "colour width height icon image page link button form screen view strength encryption".split()
)
_NOT_VALUES = frozenset(
    "str string int integer bool boolean bytes any none null nil true false undefined optional "
    "required secretstr number object unknown void text varchar char uuid self this default empty "
    "required hidden missing invalid expired valid yes no on off redacted masked removed password "
    "passwd pass secret token key value login user username admin root guest postgres tiger "
    "mysql public private basic bearer flag option argument parameter env environment prompt "
    "interpolated inherit auto file stdin const let var return await new minioadmin".split()
)
# Keys that their vendors mean to be seen, in a page's source: PostHog, Stripe, Mapbox.
_PUBLIC = ("phc_", "pk_live_", "pk_test_", "pk.eyJ")
_DUMMY_INSIDE = (
    "example placeholder changeme change-me change_me your- your_ yourpass yourtoken yourapi "
    "yoursecret dummy redacted xxxxxx ****** insert replace- replace_ fake- fake_ sample foobar "
    "not-a-real not_a_real notreal ... … <your".split()
)
_DUMMY_WORDS = frozenset(
    "test tests testing tester mock mocked stub fake dummy example sample demo my your the some a "
    "an our here goes put enter foo bar baz qux invalid wrong bad none old new local default "
    "password passwd pass pwd passphrase secret secrets token tokens key keys api access auth "
    "client user value string text field name private public bearer refresh id session jwt csrf "
    "github gitlab slack openai anthropic google aws azure stripe npm oauth app service bot db "
    "database login super todo xxx xxxx xxxxx".split()
)

# What names in code are made of: a chain of them is an attribute, several in one word a variable.
_CODE_WORDS = (
    _DUMMY_WORDS
    | _TAILS_NOT
    | (_NOT_VALUES - {"tiger"})
    | frozenset(
        "get gets set sets gen generate generated random rand load loaded read make create os env "
        "environ process config conf cfg settings params props args arg opts options self req "
        "res request response ctx context data json math crypto uuid fs util utils helper body "
        "event target vars system console model models view views schema types com org io net "
        "www py js ts go rb java md txt yml yaml toml sh html sha hash hashed base encode decode "
        "encoded encrypted salted plain hex bytes bcrypt argon current confirm confirmation change "
        "forgot remember check verify validate compare match not to is with for if on row record "
        "form account profile login logout signup vault node item items entry result faker "
        "security framework management authentication authorization protected credential "
        "credentials cred creds handler callback function method module object property".split()
    )
)
# A sentence has one of these; a passphrase is of nouns and verbs.
_SENTENCE_WORDS = frozenset(
    "the a an is are was be to of in on for and or not no must should can cannot your you my our "
    "this that with from at by it has have please too der die das ist und nicht le la les est "
    "el los es un une ein eine oder bitte".split()
)
_LOWER_WORDS = lazy_compile(r"[a-z ]+\Z")
# What a form says about a password.
_OF_PASSWORDS = frozenset(
    "minimum maximum character characters letter letters digit digits number numbers uppercase"
    " lowercase weak medium strong short long passwords again please mismatch incorrect repeat"
    " same different least common used supported".split()
)
_INNER_SIGN = lazy_compile(r"[A-Za-z]{2}[!$%^][A-Za-z]{2}")
_REAL_SIGN = lazy_compile(r"[!#%&*+;?^~$@{}\[\]()<>|]")


def classify_name(name: str) -> str | None:
    """Say what a name promises: a password, a secret, a token, or nothing to hide."""
    before, found = "", None
    for part in map(str.lower, _NAME_PARTS.findall(name)):
        kind = _part_class(part, before)
        if kind is not None or part in _TAILS_NOT:
            found = kind
        before = part
    return found


def _part_class(part: str, before: str) -> str | None:
    if part in _PASSWORD_NAMES or part.endswith(_FUSED_PASSWORD):
        return PASSWORD
    if part.endswith("pass") and not part.endswith(("bypass", "compass", "surpass", "trespass")):
        return PASSWORD
    if part.endswith("secret"):
        return SECRET
    if part.endswith("token"):
        return None if before in _TOKEN_OWNERS_NOT else TOKEN
    if part == "key":
        return TOKEN if before in _KEY_OWNERS else None
    if part in ("pat", "tok") and before:
        return TOKEN  # a personal access token; a bare one is a pattern
    if before == "bind" and part == "credentials":
        return PASSWORD
    is_token = part in ("credential", "credentials", "apikeys", "authorization")
    return TOKEN if is_token or part.endswith(_FUSED_KEY) else None


def is_secret(kind: str, value: str, form: str) -> bool:
    """Say whether a value that stood in this form under a name of this kind is worth hiding."""
    if (
        kind == PASSWORD
        and form in (QUOTED, ENV, FLAG, OPTION)
        and (_APP_PASSWORD.match(value) or _is_passphrase(value, plain=form == QUOTED))
    ):
        return True
    if len(value) < 4 or _SPACE.search(value) or is_dummy(value) or value.startswith(_PUBLIC):
        return False
    if form in (QUOTED, ENV, OPTION) and mixes_signs(value):
        return True
    if _is_reference(value) or _is_expression(value, form):
        return False
    if form == OPTION:
        return True
    if form == SPOKEN:
        return _reads_as_password(value)
    if form != QUOTED and value.lower().rstrip(".,;:!?)") in _NOT_VALUES:
        return False
    if looks_generated(value):
        return len(value) >= (6 if kind == PASSWORD else 8)
    if kind == TOKEN:
        return form == ENV and _is_made_up_word(value)
    return form != LOOSE and _reads_as_chosen(kind, value, form)


def _reads_as_chosen(kind: str, value: str, form: str) -> bool:
    """Of a password or secret that somebody thought up, where code does not stand."""
    if form == ENV:
        return len(value) >= 6
    has_digit = _DIGIT.search(value) is not None
    has_sign = not value.replace("_", "a").replace("-", "a").replace(".", "a").isalnum()
    if kind == SECRET:
        return form == QUOTED and has_digit and has_sign and len(value) >= 6
    if has_digit or has_sign:
        real = _REAL_SIGN.search(value) is not None and form in (FLAG, LINE)
        return len(value) >= 6 and (has_digit or form == QUOTED or real)
    if (
        form == LINE
        and "." in value
        and set("_-") & set(value)
        and sum(map(str.isupper, value)) > 1
    ):
        return True  # Some.thing_Like-This
    if form in (LINE, FLAG, QUOTED) and _is_made_up_word(value):
        return True
    return form == QUOTED and len(value) >= 8 and value.isalnum()


def _is_passphrase(value: str, *, plain: bool) -> bool:
    """Words that nobody would put into a sentence: "granite fox umbrella".

    In a field of a program it must be plain, for it may be the name of the field.
    """
    words = value.split(" ")
    if plain and (
        len(words) < 3
        or not _LOWER_WORDS.match(value)
        or set(words) & (_CODE_WORDS | _OF_PASSWORDS)
    ):
        return False
    return (
        1 < len(words) < 9
        and len(value) >= 10
        and not _is_reference(value)
        and all(len(word) > 1 for word in words)
        and not any(word.lower().strip(".,:!?") in _SENTENCE_WORDS | _DUMMY_WORDS for word in words)
    )


def _is_reference(value: str) -> bool:
    """Say whether a value names a variable, a file or a call rather than being the secret."""
    inside = ("${", "{{", "$(", "(?:", "[A-Z", "[a-z", "[0-9")
    return any(sign in value for sign in inside) or _REFERENCE.match(value) is not None


def _is_expression(value: str, form: str) -> bool:
    """Say whether a value reads as code: an attribute, a call, an index.

    Where code cannot stand, only a chain of plain words is one, for such a value may be the name
    of a setting or of a message.
    """
    found = _EXPRESSION.match(value)
    if found is None or ("." not in value and "::" not in value and found["inside"] is None):
        return "(" in value and form in (PLAIN, LOOSE)
    parts = re.split(r"\.|::|->|\?\.", found["name"])
    if is_scrambled(value) or any(len(part) >= 16 and looks_generated(part) for part in parts):
        return False
    if form in (PLAIN, LOOSE):
        # aB3xYz.k9LmPq is no chain of names.
        return found["inside"] is not None or not any(
            len(part) >= 6 and not _WORD_PART.match(part.replace("_", "")) for part in parts
        )
    names_code = any(hump.lower() in _CODE_WORDS for hump in _HUMPS.findall(found["name"]))
    if found["inside"] is not None:
        # Nothing closes it, or no function has such a name.
        closes = value.endswith((")", "]")) and not looks_generated(found["name"])
        in_code = names_code or len(parts) < 2
        return "()" in value or (in_code and (closes or found["inside"] == ""))
    if _DIGIT.search(found["name"]) or looks_generated(found["name"]):
        return False
    return names_code or (form != OPTION and found["name"].islower() and value[-1] not in "!?")


def is_scrambled(value: str) -> bool:
    """Whether both cases and digits change too often for names: aB3x.Kz9 in place of cfg.dbKey2."""
    pieces = _NAME_PARTS.findall(value)
    signs = sum(map(len, pieces))
    if value in (value.lower(), value.upper()):
        return False
    return len(pieces) >= 4 and signs < (2.4 if _DIGIT.search(value) else 2.2) * len(pieces)


def _is_made_up_word(value: str) -> bool:
    """velvetHarborTiger or velvet-harbor-tiger-nine, but no type, no variable, no single word."""
    value = _LATIN.sub("a", value)
    words = value.split("-") if "-" in value else _HUMPS.findall(value)
    least = 4 if "-" in value else 2 if value[0].islower() or "." in value else 3
    return (
        len(value) >= 10
        and value.isascii()
        and value.replace("-", "").replace(".", "" if not value.islower() else ".").isalpha()
        and len(words) >= least
        and all(len(word) > 1 for word in words)
        and not any(word.lower() in _CODE_WORDS for word in words)
    )


def mixes_signs(value: str) -> bool:
    """Say whether this is a long key drawn from letters, digits and many signs, as Django's are.

    It may begin like a template or hold what looks like a call; a template has words in it.
    """
    if len(value) < 32 or not _DIGIT.search(value):
        return False
    signs = set(value) & _SIGNS
    return len(signs) >= 4 and _LONG_WORD.search(value.removeprefix("django-insecure-")) is None


def _reads_as_password(value: str) -> bool:
    """Say whether a word in a sentence is a password rather than a word, a name or a number."""
    if len(value) < 6 or not _LETTER.search(value):
        return False
    if _TECHNICAL.match(value) and not (
        is_scrambled(value)
        or (_PATH.match(value) and any(map(looks_generated, re.split(r"[./]", value))))
    ):
        return False
    if not _SPOKEN_LETTERS.match(value):
        return False
    digits = len(_DIGIT.findall(value))
    signs = bool(set(value.rstrip("!?")[1:]) & _SIGNS - set("-_=+()/"))
    mixed = value != value.lower() and value != value.upper() and value[1:] != value[1:].lower()
    if digits >= 2 or (digits == 1 and (signs or mixed or len(value) >= 8)):
        return True
    return (
        (signs and mixed)
        or _INNER_SIGN.search(value) is not None
        or _is_made_up_word(value)
        or (value.isalpha() and is_scrambled(value))
    )


def is_dummy(value: str) -> bool:
    """Say whether a value is a stand-in that its author never meant as a secret."""
    lowered = value.lower()
    if lowered in _NOT_VALUES or _EMPTYISH.match(value):
        return True
    if len(value) >= 8 and len(set(value)) < 5:
        return True
    # In one case throughout: among a hundred random letters any word of four turns up in some case.
    if any(
        mark in lowered and (mark in value or mark.upper() in value or mark.capitalize() in value)
        for mark in _DUMMY_INSIDE
    ):
        return True
    parts = [part for part in _NAME_PARTS.findall(value) if not part.isdigit()]
    digits = len(_DIGIT.findall(value))
    return bool(parts) and all(part.lower() in _DUMMY_WORDS for part in parts) and digits <= 2


def looks_generated(value: str) -> bool:
    """Say whether letters and digits are mixed as no word, name or version number mixes them."""
    parts = [part for part in _PARTS.split(value) if part]
    if not parts or value.isdigit():
        return False
    if not all(_WORD_PART.match(part) for part in parts):
        return len(value) >= 6 and not value.replace(".", "").replace(":", "").isdigit()
    if _CONSONANTS.search(value):
        return len(value) >= 12
    humps = _HUMPS.findall(value)
    letters = sum(len(hump) for hump in humps)
    return len(value) >= 12 and letters < 3 * len(humps)
